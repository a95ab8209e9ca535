# The table of options is complete: every option is in --help, in the man page and in the
# completions. Every option has an effect: it changes the commands that -### shows, the output, or
# the answer.
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

printf '%s\n' '#include <populus/vertex.h>' 'typedef struct { OUTPUT(int) out; } V;' \
  'COMPUTE(V) { *vertex->out = 3; /* remark */ return true; }' >v.c
echo '#define INCLUDED 1' >file.h

"$popc" --print-completion=bash >bash.txt || fail 'no completion for bash'
"$popc" --print-completion=zsh >zsh.txt || fail 'no completion for zsh'
bash -n bash.txt || fail 'the completion is no bash'
"$popc" --print-completion=fish 2>/dev/null
[ $? = 2 ] || fail 'completion for an unknown shell'
"$popc" --help >help.txt
sed -n 's/^  \(-[^ <]*\).*/\1/p' help.txt >spellings.txt
[ "$(wc -l <spellings.txt)" -gt 40 ] || fail 'the options of --help cannot be read'

# bash's completion offers the options of the table.
bash -c '. ./bash.txt; COMP_WORDS=(popc --list); _popc popc --list popc; echo "${COMPREPLY[*]}"' >offered.txt
grep -q -e '--list-vertices' offered.txt && grep -q -e '--list-targets' offered.txt || fail 'bash offers nothing'
bash -c '. ./bash.txt; _popc popc ipu2 --target; echo "${COMPREPLY[*]}"' | grep -qx 'ipu2 ipu21' || fail 'targets'

man=$POPULUS_SOURCE_DIR/popc/popc.1
sed 's/\\f.//g; s/\\-/-/g; s/\\//g; s/"//g' "$man" >man.txt
while read -r spelling; do
  grep -qF -e "$spelling" man.txt || fail "$spelling is not in popc.1"
  grep -qF -e "$spelling" bash.txt || fail "$spelling is not in the completion for bash"
  grep -qF -e "$spelling" zsh.txt || fail "$spelling is not in the completion for zsh"
done <spellings.txt

# differ <option>...: the commands that -### shows differ with and without the option.
differ() {
  "$popc" '-###' v.c "$@" >with.txt 2>&1 || fail "popc -### $* ends with $?"
  "$popc" '-###' v.c >without.txt 2>&1
  ! cmp -s with.txt without.txt || fail "$* changes nothing"
}

# What to give with each option. An option without a line here fails.
while read -r spelling; do
  case $spelling in
  -D | -U) differ "${spelling}"NAME; differ "$spelling" NAME ;;
  -I | -isystem | -iquote | -idirafter) differ "$spelling" . ;;
  -include | -imacros) differ "$spelling" file.h ;;
  -O) for level in 0 1 2 3 s z; do differ -O$level; done ;;
  -g) differ -g; differ -g0 ;;
  -std=) differ -std=c11 ;;
  -W) differ -Wall; differ -Werror ;;
  -f) differ -ffast-math ;;
  -m) differ -mno-relax ;;
  -X) differ -X -ffast-math ;;
  -w | -pedantic | -pedantic-errors | -Qunused-arguments | -E | -C | -P | -S | -emit-llvm | -pipe | -ansi | -dM | -dD | -H | -undef | \
    -nostdinc++ | -M | -MM | -MG) if [ "$spelling" = -MG ]; then differ -M -MG; else differ "$spelling"; fi ;;
  -MJ) "$popc" -MJ entry.json v.c && grep -q '^{"directory":.*IPU_ARCH_VERSION__=2"' entry.json || fail -MJ ;;
  -fsyntax-only) rm -f v.gp; "$popc" "$spelling" v.c && [ ! -e v.gp ] || fail "$spelling" ;;
  --save-temps=obj) mkdir beside; "$popc" "$spelling" v.c -o beside/v.gp && [ -s beside/v-ipu2.s ] || fail "$spelling" ;;
  --target=) differ --target=ipu2 ;;
  -fcolor-diagnostics) differ "$spelling" ;;
  -fno-color-diagnostics) CLICOLOR_FORCE=1 "$popc" '-###' -fno-color-diagnostics v.c 2>&1 | grep -q "'-fno-color" || fail "$spelling" ;;
  -fdiagnostics-color=) differ -fdiagnostics-color=always ;;
  --portable) differ "$spelling" ;;
  --mutable-inputs) differ "$spelling" ;;
  --mutable-inputs=) differ --mutable-inputs=always ;; # more in popc_old_inputs.sh
  --portable=) differ --portable=always ;; # more in popc_portable.sh
  --vectors=) # more in popc_vectors.sh
    echo 'typedef float V2 __attribute__((vector_size(8))); V2 sum(V2 *a) { return a[0] + a[1]; }' >vectors.c
    "$popc" -S vectors.c -o with.s && "$popc" -S --vectors=never vectors.c -o without.s || fail "$spelling"
    ! cmp -s with.s without.s || fail "$spelling changes nothing" ;;
  -o) "$popc" v.c -o other.gp && [ -s other.gp ] || fail -o ;;
  -x) "$popc" -x c++ -S -o - v.c 2>/dev/null && fail '-x changes nothing' ;;
  -c) "$popc" -c -emit-llvm v.c -o v.bc && [ "$(head -c2 v.bc)" = BC ] || fail -c ;;
  -MD | -MMD) "$popc" "$spelling" v.c && [ -s v.d ] || fail "$spelling"; rm -f v.d ;;
  -MF) "$popc" -MD -MF named.d v.c && [ -s named.d ] || fail -MF ;;
  -MT | -MQ) "$popc" -MD -MF named.d "$spelling" name v.c && grep -q '^name:' named.d || fail "$spelling" ;;
  -MP) "$popc" -MD -MF named.d -MP -include file.h v.c && grep -qx 'file.h:' named.d || fail -MP ;;
  --list-vertices) "$popc" v.c --list-vertices | grep -q '^V: worker' || fail "$spelling" ;;
  --link) "$POPULUS_BUILD_DIR/tests/support/small_archive" small.a && "$popc" --link small.a -o app && ./app --list >/dev/null ||
    fail "$spelling" ;; # more in popc_link.sh
  --json | --pretty) "$popc" v.c --list-vertices "$spelling" | head -1 | grep -q '{' || fail "$spelling" ;;
  --no-cache) rm -f v.gp; "$popc" "$spelling" v.c && [ -s v.gp ] || fail "$spelling" ;; # more in popc_cache.sh
  -q | --quiet) rm -f v.gp; "$popc" "$spelling" v.c && [ -s v.gp ] || fail "$spelling" ;; # more in progress.sh
  -v) "$popc" v.c -v 2>&1 | grep -q "'v.c'" || fail "$spelling" ;;
  -###) rm -f v.gp; "$popc" '-###' v.c 2>/dev/null; [ ! -e v.gp ] || fail "$spelling" ;;
  --save-temps) "$popc" --save-temps v.c && [ -s v-ipu2.s ] || fail "$spelling" ;;
  --list-targets | --help | --version | --print-clang-flags) [ -n "$("$popc" "$spelling")" ] || fail "$spelling" ;;
  --print-completion=) ;; # above
  *) fail "$spelling has no test" ;;
  esac
done <spellings.txt

[ $failures = 0 ]
