#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/link_test.sh [ABI...]
#
# Builds libmace for host, arm64 and armhf (or the given ABIs) and links small
# programs with it the way an application does that knows nothing of Bazel:
# in C++ and in C, with clang and with gcc, with libmace.so and with libmace.a,
# and runs them, also with the libraries for CPU and GPU, and for CPU, GPU and DSP. Then
# libraries for one network: how large they are, and that they run it.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=test/standalone/expect.sh
source test/standalone/expect.sh
[[ $# -gt 0 ]] || set -- host arm64 armhf
readonly abis="$*"
readonly python=${MACE_VENV:-.venv}/bin/python

# The operators of the sources for some devices ("CPU|GPU"), as the names of their
# registrations. Those whose declaration says what they compute have no code of their own.
registrations_in_sources() {
  local name device
  {
    grep -rhoE --include='*.cc' --exclude='*_test.cc' --exclude-dir=testing \
      "^MACE_REGISTER_(QUANTIZED_)?OP\(\w+, ($1)" mace/ops |
      sed -E 's/.*\((\w+), (\w+)/mace_registration_\1_\2/'
    grep -l '^computes:' mace/ops/*/*.op.yaml | xargs sed -nE 's/^op: (\w+)$/\1/p' |
      while read -r name; do
        for device in ${1//|/ }; do
          echo "mace_registration_${name}_$device"
        done
      done
  } | sort -u
}

registrations_in_archive() {
  llvm-nm-19 --format=just-symbols "$1" |
    grep -oE 'mace_registration_[A-Za-z0-9]+_(CPU|GPU|HEXAGON)' | sort -u
}

# Those of the sources, and no others.
same_registrations() {
  registrations_in_sources "$2" >"$work/sources"
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

# "No more than", in KB of 1000 bytes.
at_most() {
  local file=$1 limit=$2 bytes
  bytes=$(stat -c %s "$file")
  printf '%s: %d bytes, %d KB allowed\n' "$file" "$bytes" "$limit"
  [[ $bytes -le $((limit * 1000)) ]]
}

# "Larger than the other by no more than", in KB of 1000 bytes.
at_most_more() {
  local file=$1 other=$2 limit=$3 bytes
  bytes=$(($(stat -c %s "$file") - $(stat -c %s "$other")))
  printf '%s: %d bytes more than %s, %d KB allowed\n' "$file" "$bytes" "$other" \
    "$limit"
  [[ $bytes -le $((limit * 1000)) ]]
}

# "No more than so many hundredths of the other": the GPU's share. On armhf, the library
# for the CPU alone is smaller, because it has no code for 16-bit activations.
declare -A gpu_share=([host]=160 [arm64]=160 [armhf]=170)
at_most_share() {
  local share=$1 file=$2 other=$3 bytes of_other
  bytes=$(stat -c %s "$file")
  of_other=$(stat -c %s "$other")
  printf '%s: %d bytes, %d.%02d times %s\n' "$file" "$bytes" $((bytes / of_other)) \
    $((bytes * 100 / of_other % 100)) "$other"
  [[ $((bytes * 100)) -le $((of_other * share)) ]]
}

# The library opens the driver when it runs; one without GPU does not know its names.
knows_opencl() { grep -q clGetPlatformIDs "$1"; }
knows_no_opencl() { ! knows_opencl "$1"; }
needs_no_opencl() { ! llvm-readelf-19 --needed-libs "$1" | grep -i opencl; }

# Likewise the system's library by which a DSP is called.
knows_fastrpc() { grep -q libcdsprpc.so "$1"; }
knows_no_fastrpc() { ! knows_fastrpc "$1"; }
needs_no_fastrpc() { ! llvm-readelf-19 --needed-libs "$1" | grep -i dsprpc; }

# The DSP's own code, beside the library: for phones, and for the emulator.
has_code_of_the_dsp() {
  local file
  for file in libmace_hexagon_skel.so mace_hexagon_skel; do
    [[ $(llvm-readelf-19 --file-header "$1/$file") == *Machine:*Hexagon* ]] || return 1
  done
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
  for header in build/include/mace/*/*.h; do
    expect "${header##*/} compiles alone" clang++-19 -std=c++17 -fsyntax-only \
      -Wall -Wextra -Werror -Ibuild/include -x c++ "$header"
  done
  for header in build/include/mace/*/*_c.h; do
    expect "${header##*/} is C" clang-19 -std=c99 -fsyntax-only -Wall -Wextra \
      -Werror -Ibuild/include -x c "$header"
  done
  expect "mace_pipeline_c.h has its code in C++" clang++-19 -std=c++17 -fno-rtti \
    -fno-exceptions -fsyntax-only -Wall -Wextra -Werror -Ibuild/include \
    -DMACE_PIPELINE_IMPLEMENTATION -x c++ build/include/mace/pipeline/mace_pipeline_c.h
}

test_language() {
  local library=$1 lib=$2 source=$3 name=$4 abi=${1%% *}
  shift 4
  local compile=("$@" -Wall -Wextra -Werror -Ibuild/include)
  expect "$library $name libmace.so links" \
    "${compile[@]}" "$source" "-L$lib" -lmace -o "$work/dynamic"
  expect "$library $name libmace.so runs" run_on "$abi" \
    "$work/dynamic"
  expect "$library $name libmace.a links" \
    "${compile[@]}" "$source" "$lib/libmace.a" -lstdc++ -lm -ldl -pthread \
    -o "$work/static"
  expect "$library $name libmace.a runs" run_on "$abi" "$work/static"
}

# All programs, with one library.
test_library() {
  local abi=$1 lib=build/lib/$1/$2 name="$1 $2" triple
  triple=$(triple_of "$abi")
  expect "$name libmace.so exports its interface only" \
    exports_interface_only "$lib/libmace.so"
  common=("-Wl,-rpath,$PWD/$lib")
  clang=("--target=$triple" -fuse-ld=lld "${common[@]}")
  test_language "$name" "$lib" test/standalone/program.cc "C++ clang" \
    clang++-19 -std=c++17 "${clang[@]}"
  test_language "$name" "$lib" test/standalone/program.c "C clang" \
    clang-19 -std=c99 "${clang[@]}"
  if command -v "$triple-g++" >/dev/null; then
    test_language "$name" "$lib" test/standalone/program.cc "C++ gcc" \
      "$triple-g++" -std=c++17 "${common[@]}"
    test_language "$name" "$lib" test/standalone/program.c "C gcc" \
      "$triple-gcc" -std=c99 "${common[@]}"
  else
    printf 'skipped %s gcc: no %s-g++ here\n' "$abi" "$triple"
  fi
}

bash tools/build-standalone-lib.sh "-abi=${abis// /,}"
bash tools/build-standalone-lib.sh "-abi=${abis// /,}" -runtimes=cpu,gpu
bash tools/build-standalone-lib.sh "-abi=${abis// /,}" -runtimes=cpu,gpu,dsp
test_headers
for abi in $abis; do
  lib=build/lib/$abi
  test_library "$abi" cpu
  expect "$abi libmace.a holds every operator" \
    same_registrations "$lib/cpu/libmace.a" CPU
  expect "$abi libmace.so without GPU has nothing of it" \
    knows_no_opencl "$lib/cpu/libmace.so"
  test_library "$abi" cpu_gpu
  expect "$abi libmace.a for CPU and GPU holds every operator of both" \
    same_registrations "$lib/cpu_gpu/libmace.a" "CPU|GPU"
  expect "$abi libmace.so for CPU and GPU opens OpenCL" \
    knows_opencl "$lib/cpu_gpu/libmace.so"
  expect "$abi libmace.so for CPU and GPU is linked with no driver" \
    needs_no_opencl "$lib/cpu_gpu/libmace.so"
  test_library "$abi" cpu_gpu_dsp
  expect "$abi libmace.a for CPU, GPU and DSP holds every operator of all three" \
    same_registrations "$lib/cpu_gpu_dsp/libmace.a" "CPU|GPU|HEXAGON"
  expect "$abi libmace.so for CPU, GPU and DSP opens OpenCL" \
    knows_opencl "$lib/cpu_gpu_dsp/libmace.so"
  expect "$abi libmace.so for CPU, GPU and DSP opens FastRPC" \
    knows_fastrpc "$lib/cpu_gpu_dsp/libmace.so"
  expect "$abi libmace.so for CPU, GPU and DSP is linked with no FastRPC" \
    needs_no_fastrpc "$lib/cpu_gpu_dsp/libmace.so"
  expect "$abi libmace.so without DSP has nothing of it" \
    knows_no_fastrpc "$lib/cpu_gpu/libmace.so"
  expect "$abi the DSP's code lies beside libmace.so for CPU, GPU and DSP" \
    has_code_of_the_dsp "$lib/cpu_gpu_dsp"
  expect "$abi size of libmace.so for CPU and GPU" \
    at_most_share "${gpu_share[$abi]}" "$lib/cpu_gpu/libmace.so" "$lib/cpu/libmace.so"
done

# MobileNet v2 for small pictures: $work/TYPE/mobilenet_v2/model/TYPE.{pb,data}.
convert_mobilenet() {
  local type=$1 source=$2 key="data_type: $1"
  [[ $type != int8 ]] || key="quantize_large_weights: 1"
  cat >"$work/$type.yml" <<YAML
library_name: mobilenet_v2
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  $type:
    platform: onnx
    model_file_path: $source
    subgraphs:
      - input_tensors: [image]
        input_shapes: ["1,64,64,3"]
        output_tensors: [probability]
        output_shapes: ["1,1000"]
        output_data_formats: [NONE]
    runtime: cpu
    $key
YAML
  "$python" tools/converter.py convert --config="$work/$type.yml" \
    --build_dir="$work/$type"
}

make_mobilenet() {
  local type source
  source=$("$python" -m test.conformance.models.built --side 64 mobilenet_v2) ||
    return 1
  for type in $types; do convert_mobilenet "$type" "$source" || return 1; done
}

# The model by the library of all operators and by that of its own: same bits.
runs_alike() {
  local abi=$1 type=$2 library
  local model=$work/$type/mobilenet_v2/model/$type
  clang++-19 "--target=$(triple_of "$abi")" -fuse-ld=lld -std=c++17 \
    -Wall -Wextra -Werror -Ibuild/include test/standalone/model_file.cc \
    "-Lbuild/lib/$abi/cpu" -lmace -o "$work/model_file" || return 1
  for library in cpu cpu-selection; do
    LD_LIBRARY_PATH=$PWD/build/lib/$abi/$library \
      run_on "$abi" "$work/model_file" "$model.pb" "$model.data" \
      "$work/$library.answer" || return 1
  done
  cmp "$work/cpu.answer" "$work/cpu-selection.answer"
}

readonly types="fp32_fp32 fp16_fp16 int8"

# The sizes that users were promised (docs/user/build_library.md), of all
# operators and of MobileNet's. Arithmetic in fp16 has kernels of its own beside
# those for processors without it.
limit_of() {
  case $1 in
    arm64-all) echo 1300 ;;
    armhf-all) echo 1100 ;;
    arm64-fp16_fp16) echo 450 ;;
    *) echo 400 ;;
  esac
}

expect "MobileNet v2 converts in three types" make_mobilenet
for type in $types; do
  expect "library for MobileNet v2 in $type builds" \
    bash tools/build-standalone-lib.sh "-abi=${abis// /,}" \
    "-models=$work/$type/mobilenet_v2/model/$type.pb"
  for abi in $abis; do
    lib=build/lib/$abi/cpu-selection
    expect "$abi runs MobileNet v2 in $type" runs_alike "$abi" "$type"
    printf '        %s bytes\n' "$(stat -c %s "$lib/libmace.so")"
    [[ $abi != host ]] || continue
    expect "$abi size for MobileNet v2 in $type" \
      at_most "$lib/libmace.so" "$(limit_of "$abi-$type")"
  done
done

bash tools/build-standalone-lib.sh "-abi=${abis// /,}" "-ops=$mobilenet"
for abi in $abis; do
  lib=build/lib/$abi/cpu-selection
  expect "$abi selection holds MobileNet's operators only" \
    holds_selection_only "$lib/libmace.a"
  [[ $abi != host ]] || continue
  expect "$abi all operators" \
    at_most "build/lib/$abi/cpu/libmace.so" "$(limit_of "$abi-all")"
  expect "$abi MobileNet's operators" \
    at_most "$lib/libmace.so" "$(limit_of "$abi-ops")"
done

# All operators and kernels, but the operators in floats alone. How large libraries are
# was promised for boards.
in_floats=$(registrations_in_sources CPU |
  sed -E 's/mace_registration_(\w+)_CPU/\1/' | paste -sd,)
for abi in $abis; do
  [[ $abi != host ]] || continue
  bash tools/build-standalone-lib.sh "-abi=$abi" \
    "-ops=$in_floats,FewChannels,FiveWide,Int8Weights,Winograd"
  expect "$abi what operators in integers add" at_most_more \
    "build/lib/$abi/cpu/libmace.so" "build/lib/$abi/cpu-selection/libmace.so" 150
done
finish
