#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/install_test.sh
#
# Installs libmace to prefixes, and builds applications with what is there alone:
# with CMake and pkg-config, for this computer and for arm64, as a part of other
# libraries, and with an encrypted model.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=test/standalone/expect.sh
source test/standalone/expect.sh
readonly python=${MACE_VENV:-.venv}/bin/python
readonly examples=$PWD/mace/examples
readonly sealing=$examples/encrypted_model
readonly digits=("$work/build/installed-file/model/digits.pb"
  "$work/build/installed-file/model/digits.data")
version=$(sed -n 's/^MACE_VERSION = "\(.*\)"/\1/p' mace/version.bzl)
readonly version
readonly build=$PWD/tools/build-standalone-lib.sh

# installs NAME ABI FLAG...: to a prefix that is then moved elsewhere.
installs() {
  local name=$1 abi=$2
  shift 2
  bash "$build" "-abi=$abi" "-install=$work/made" "$@" &&
    mv "$work/made" "$work/$name"
}

refuses() {
  local text=$1
  shift
  if "$@" >"$work/refused" 2>&1; then return 1; fi
  cat "$work/refused"
  tr -s '[:space:]' ' ' <"$work/refused" | grep -qF -- "$text"
}

convert() {
  sed -e "s/^library_name:.*/library_name: $1/" -e "s/_format: file/_format: $2/" \
    -e "s/^target_abis:.*/target_abis: [host, arm64]/" \
    mace/examples/digits/digits.yml >"$work/$1.yml"
  "$python" tools/converter.py convert --config="$work/$1.yml" \
    --build_dir="$work/build"
}

configure() {
  local prefix=$1
  shift
  rm -rf "$work/cmake"
  cmake -S "$examples/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/$prefix" \
    -DMODELS="$work/build/installed-code" -DCMAKE_BUILD_TYPE=Release "$@"
}

run_example() {
  run_on "$1" "$2" "${digits[@]}" image 1,8,8,1 probability 1,10
}

# mace/examples/example.cc on a picture of a digit, which it recognises: 10 floats.
run_reference() {
  local abi=$1 program=$2 image
  shift 2
  image=mace/examples/digits/images/0040_is_8.png
  rm -rf "$work/in" "$work/out"
  mkdir "$work/in" "$work/out"
  "$python" -c "
import numpy as np, sys
from PIL import Image
(np.asarray(Image.open(sys.argv[1]).convert('L'), np.float32) / 255).tofile(sys.argv[2])
" "$image" "$work/in/image" || return 1
  run_on "$abi" "$program" "$@" "--input_dir=$work/in" "--output_dir=$work/out" \
    --rounds=3 --threads=1 --devices=gpu,cpu --explain || return 1
  "$python" -c "
import numpy as np, sys
scores = np.fromfile(sys.argv[1], np.float32)
sys.exit(int(scores.shape != (10,) or scores.argmax() != 8))
" "$work/out/probability"
}

# All programs of the example.
builds_and_runs() {
  local abi=$1 title=$2 program
  expect "$title: builds" cmake --build "$work/cmake"
  for program in example example_c; do
    expect "$title: $program runs" run_example "$abi" "$work/cmake/$program"
  done
  expect "$title: a program with its model runs" run_on "$abi" "$work/cmake/linked"
  expect "$title: the reference runs" run_reference "$abi" "$work/cmake/reference" \
    "--model=${digits[0]}" "--weights=${digits[1]}"
  expect "$title: the reference with its model runs" run_reference "$abi" \
    "$work/cmake/reference_linked" --model=digits
  expect "$title: the reference names a wrong flag" refuses "'--model=' is wrong" \
    run_on "$abi" "$work/cmake/reference" --model=
  expect "$title: the reference names a wrong device" refuses "'npu'; accepted: cpu" \
    run_on "$abi" "$work/cmake/reference" --model=a --devices=npu
}

needs_libmace() { llvm-readelf-19 --needed-libs "$1" | grep libmace; }
needs_no_libmace() { ! needs_libmace "$1"; }

# Flags that pkg-config says.
flags_of() {
  local words
  words=$(PKG_CONFIG_PATH=$work/host/lib/pkgconfig pkg-config "$@") || return 1
  read -ra flags <<<"$words"
}

compile_by() {
  local package=$1
  flags_of --cflags --libs "$package" || return 1
  clang++-19 -std=c++17 "$examples/cpp/example.cc" "${flags[@]}" \
    -Wl,-rpath,"$work/host/lib" -o "$work/by-$package"
}

# A library of the user's own around libmace.a and a model.
compile_plugin() {
  printf '{ global: %s; local: *; };' "$1" >"$work/$1.lds"
  clang++-19 -std=c++17 -shared -fPIC "-DPLUGIN=$1" \
    "-I$work/build/installed-code/include" "-I$work/host/include" \
    test/standalone/plugin.cc "$work/build/installed-code/model/host/installed-code.a" \
    "$work/host/lib/libmace.a" "${@:2}" -pthread \
    "-Wl,--version-script=$work/$1.lds" -o "$work/lib$1.so"
}

# Neither MACE nor the model: the user's function alone.
exports_one() {
  local names
  names=$(llvm-nm-19 --dynamic --defined-only --format=just-symbols \
    "$work/lib$1.so") || return 1
  echo "$names"
  [[ $names == "$1" ]]
}

compile_plugins() {
  clang-19 -std=c99 test/standalone/plugins.c "-L$work" -lfirst -lsecond \
    "-Wl,-rpath,$work" -o "$work/plugins"
}

# Encrypted models: small chunks, so that there are several.
seal_digits() {
  rm -f "$work/key"
  "$python" "$sealing/seal.py" --new-key "$work/key" &&
    "$python" "$sealing/seal.py" --key "$work/key" --chunk-kib 8 "${digits[@]}" \
      "$work/digits.sealed"
}

# 16 MB, half of which can be compressed, in chunks of 1 MiB.
seal_large() {
  head -c 8000000 /dev/urandom >"$work/half" &&
    head -c 4000000 "$work/half" | od -An -v -tx1 | tr -d ' \n' >"$work/hex" &&
    cat "$work/half" "$work/hex" >"$work/large" &&
    "$python" "$sealing/seal.py" --key "$work/key" "$work/half" "$work/large" \
      "$work/large.sealed"
}

compile_sealed() {
  cmake -S "$sealing" -B "$work/sealed" -DCMAKE_PREFIX_PATH="$work/host" \
    -DCMAKE_BUILD_TYPE=Release && cmake --build "$work/sealed"
}

libmace_has_no_cryptography() {
  local names
  names=$(llvm-nm-19 --dynamic "$work/host/lib/libmace.so") || return 1
  ! grep -iE 'crypto|sodium' <<<"$names"
}

for format in file code; do
  expect "the example as $format converts" convert installed-$format $format
done
expect "host: installs" installs host host
expect "host: CMake finds it" configure host
builds_and_runs host "host, CMake"
expect "host, CMake: mace::mace is shared" needs_libmace "$work/cmake/example"
expect "host, CMake: mace::static is static" needs_no_libmace "$work/cmake/example_c"
for package in mace mace-static; do
  expect "host, pkg-config $package: links" compile_by $package
  expect "host, pkg-config $package: runs" run_example host "$work/by-$package"
done

expect "libmace.a in a library" compile_plugin first -fuse-ld=lld
expect "libmace.a in a library, by the linker of GNU" \
  compile_plugin second -fuse-ld=bfd
for name in first second; do
  expect "a library with MACE inside exports its own function" exports_one $name
done
expect "a program with two of them links" compile_plugins
expect "a program with two of them runs" "$work/plugins"

expect "encrypted model: builds" compile_sealed
expect "encrypted model: is sealed" seal_digits
expect "encrypted model: runs" \
  "$work/sealed/sealed_example" "$work/digits.sealed" "$work/key"
expect "encrypted model: runs like its files, and never when changed" \
  "$work/sealed/sealed_model_test" "$work/digits.sealed" "$work/key" "${digits[@]}"
expect "encrypted model: a large one is sealed" seal_large
expect "encrypted model: memory" "$work/sealed/sealed_model_test" memory \
  "$work/large.sealed" "$work/key" $((1 << 20))
expect "encrypted model: a key is never overwritten" refuses "File exists" \
  "$python" "$sealing/seal.py" --new-key "$work/key"
expect "encrypted model: a key of another size is refused" refuses "a key has 32" \
  "$python" "$sealing/seal.py" --key "$sealing/seal.py" "${digits[@]}" "$work/no"
expect "libmace has no cryptography" libmace_has_no_cryptography

expect "arm64: installs libmace.a alone" installs arm64 arm64 -static
expect "arm64: CMake finds it" configure arm64 -DABI=arm64 \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
builds_and_runs arm64 "arm64, CMake"
expect "arm64, CMake: mace::mace is static" needs_no_libmace "$work/cmake/example"

expect "armhf: installs" installs armhf armhf -static
expect "armhf: CMake refuses it for this computer" \
  refuses "version: $version (for armhf)" configure armhf
expect "two ABIs in one prefix are refused" refuses "name one by -abi" \
  bash "$build" -abi=host,arm64 "-install=$work/two"
expect "a prefix that cannot be written is refused" refuses "choose another prefix" \
  bash "$build" -abi=host -install=/proc/none
finish
