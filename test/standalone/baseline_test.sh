#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/standalone/baseline_test.sh [ABI...]
#
# Reads which versions of glibc and of the C++ library the built libmace.so of
# host, arm64 and armhf (or the given ABIs) asks for, and fails above those of
# Debian 10. mace_run for boards is static and must ask for nothing at all.
# link_test.sh, or build-standalone-lib.sh, builds the libraries.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/run_bazel.sh
source tools/run_bazel.sh
[[ $# -gt 0 ]] || set -- host arm64 armhf

# Debian 10, RHEL 8: glibc 2.28, GCC 8.
declare -A newest=([GLIBC]=2.28 [GLIBCXX]=3.4.25 [CXXABI]=1.3.11 [GCC]=7.0.0)
failures=0

# Whether version $1 is at most $2.
at_most() {
  [[ $(printf '%s\n' "$1" "$2" | sort -V | tail -n 1) == "$2" ]]
}

check_versions() {
  local file=$1 names name family version newer
  names=$(llvm-readelf-19 --version-info "$file" |
    grep -oE 'Name: (GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+' |
    sed 's/Name: //' | sort -u)
  # A library that asks for no version at all was not read.
  [[ -n $names ]] || {
    echo "FAILED  $file: no versions found"
    return 1
  }
  newer=
  for name in $names; do
    family=${name%_*}
    version=${name##*_}
    at_most "$version" "${newest[$family]}" || newer+=" $name"
  done
  [[ -z $newer ]] || {
    echo "FAILED  $file asks for$newer:"
    for name in $newer; do
      llvm-nm-19 --dynamic --undefined-only --format=just-symbols "$file" |
        grep -F "@$name" | sed 's/^/          /'
    done
    return 1
  }
  echo "ok      $file: $(newest_of "$names")"
}

newest_of() {
  local family
  for family in GLIBC GLIBCXX CXXABI; do
    printf '%s\n' "$1" | { grep "^${family}_" || true; } | sort -V | tail -n 1
  done | tr '\n' ' '
}

# The loader of glibc before 2.34 keeps threads in a library of their own.
check_threads() {
  llvm-readelf-19 --dynamic "$1" | grep -q 'NEEDED.*\[libpthread\.so\.0\]' || {
    echo "FAILED  $1 does not name libpthread.so.0"
    return 1
  }
}

check_static() {
  local file=$1
  if llvm-readelf-19 --dynamic --program-headers "$file" |
    grep -E 'NEEDED|INTERP' >&2; then
    echo "FAILED  $file is not static"
    return 1
  fi
  echo "ok      $file: static"
}

for abi in "$@"; do
  for runtimes in cpu cpu,gpu; do
    library=build/lib/$abi/${runtimes/,/_}/libmace.so
    [[ -f $library ]] || {
      echo "baseline_test: no $library: bash tools/build-standalone-lib.sh" \
        "-runtimes=$runtimes" >&2
      exit 2
    }
    check_versions "$library" || failures=$((failures + 1))
    check_threads "$library" || failures=$((failures + 1))
  done
  # As it was compiled, which asks for the same as when it is optimised as a whole.
  flags=("--config=$abi" --config=static --features=-lto_link)
  run_bazel build --noshow_progress "${flags[@]}" //mace/tools:mace_run
  program=$(run_bazel info "${flags[@]}" bazel-bin)/mace/tools/mace_run
  check_static "$program" || failures=$((failures + 1))
done
printf '%d failures\n' "$failures"
[[ $failures -eq 0 ]]
