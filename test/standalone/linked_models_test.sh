#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/linked_models_test.sh [ABI...]
#
# Converts the example to two libraries of models as code for host, arm64 and
# armhf (or the given ABIs), with weights in the code and beside it, links an
# application with both outside of Bazel, and runs that: the results must have
# the same bits as those of files. Then `converter.py run` on this computer.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=test/standalone/expect.sh
source test/standalone/expect.sh
[[ $# -gt 0 ]] || set -- host arm64 armhf
readonly abis="$*"
readonly python=${MACE_VENV:-.venv}/bin/python

# convert LIBRARY MODEL GRAPH-FORMAT DATA-FORMAT: the second model has its weights
# in 16 bits, which makes its results others.
convert() {
  local type=fp32_fp32
  if [[ $2 == numerals ]]; then type=fp16_fp32; fi
  sed -e "s/^library_name:.*/library_name: $1/" \
    -e "s/^target_abis:.*/target_abis: [${abis// /, }]/" \
    -e "s/^model_graph_format:.*/model_graph_format: $3/" \
    -e "s/^model_data_format:.*/model_data_format: $4/" \
    -e "s/^  digits:/  $2:/" -e "s/^    data_type:.*/    data_type: $type/" \
    mace/examples/digits/digits.yml >"$work/$1.yml"
  "$python" tools/converter.py convert --config="$work/$1.yml" \
    --build_dir="$work/build"
}

compile() {
  local abi=$1 digits=$2 numerals=$3
  clang++-19 "--target=$(triple_of "$abi")" -std=c++17 -Wall -Wextra -Werror -c \
    "-I$work/build/$digits/include" "-I$work/build/$numerals/include" \
    -Ibuild/include test/standalone/linked_models.cc -o "$work/$abi.o"
}

# As in applications with strict flags, and without exceptions.
strict() {
  local library
  for library in digits-code-test numerals-file-test; do
    aarch64-linux-gnu-g++ -std=c++17 -fsyntax-only -Wall -Wextra -Wshadow -Wpedantic -Wconversion \
      -Werror "$@" "-I$work/build/$library/include" -Ibuild/include -x c++ \
      "$work/build/$library/include/mace/public/mace_engine_factory.h" || return 1
  done
}

link() {
  local abi=$1 name=$2
  shift 2
  clang++-19 "--target=$(triple_of "$abi")" -fuse-ld=lld -Wl,--gc-sections \
    "$work/$abi.o" "$@" -pthread -o "$work/$name"
}

# Nothing of the models among what a program or a shared library exports.
exports_no_models() {
  local names
  names=$(llvm-nm-19 --dynamic --defined-only --format=just-symbols "$1") ||
    return 1
  ! grep -E 'mace_linked|CreateMaceEngineFromCode' <<<"$names"
}

# The program is its code and the weights, at most 100 KB more than these.
adds_only_the_models() {
  local program=$1 bytes=0 file
  shift
  for file in "$@"; do bytes=$((bytes + $(stat -c %s "$file"))); done
  llvm-strip-19 "$program" -o "$work/stripped" || return 1
  printf '%d bytes of models, %d of the program\n' "$bytes" \
    "$(stat -c %s "$work/stripped")"
  [[ $(stat -c %s "$work/stripped") -le $((bytes + 100000)) ]]
}

# What users were promised (docs/user/faq.md): half the bytes of the weights in float32,
# and 3 MB for the code. The first model has them in 32 bits, the second in 16.
is_as_small_as_promised() {
  local program=$1 digits numerals weights
  digits=$(stat -c %s "$2") numerals=$(stat -c %s "$3")
  weights=$((digits + 2 * numerals))
  llvm-strip-19 "$program" -o "$work/stripped" || return 1
  printf '%d bytes of the program, %d of its weights in float32\n' \
    "$(stat -c %s "$work/stripped")" "$weights"
  [[ $(stat -c %s "$work/stripped") -le $((weights / 2 + 3000000)) ]]
}

stack_is_data() {
  llvm-readelf-19 --program-headers --wide "$1" | grep -E 'GNU_STACK.* RW +0'
}

bash tools/build-standalone-lib.sh "-abi=${abis// /,}"
files=()
for model in digits numerals; do
  expect "$model as files converts" convert "$model-files" $model file file
  files+=("$work/build/$model-files/model/$model.pb")
  files+=("$work/build/$model-files/model/$model.data")
  for data in code file; do
    expect "$model as code, weights as $data: converts" \
      convert "$model-$data-test" $model code $data
  done
done

expect "headers compile with all warnings of gcc" strict
expect "headers compile without exceptions" strict -fno-exceptions -fno-rtti
for data in code file; do
  digits=digits-code-test numerals=numerals-$data-test
  for abi in $abis; do
    lib=$PWD/build/lib/$abi/cpu
    title="$abi, two libraries, the second with weights as $data,"
    expect "$title compiles" compile "$abi" $digits "$numerals"
    archives=("$work/build/$digits/model/$abi/$digits.a"
      "$work/build/$numerals/model/$abi/$numerals.a")
    expect "$title libmace.so links" \
      link "$abi" dynamic "${archives[@]}" "-L$lib" -lmace "-Wl,-rpath,$lib"
    expect "$title libmace.so runs" run_on "$abi" "$work/dynamic" "${files[@]}"
    expect "$title libmace.a links" link "$abi" static "${archives[@]}" \
      "$lib/libmace.a"
    expect "$title libmace.a runs" run_on "$abi" "$work/static" "${files[@]}"
    expect "$title exports no models" exports_no_models "$work/dynamic"
    expect "$title grows by its models" \
      adds_only_the_models "$work/dynamic" "${files[@]}"
    [[ $data != code ]] || expect "$title libmace.a is as small as promised" \
      is_as_small_as_promised "$work/static" "${files[1]}" "${files[3]}"
    expect "$title has no executable stack" stack_is_data "$work/static"
  done
  expect "converter.py run, weights as $data" \
    "$python" tools/converter.py run --config="$work/digits-$data-test.yml" \
    --build_dir="$work/build" --target_abis=host --validate
done
# What `run` was built from.
rm -rf mace/codegen/libraries/digits-{code,file}-test
finish
