#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/arm/setup.sh
#
# Unpacks an arm64 and an armhf system with Python and other inference engines
# into build/arm-peers, so that their instructions can be counted beside MACE's.
# Nothing of it is installed or run: packages are unpacked, and QEMU runs the
# Python in it. Needs debootstrap (as root) and pip; does what is missing.

set -euo pipefail

fail() {
  printf 'arm/setup: %s\n' "$*" >&2
  exit 2
}

[[ $# -eq 0 ]] || fail "takes no arguments, found '$1'"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here goal=$here/../../build/arm-peers list=$here/requirements.txt
readonly suite=bookworm
python=${MACE_PYTHON:-python3}

missing=()
for tool in debootstrap dpkg-deb "$python"; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
[[ ${#missing[@]} -eq 0 ]] || fail "missing: ${missing[*]} (apt-get install)"

# A Debian of an architecture, with these packages besides.
unpack_system() {
  local arch=$1 more=$2 root=$goal/$1/root mirror package
  [[ ! -e $root/.unpacked ]] || return 0
  [[ $(id -u) -eq 0 ]] || fail "debootstrap needs root: run with sudo"
  rm -rf "$root"
  mkdir -p "$goal/$arch"
  # The mirror that this computer uses, where it is a Debian.
  # shellcheck disable=SC2016  # apt's placeholder, not the shell's
  mirror=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' | grep -E '/debian/?$' | head -1) || mirror=
  debootstrap --foreign "--arch=$arch" --variant=minbase \
    "--include=python3,libgomp1,libstdc++6,zlib1g$more" \
    "$suite" "$root" ${mirror:+"$mirror"} >"$goal/$arch/debootstrap.log" 2>&1 ||
    fail "debootstrap failed, see $goal/$arch/debootstrap.log"
  for package in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  rm -rf "$root"/var/cache/apt/archives/*.deb
  rm -f "$root/etc/ld.so.cache"
  touch "$root/.unpacked"
}

# The lines of requirements.txt that match, for a machine as wheels name it.
unpack_packages() {
  local arch=$1 machine=$2 pattern=$3 minor
  local wanted=$goal/$1/wanted.txt installed=$goal/$1/installed.txt
  local platforms=(--platform "manylinux2014_$machine")
  grep -E "$pattern" "$list" >"$wanted"
  if cmp -s "$wanted" "$installed"; then
    rm "$wanted"
    return 0
  fi
  rm -rf "$goal/$arch/packages"
  for minor in 17 24 26 27 28 31 34 35 36; do
    platforms+=(--platform "manylinux_2_${minor}_$machine")
  done
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --no-compile --only-binary=:all: "${platforms[@]}" --python-version 3.11 \
    --implementation cp --target "$goal/$arch/packages" -r "$wanted" ||
    fail "pip could not install what $wanted lists, see above"
  mv "$wanted" "$installed"
}

unpack_system arm64 ""
unpack_packages arm64 aarch64 '=='
# Of the engines only ncnn has a package for armhf, and NumPy has none: Debian's
# is used, whose linear algebra is found where it would be installed to.
unpack_system armhf ,python3-numpy
for library in blas lapack; do
  ln -sf "$library/lib$library.so.3" \
    "$goal/armhf/root/usr/lib/arm-linux-gnueabihf/lib$library.so.3"
done
unpack_packages armhf armv7l '^ncnn=='
