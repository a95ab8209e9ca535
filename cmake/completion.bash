# Completion of the options of popexec, gc-info, popsize, popview, pophlo and poprun, from each
# tool's --help. (popc's completion also knows values: popc --print-completion=bash.)
_populus_tool()
{
  local word=$2 options
  COMPREPLY=()
  [[ $word == -* ]] || return 0
  # The descriptions, behind two blanks, may name options of other programs.
  options=$("$1" --help 2>/dev/null | sed -n '/^ *-/{s/^ *//;s/  .*//;p}' | grep -oE -- '--[a-z][a-z-]*' | sort -u)
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}
complete -o bashdefault -o default -F _populus_tool popexec gc-info popsize popview pophlo poprun
