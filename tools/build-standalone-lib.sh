#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds libmace for applications that do not use Bazel.

set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: bash tools/build-standalone-lib.sh [FLAG...]

Writes build/lib/ABI/RUNTIMES/libmace.{so,a} and
build/include/mace/{public,pipeline}/*.h; with -install, also to a prefix.

  -abi ABI[,ABI...]   host; arm64 (or aarch64-linux-gnu), armhf (or
                      arm-linux-gnueabihf) for boards; arm64-v8a,
                      armeabi-v7a for Android, by the NDK (r21 to r27) that
                      ANDROID_NDK_HOME names; without it: all that can be
  -runtimes LIST      the devices that it computes on, of cpu, gpu and dsp: cpu,gpu
                      writes to build/lib/ABI/cpu_gpu, and so on (default for
                      Android: cpu,gpu; for others: cpu). The CPU is always one of
                      them. With dsp, the DSP's own code lies beside the library.
                      Also hta, htp, apu: with the adapter to that vendor's library
                      (docs/user/accelerators.md); npu: for delegates of your own
  -models FILE[,FILE...]
                      converted models (.pb): the library has the operators of
                      these and no others, and is written to
                      build/lib/ABI/RUNTIMES-selection, with their list
  -ops TYPE[,TYPE...] likewise (or besides) the operators named; also the kernels
                      FewChannels, FiveWide, Int8Weights, Winograd; see
                      docs/user/build_library.md
  -custom_ops DIR[,DIR...]
                      folders with operators of your own, for the library and for
                      -models and -ops; without -models and -ops it has all of MACE's
                      and these, and is written to build/lib/ABI/RUNTIMES-custom. See
                      docs/development/adding_an_op.md
  -install PREFIX     also copy the library of the one ABI that -abi names to
                      PREFIX/lib and PREFIX/include, with the files by which CMake
                      (find_package) and pkg-config find it
  -aar                also libmace_jni.so and, for Android applications,
                      build/aar/RUNTIMES/mace.aar with all ABIs
                      (default: arm64-v8a, armeabi-v7a)
  -mace_run           also mace_run, the program that runs and measures models
  -static             libmace.a only
  -debug              not optimised, with debug information
  -asan               with the address sanitizer (libmace.so only)
  -quantize           with -ops: the operators named also in integers, for models
                      with `quantize: 1`. -models says so itself, and a library
                      with all operators has them
  -check              build nothing; only say whether all this can be built
  -help               print this

Each flag may be written with two dashes and with '=' too. BAZEL names the
Bazel to use, BAZEL_STARTUP_FLAGS and BAZEL_FLAGS add flags to its command.
TEXT
}

fail() {
  printf 'build-standalone-lib: %s\n' "$*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
abis=
runtimes=
models=
ops=
custom_ops=
install=
static_only=false
aar=false
mace_run=false
check_only=false
bazel_flags=()
selection_flags=()

while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  flag=${flag/#--/-}
  case $flag in
    -abi | -runtimes | -models | -ops | -custom_ops | -install)
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      else
        [[ $# -ge 2 ]] || fail "$1 needs a value; see -help"
        value=$2
        shift
      fi
      case $flag in
        -abi) abis=$value ;;
        -runtimes) runtimes=$value ;;
        -models) models=${models:+$models,}$value ;;
        -ops) ops=${ops:+$ops,}$value ;;
        -install) install=$value ;;
        -custom_ops) custom_ops=${custom_ops:+$custom_ops,}$value ;;
      esac
      [[ -n ${value//[,+]/} ]] || fail "$flag needs a value; see -help"
      ;;
    -static) static_only=true ;;
    -aar) aar=true ;;
    -mace_run) mace_run=true ;;
    -check) check_only=true ;;
    -debug) bazel_flags+=(--config=debug) ;;
    -asan) bazel_flags+=(--config=asan) ;;
    -quantize) selection_flags+=(--quantize) ;;
    -h | -help)
      usage
      exit 0
      ;;
    *) fail "unknown argument '$1'; see -help" ;;
  esac
  shift
done

gpu=
dsp=false
delegates=()
for runtime in ${runtimes//[,+_]/ }; do
  case $runtime in
    cpu) gpu=${gpu:-false} ;;
    gpu) gpu=true ;;
    dsp)
      gpu=${gpu:-false}
      dsp=true
      ;;
    hta | htp | apu | npu)
      gpu=${gpu:-false}
      [[ " ${delegates[*]-} " == *" $runtime "* ]] || delegates+=("$runtime")
      ;;
    *)
      fail "-runtimes $runtimes: unknown device '$runtime'; accepted: cpu, gpu, dsp," \
        "hta, htp, apu, npu"
      ;;
  esac
done
delegate_flags=()
for runtime in ${delegates[@]+delegates "${delegates[@]}"}; do
  delegate_flags+=("--define=$runtime=true")
done
$static_only && [[ " ${bazel_flags[*]-} " == *" --config=asan "* ]] &&
  fail "-asan and -static exclude each other: a sanitizer needs libmace.so"

if $aar; then
  $static_only && fail "-aar and -static exclude each other: an AAR has libmace.so"
  abis=${abis:-arm64-v8a,armeabi-v7a}
fi

# The name of the output folder for an ABI.
canonical_abi() {
  case $1 in
    host) echo host ;;
    arm64 | aarch64-linux-gnu | aarch64_linux_gnu) echo arm64 ;;
    armhf | arm-linux-gnueabihf | arm_linux_gnueabihf) echo armhf ;;
    arm64-v8a | armeabi-v7a) echo "$1" ;;
    *) return 1 ;;
  esac
}

# Whether the library for it gets the GPU runtime.
with_gpu() {
  case $1 in
    arm64-v8a | armeabi-v7a) echo "${gpu:-true}" ;;
    *) echo "${gpu:-false}" ;;
  esac
}

# Whether programs for it open libraries of the system while they run, or are of
# Android, whose C library is only there.
opens_libraries() {
  case $1 in
    arm64-v8a | armeabi-v7a) return 0 ;;
  esac
  [[ $(with_gpu "$1") == true ]] || $dsp || [[ ${#delegates[@]} -gt 0 ]]
}

# Where it goes, below build/lib.
folder_of() {
  local runtimes=cpu
  if [[ $(with_gpu "$1") == true ]]; then runtimes+=_gpu; fi
  if $dsp; then runtimes+=_dsp; fi
  runtimes+=$(printf '_%s' ${delegates[@]+"${delegates[@]}"})
  runtimes=${runtimes%_}
  local kind=${MACE_CUSTOM_OPS:+-custom}
  echo "$1/$runtimes${rooms:+-selection}${kind}"
}

# Bazel's configuration for it.
config_of() {
  case $1 in
    arm64-v8a) echo android_arm64 ;;
    armeabi-v7a) echo android_arm ;;
    *) echo "$1" ;;
  esac
}

if [[ -z $abis ]]; then
  abis=host,arm64,armhf
  if [[ -n ${ANDROID_NDK_HOME:-} ]]; then
    abis+=,arm64-v8a,armeabi-v7a
  else
    echo "not for Android (arm64-v8a, armeabi-v7a): ANDROID_NDK_HOME is not set"
  fi
fi

targets=()
unknown=()
for abi in ${abis//,/ }; do
  if name=$(canonical_abi "$abi"); then
    targets+=("$name")
  else
    unknown+=("$abi")
  fi
done
[[ ${#unknown[@]} -eq 0 ]] ||
  fail "-abi: unknown: ${unknown[*]}; accepted: host, arm64, armhf," \
    "arm64-v8a, armeabi-v7a"
[[ ${#targets[@]} -gt 0 ]] || fail "-abi: names no ABI"
if [[ -n $install ]]; then
  [[ ${#targets[@]} -eq 1 ]] ||
    fail "-install: a prefix holds the library of one ABI; name one by -abi," \
      "such as -abi=host"
  mkdir -p "$install/lib" 2>/dev/null && [[ -w $install/lib ]] ||
    fail "-install: cannot write to $install/lib; choose another prefix"
  install=$(cd "$install" && pwd)
fi

if $aar; then
  for abi in "${targets[@]}"; do
    case $abi in
      arm64-v8a | armeabi-v7a) ;;
      *) fail "-aar: -abi $abi is not of Android; accepted: arm64-v8a, armeabi-v7a" ;;
    esac
  done
fi

# shellcheck source=tools/run_bazel.sh
source "$root/tools/run_bazel.sh"
command -v "$bazel_program" >/dev/null ||
  fail "no $bazel_program here: run 'bash tools/setup.sh --for build'"
readonly strip=llvm-strip-19
command -v $strip >/dev/null ||
  fail "no $strip here: run 'bash tools/setup.sh --for build'"
if [[ " ${bazel_flags[*]-} " == *" --config=asan "* ]]; then
  # Without it, only linking fails, after all has been compiled.
  runtime=$(clang-19 -print-file-name="libclang_rt.asan-$(uname -m).a")
  [[ -f $runtime ]] ||
    fail "-asan needs clang's runtime of the sanitizers, $runtime:" \
      "run 'bash tools/setup.sh --for test', or sudo apt install libclang-rt-19-dev"
fi
for abi in "${targets[@]}"; do
  case $abi in
    arm64) sysroot=/usr/aarch64-linux-gnu/include ;;
    armhf) sysroot=/usr/arm-linux-gnueabihf/include ;;
    arm64-v8a | armeabi-v7a)
      [[ -n ${ANDROID_NDK_HOME:-} ]] ||
        fail "libmace for $abi is built by an Android NDK: unpack one (r21 to" \
          "r27, for Linux) and export ANDROID_NDK_HOME=<its folder>"
      [[ -f $ANDROID_NDK_HOME/source.properties ]] ||
        fail "ANDROID_NDK_HOME=$ANDROID_NDK_HOME holds no NDK (no source.properties" \
          "there): export the folder of one (r21 to r27, for Linux)"
      [[ " ${bazel_flags[*]-} " != *" --config=asan "* ]] ||
        fail "-asan: not for $abi; check on host, arm64 or armhf"
      continue
      ;;
    *) continue ;;
  esac
  [[ -d $sysroot ]] ||
    fail "no C++ headers for $abi: run 'bash tools/setup.sh --for cross'"
done

python=${MACE_VENV:-$root/.venv}/bin/python
[[ -x $python ]] || python=python3
readonly python

if $aar; then
  PYTHONPATH=$root "$python" -m mace.java.aar --check --out=- || exit 2
fi

# Operators of the user's own: Bazel reads the variable.
if [[ -n $custom_ops ]]; then
  MACE_CUSTOM_OPS=${custom_ops//,/:}
fi
if [[ -n ${MACE_CUSTOM_OPS:-} ]]; then
  MACE_CUSTOM_OPS=$(PYTHONPATH=$root MACE_CUSTOM_OPS=$MACE_CUSTOM_OPS \
    "$python" -m mace.python.tools.catalogue.folders) || exit 2
  export MACE_CUSTOM_OPS
fi

if $check_only; then exit 0; fi

# Which operators: all, or those that models and flags name.
rooms=
if [[ -n $models$ops ]]; then
  rooms=$(PYTHONPATH=$root "$python" -m mace.python.tools.export.selection \
    --models="$models" --ops="$ops" ${selection_flags[@]+"${selection_flags[@]}"}) ||
    exit 2
  bazel_selection=("--//mace/ops:only=$rooms")
fi

cd "$root"

bazel_with_flags() {
  local command=$1
  shift
  # The server of Bazel, which goes on, must not hold the lock.
  run_bazel "$command" ${bazel_flags[@]+"${bazel_flags[@]}"} \
    ${bazel_selection[@]+"${bazel_selection[@]}"} "$@" 9>&-
}

# While it is held, nobody else of this checkout builds (mace/python/tools/bazel.py): other
# options would replace what was built before it is copied. `exec 9<&-` ends that.
hold_lock() {
  exec 9<tools/run_bazel.sh
  # Not every system and file system has locks.
  if command -v flock >/dev/null; then flock 9 2>/dev/null || true; fi
}

# What MaceVersion() says: "v1.0-8-gdeadbee", or mace/version.bzl without tags.
version=$(git describe --tags --dirty 2>/dev/null || true)
readonly version

# Everything is made beside its destination and moved there when it is whole.
mkdir -p build
[[ -e builds || -L builds ]] || ln -s build builds
stage=$(mktemp -d build/.libmace.XXXXXX)
trap 'rm -rf "$stage"' EXIT

install_dir() {
  local source=$1 target=$2
  mkdir -p "$(dirname "$target")"
  chmod 755 "$source"
  if [[ -e $target ]]; then mv "$target" "$stage/old.${target//\//_}"; fi
  mv "$source" "$target"
}

labels=(//mace:libmace.so //mace:libmace.a)
if $static_only; then labels=(//mace:libmace.a); fi
if [[ " ${bazel_flags[*]-} " == *" --config=asan "* ]]; then
  labels=(//mace:libmace.so)
fi

if $aar; then labels+=(//mace/java:libmace_jni.so); fi

for abi in "${targets[@]}"; do
  echo "libmace for $abi: building"
  hold_lock
  log=$stage/$abi.log
  # The last of several values counts, hence after the flags of the user.
  flags=("--config=$(config_of "$abi")" "--define=opencl=$(with_gpu "$abi")"
    "--define=hexagon=$dsp" ${delegate_flags[@]+"${delegate_flags[@]}"})
  bazel_with_flags build "${flags[@]}" --embed_label="$version" "${labels[@]}" \
    2>"$log" || {
    grep -vE '^(\[|Loading|Analyzing|INFO)' "$log" >&2
    fail "the build for $abi failed (its messages are above)"
  }
  built=("${labels[@]}")
  if $mace_run; then
    # Where it opens no library of the system, it needs none.
    if ! opens_libraries "$abi"; then flags+=(--config=static); fi
    bazel_with_flags build "${flags[@]}" --embed_label="$version" \
      //mace/tools:mace_run 2>"$log" || {
      grep -vE '^(\[|Loading|Analyzing|INFO)' "$log" >&2
      fail "the build of mace_run for $abi failed (its messages are above)"
    }
    built+=(//mace/tools:mace_run)
  fi
  bin=$(bazel_with_flags info "${flags[@]}" bazel-bin 2>/dev/null)
  mkdir -p "$stage/$abi"
  for label in "${built[@]}"; do
    file=${label#*:}
    path=${label#//}
    cp "$bin/${path/://}" "$stage/$abi/$file"
    chmod 644 "$stage/$abi/$file"
    case $file in *.so | mace_run) chmod 755 "$stage/$abi/$file" ;; esac
    if [[ ${#bazel_flags[@]} -eq 0 ]]; then
      case $file in
        *.so) $strip --strip-unneeded --remove-section=.comment "$stage/$abi/$file" ;;
        *.a) $strip --strip-debug "$stage/$abi/$file" ;;
        mace_run) $strip --strip-all --remove-section=.comment "$stage/$abi/$file" ;;
      esac
    fi
  done
  exec 9<&-
done

# The code of the DSP: one file for all DSPs, and one for the emulator, which has no
# operating system and reads no shared libraries.
if $dsp; then
  echo "the DSP's code: building"
  for kind in v66:fastrpc/libmace_hexagon_skel.so v67:executor/mace_hexagon_skel; do
    path=mace/kernels/hexagon/${kind#*:}
    file=${path##*/}
    flags=("--config=hexagon_${kind%%:*}")
    hold_lock
    log=$stage/$file.log
    run_bazel build "${flags[@]}" "//${path%/*}:$file" 2>"$log" 9>&- || {
      grep -vE '^(\[|Loading|Analyzing|INFO)' "$log" >&2
      fail "the build of $file failed (its messages are above)"
    }
    bin=$(run_bazel info "${flags[@]}" bazel-bin 2>/dev/null 9>&-)
    for abi in "${targets[@]}"; do
      # Nothing emulates a DSP on phones.
      case $file-$abi in mace*-arm64-v8a | mace*-armeabi-v7a) continue ;; esac
      cp "$bin/$path" "$stage/$abi/$file"
      chmod 755 "$stage/$abi/$file"
    done
    exec 9<&-
  done
fi

# Places a file of an installation when it is whole; others of the folder stay.
place() {
  local source=$1 target=$2
  if ! { mkdir -p "$(dirname "$target")" && cp "$source" "$target.new.$$" &&
    mv "$target.new.$$" "$target"; }; then
    rm -f "$target.new.$$"
    fail "-install: cannot write $target; choose another prefix or free this one"
  fi
}

# A template with its names replaced.
fill_in() {
  local abi=$1 number needed="-lstdc++ -lm -ldl -pthread" bytes=8
  number=${version:-$(sed -n 's/^MACE_VERSION = "\(.*\)"/\1/p' mace/version.bzl)}
  number=$(sed -E 's/^v?([0-9]+(\.[0-9]+)*).*/\1/' <<<"$number")
  case $abi in
    arm64-v8a | armeabi-v7a) needed="-lm -ldl -llog" ;;
  esac
  case $abi in
    armhf | armeabi-v7a) bytes=4 ;;
  esac
  sed -e "s/@VERSION@/$number/" -e "s/@POINTER_BYTES@/$bytes/" \
    -e "s/@ABI@/$abi/" -e "s/@NEEDED@/$needed/" "$2"
}

install_library() {
  local abi=$1 source=$2 file name
  for file in mace/{public,pipeline}/*.h; do
    place "$file" "$install/include/$file"
  done
  for file in "$source"/libmace.*; do
    place "$file" "$install/lib/${file##*/}"
  done
  for file in "$source"/*mace_hexagon_skel*; do
    [[ ! -e $file ]] || place "$file" "$install/lib/${file##*/}"
  done
  if $mace_run; then place "$source/mace_run" "$install/bin/mace_run"; fi
  # What an earlier installation had and this library has not.
  for name in libmace.so libmace.a; do
    [[ -e $source/$name ]] || rm -f "$install/lib/$name"
  done
  place mace/libmace.lds "$install/share/mace/libmace.lds"
  place tools/install/maceConfig.cmake "$install/lib/cmake/mace/maceConfig.cmake"
  for name in cmake/mace/maceConfigVersion.cmake pkgconfig/mace.pc \
    pkgconfig/mace-static.pc; do
    fill_in "$abi" "tools/install/${name##*/}.in" >"$stage/filled"
    place "$stage/filled" "$install/lib/$name"
  done
  for name in so:mace a:mace-static; do
    [[ -e $source/libmace.${name%%:*} ]] ||
      rm -f "$install/lib/pkgconfig/${name#*:}.pc"
  done
  chmod 755 "$install"/lib/libmace.so 2>/dev/null || true
}

# From here on files are only moved, which nothing shall cut in half.
trap '' HUP INT TERM
for name in public pipeline; do
  mkdir -p "$stage/$name"
  cp "mace/$name"/*.h "$stage/$name/"
  chmod 644 "$stage/$name"/*.h
  install_dir "$stage/$name" "build/include/mace/$name"
done
folders=()
for abi in "${targets[@]}"; do
  if [[ -n $rooms ]]; then
    tr ',' '\n' <<<"$rooms" >"$stage/$abi/operators.txt"
  fi
  folder=build/lib/$(folder_of "$abi")
  install_dir "$stage/$abi" "$folder"
  folders+=("$folder")
  for file in "$folder"/libmace*.* "$folder"/mace_*; do
    [[ -e $file ]] || continue
    printf '%9d bytes  %s\n' "$(stat -c %s "$file")" "$file"
  done
done
echo "headers: build/include"
if [[ -n $install ]]; then
  install_library "${targets[0]}" "build/lib/$(folder_of "${targets[0]}")"
  echo "installed: $install"
fi
if $aar; then
  kind=$(folder_of "${targets[0]}")
  file=build/aar/${kind#*/}/mace.aar
  "$python" -m mace.java.aar --out="$file" --version="$version" "${folders[@]}"
  printf '%9d bytes  %s\n' "$(stat -c %s "$file")" "$file"
fi
