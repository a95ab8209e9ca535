#!/bin/sh
# check-scripts.sh: shellcheck over all our shell scripts, each with the files that it
# sources (.shellcheckrc).
set -eu

cd "$(dirname "$0")/.."
{
  find cmake popc libcodelet libarchive-ipu runtime examples tests viewer -name '*.sh' 2>/dev/null
  echo .ci/run
} | LC_ALL=C sort | tr '\n' '\0' | xargs -0 -n 8 -P "$(nproc)" shellcheck
