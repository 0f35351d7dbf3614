#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/linked_model_test.sh [ABI...]
#
# Converts the example to code for host, arm64 and armhf (or the given ABIs),
# with its weights in the code and beside it, links an application with it
# outside of Bazel, and runs that; then `converter.py run` on this computer.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=test/standalone/expect.sh
source test/standalone/expect.sh
[[ $# -gt 0 ]] || set -- host arm64 armhf
readonly abis="$*"
readonly python=${MACE_VENV:-.venv}/bin/python
readonly library=digits-linked

convert() {
  sed -e "s/^library_name:.*/library_name: $library/" \
    -e "s/^target_abis:.*/target_abis: [${abis// /, }]/" \
    -e "s/^model_graph_format:.*/model_graph_format: code/" \
    -e "s/^model_data_format:.*/model_data_format: $1/" \
    mace/examples/digits/digits.yml >"$work/digits.yml"
  "$python" tools/converter.py convert --config="$work/digits.yml" \
    --build_dir="$work/build"
}

link() {
  local abi=$1 name=$2
  shift 2
  clang++-19 "--target=$(triple_of "$abi")" -fuse-ld=lld -std=c++17 \
    -Wall -Wextra -Werror "-I$work/build/$library/include" -Ibuild/include \
    test/standalone/linked_model.cc \
    "$work/build/$library/model/$abi/$library.a" "$@" -pthread \
    -o "$work/$name"
}

bash tools/build-standalone-lib.sh "-abi=${abis// /,}"
for data in code file; do
  expect "model as code, weights as $data: converts" convert $data
  weights=()
  [[ $data == code ]] || weights=("$work/build/$library/model/digits.data")
  for abi in $abis; do
    lib=$PWD/build/lib/$abi/cpu
    title="$abi, weights as $data,"
    expect "$title libmace.so links" \
      link "$abi" dynamic "-L$lib" -lmace "-Wl,-rpath,$lib"
    expect "$title libmace.so runs" \
      run_on "$abi" "$work/dynamic" ${weights[@]+"${weights[@]}"}
    expect "$title libmace.a links" link "$abi" static "$lib/libmace.a"
    expect "$title libmace.a runs" \
      run_on "$abi" "$work/static" ${weights[@]+"${weights[@]}"}
  done
  expect "converter.py run, weights as $data" \
    "$python" tools/converter.py run --config="$work/digits.yml" \
    --build_dir="$work/build" --target_abis=host --validate
done
rm -rf "mace/codegen/libraries/$library"
finish
