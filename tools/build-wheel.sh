#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Python package that `pip install` takes.

set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: bash tools/build-wheel.sh [FLAG...]

Writes build/wheel/mace-VERSION-py3-none-PLATFORM.whl: `import mace` with libmace.so
for CPU and GPU, the command `mace` with mace_run for the CPU, and the converter.

  -abi ABI[,ABI...]   host (default), arm64: for this computer, or for Linux on 64-bit
                      ARM
  -label LABEL        makes the version VERSION+LABEL, for what is no release: small
                      letters and digits, with dots between
  -check              build nothing; only say whether it can be built
  -help               print this

Each flag may be written with two dashes and with '=' too. BAZEL names the
Bazel to use, BAZEL_STARTUP_FLAGS and BAZEL_FLAGS add flags to its command.
TEXT
}

fail() {
  printf 'build-wheel: %s\n' "$*" >&2
  exit 2
}

abis=host
label=
check_only=false
while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  flag=${flag/#--/-}
  case $flag in
    -abi | -label)
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      else
        [[ $# -ge 2 ]] || fail "$1 needs a value; see -help"
        value=$2
        shift
      fi
      if [[ $flag == -abi ]]; then
        abis=$value
      else
        label=$value
        [[ $label =~ ^[a-z0-9]+(\.[a-z0-9]+)*$ ]] ||
          fail "-label: '$label' is not of small letters and digits, with dots between"
      fi
      ;;
    -check) check_only=true ;;
    -h | -help)
      usage
      exit 0
      ;;
    *) fail "unknown argument '$1'; see -help" ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly python=${MACE_VENV:-.venv}/bin/python
"$python" -c 'import hatchling' 2>/dev/null ||
  fail "no hatchling here: run 'bash tools/setup.sh --for wheel'"
# shellcheck source=tools/run_bazel.sh
source tools/run_bazel.sh

# The oldest glibc that libmace.so runs with, as PEP 600 writes it: what
# toolchains/glibc is for, and test/standalone/baseline_test.sh checks.
readonly baseline=manylinux_2_28

machine_of() {
  case $1 in
    host) uname -m ;;
    arm64) echo aarch64 ;;
    *) return 1 ;;
  esac
}

for abi in ${abis//,/ }; do
  machine_of "$abi" >/dev/null ||
    fail "-abi: unknown: $abi; accepted: host, arm64"
done
[[ -n ${abis//,/} ]] || fail "-abi: names no ABI"

bash tools/build-standalone-lib.sh "-abi=$abis" -runtimes=cpu,gpu -check
if $check_only; then exit 0; fi
bash tools/build-standalone-lib.sh "-abi=$abis" -runtimes=cpu,gpu
mkdir -p build/wheel
work=$(mktemp -d build/.wheel.XXXXXX)
trap 'rm -rf "$work"' EXIT

for abi in ${abis//,/ }; do
  flags=()
  [[ $abi == host ]] || flags+=("--config=$abi")
  flags+=(--config=static)
  run_bazel build --noshow_progress "${flags[@]}" //mace/tools:mace_run \
    >"$work/log" 2>&1 || {
    grep -vE '^(\[|Loading|Analyzing|INFO)' "$work/log" >&2
    fail "mace_run for $abi cannot be built (its messages are above)"
  }
  program=$(run_bazel info "${flags[@]}" bazel-bin 2>/dev/null)/mace/tools/mace_run
  contents=$work/$abi
  mkdir -p "$contents/lib" "$contents/bin"
  cp "build/lib/$abi/cpu_gpu/libmace.so" "$contents/lib/libmace.so"
  llvm-strip-19 --strip-all --remove-section=.comment \
    -o "$contents/bin/mace_run" "$program"
  chmod 755 "$contents/bin/mace_run"
  "$python" -m tools.wheel.contents "$contents"
  # Times of files are not part of a wheel.
  MACE_WHEEL_CONTENTS=$PWD/$contents \
    MACE_WHEEL_PLATFORM=${baseline}_$(machine_of "$abi") \
    MACE_WHEEL_LABEL=$label \
    PYTHONDONTWRITEBYTECODE=1 "$python" -m hatchling build --target wheel \
    --directory "$work/$abi.wheel" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "the wheel for $abi cannot be built (see above)"
  }
  for wheel in "$work/$abi.wheel"/*.whl; do
    chmod 644 "$wheel"
    mv "$wheel" build/wheel/
    wheel=build/wheel/${wheel##*/}
    printf '%9d bytes  %s\n' "$(stat -c %s "$wheel")" "$wheel"
  done
done
