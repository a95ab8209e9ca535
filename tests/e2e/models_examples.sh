#!/bin/sh
# The modules of examples/models give the results of independent calculations in Python
# (models_examples.py): on few tiles and on the default number, on the CPU device, and through an
# archive.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
models=$POPULUS_SOURCE_DIR/examples/models
reference=$POPULUS_SOURCE_DIR/tests/e2e/models_examples.py
python3 "$reference" write .

# run_all <options of pophlo>...
run_all()
{
  quiet out "$POPULUS_BIN/pophlo" "$@" --run --in x=x --in y=y --out out0=mlp_step.0 --out out1=mlp_step.1 --out out2=mlp_step.2 \
    --out out3=mlp_step.3 --out out4=mlp_step.4 "$models/mlp_step.mlir"
  quiet out "$POPULUS_BIN/pophlo" "$@" --run --in image=image --out out0=convolutional.0 "$models/convolutional.mlir"
  quiet out "$POPULUS_BIN/pophlo" "$@" --run --in words=words --out out0=transformer.0 "$models/transformer.mlir"
  python3 "$reference" check .
}

run_all --device cpu
run_all --tiles 16
run_all

quiet out "$POPULUS_BIN/pophlo" -o transformer.a "$models/transformer.mlir"
mv transformer.0 before
quiet out "$POPULUS_BIN/popexec" --write words=words --read out0=transformer.0 transformer.a
python3 "$reference" check . >/dev/null
cmp transformer.0 before
