#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/link_test.sh [ABI...]
#
# Builds libmace for host, arm64 and armhf (or the given ABIs) and links small
# programs with it the way an application does that knows nothing of Bazel:
# in C++ and in C, with clang and with gcc, with libmace.so and with libmace.a,
# and runs them.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=test/standalone/expect.sh
source test/standalone/expect.sh
[[ $# -gt 0 ]] || set -- host arm64 armhf
readonly abis="$*"

# The operators of the sources, as the names of their registrations.
registrations_in_sources() {
  grep -rhoE --include='*.cc' --exclude='*_test.cc' --exclude-dir=testing \
    '^MACE_REGISTER_OP\(\w+, \w+' mace/ops |
    sed -E 's/.*\((\w+), (\w+)/mace_registration_\1_\2/' | sort -u
}

registrations_in_archive() {
  llvm-nm-19 --format=just-symbols "$1" |
    grep -oE 'mace_registration_[A-Za-z0-9]+_(CPU|GPU|HEXAGON)' | sort -u
}

same_registrations() {
  registrations_in_sources >"$work/sources"
  registrations_in_archive "$1" >"$work/archive"
  [[ -s $work/sources ]] && diff "$work/sources" "$work/archive"
}

# What libmace.so exports beside the interface.
exports_interface_only() {
  local others
  others=$(llvm-nm-19 --dynamic --defined-only --demangle \
    --format=just-symbols "$1" |
    grep -vE '^((vtable|typeinfo|typeinfo name|VTT) for )?mace(::|_)' || true)
  [[ -z $others ]] || {
    echo "$others"
    return 1
  }
}

# "No more than": the sizes that users were promised, in KB of 1000 bytes.
at_most() {
  local file=$1 limit=$2 bytes
  bytes=$(stat -c %s "$file")
  printf '%s: %d bytes, %d KB allowed\n' "$file" "$bytes" "$limit"
  [[ $bytes -le $((limit * 1000)) ]]
}

# The operators of MobileNet v1 and v2, from TensorFlow or ONNX, and a library
# with no others.
readonly mobilenet=Conv2D,DepthwiseConv2d,FullyConnected,Pooling,Reduce,Softmax

holds_selection_only() {
  tr ',' '\n' <<<"$mobilenet" | sed 's/.*/mace_registration_&_CPU/' |
    sort -u >"$work/wanted"
  registrations_in_archive "$1" | diff "$work/wanted" -
}

# Each header that is installed, by itself.
test_headers() {
  local header
  for header in build/include/mace/public/*.h; do
    expect "${header##*/} compiles alone" clang++-19 -std=c++17 -fsyntax-only \
      -Wall -Wextra -Werror -Ibuild/include -x c++ "$header"
  done
}

test_language() {
  local abi=$1 lib=$2 source=$3 name=$4
  shift 4
  local compile=("$@" -Wall -Wextra -Werror -Ibuild/include)
  expect "$abi $name libmace.so links" \
    "${compile[@]}" "$source" "-L$lib" -lmace -o "$work/dynamic"
  expect "$abi $name libmace.so runs" run_on "$abi" \
    "$work/dynamic"
  expect "$abi $name libmace.a links" \
    "${compile[@]}" "$source" "$lib/libmace.a" -lstdc++ -lm -pthread \
    -o "$work/static"
  expect "$abi $name libmace.a runs" run_on "$abi" "$work/static"
}

bash tools/build-standalone-lib.sh "-abi=${abis// /,}"
test_headers
for abi in $abis; do
  lib=build/lib/$abi/cpu
  triple=$(triple_of "$abi")
  expect "$abi libmace.a holds every operator" \
    same_registrations "$lib/libmace.a"
  expect "$abi libmace.so exports its interface only" \
    exports_interface_only "$lib/libmace.so"
  common=("-Wl,-rpath,$PWD/$lib")
  clang=("--target=$triple" -fuse-ld=lld "${common[@]}")
  test_language "$abi" "$lib" test/standalone/program.cc "C++ clang" \
    clang++-19 -std=c++17 "${clang[@]}"
  test_language "$abi" "$lib" test/standalone/program.c "C clang" \
    clang-19 -std=c99 "${clang[@]}"
  if command -v "$triple-g++" >/dev/null; then
    test_language "$abi" "$lib" test/standalone/program.cc "C++ gcc" \
      "$triple-g++" -std=c++17 "${common[@]}"
    test_language "$abi" "$lib" test/standalone/program.c "C gcc" \
      "$triple-gcc" -std=c99 "${common[@]}"
  else
    printf 'skipped %s gcc: no %s-g++ here\n' "$abi" "$triple"
  fi
done

bash tools/build-standalone-lib.sh "-abi=${abis// /,}" "-ops=$mobilenet"
for abi in $abis; do
  lib=build/lib/$abi/cpu-selection
  expect "$abi selection holds MobileNet's operators only" \
    holds_selection_only "$lib/libmace.a"
  case $abi in
    arm64)
      expect "$abi all operators" at_most "build/lib/$abi/cpu/libmace.so" 1000
      expect "$abi MobileNet's operators" at_most "$lib/libmace.so" 400
      ;;
    armhf)
      expect "$abi all operators" at_most "build/lib/$abi/cpu/libmace.so" 700
      expect "$abi MobileNet's operators" at_most "$lib/libmace.so" 400
      ;;
  esac
done
finish
