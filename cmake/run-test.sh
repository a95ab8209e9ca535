#!/bin/sh
# run-test.sh <folder> <command> [argument...]: runs the command in a fresh, empty folder. CTest starts every test so.
set -e
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
exec "$@"
