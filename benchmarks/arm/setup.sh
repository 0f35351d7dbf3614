#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/arm/setup.sh
#
# Unpacks an arm64 system with Python and other inference engines into
# build/arm-peers, so that their instructions can be counted beside MACE's.
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
readonly root=$goal/root packages=$goal/packages suite=bookworm
python=${MACE_PYTHON:-python3}

missing=()
for tool in debootstrap dpkg-deb "$python"; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
[[ ${#missing[@]} -eq 0 ]] || fail "missing: ${missing[*]} (apt-get install)"

mkdir -p "$goal"
if [[ ! -e $root/.unpacked ]]; then
  [[ $(id -u) -eq 0 ]] || fail "debootstrap needs root: run with sudo"
  rm -rf "$root"
  # The mirror that this computer uses, where it is a Debian.
  # shellcheck disable=SC2016  # apt's placeholder, not the shell's
  mirror=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' | grep -E '/debian/?$' | head -1) || mirror=
  debootstrap --foreign --arch=arm64 --variant=minbase \
    --include=python3,libgomp1,libstdc++6,zlib1g \
    "$suite" "$root" ${mirror:+"$mirror"} >"$goal/debootstrap.log" 2>&1 ||
    fail "debootstrap failed, see $goal/debootstrap.log"
  for package in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
  done
  rm -rf "$root"/var/cache/apt/archives/*.deb
  rm -f "$root/etc/ld.so.cache"
  touch "$root/.unpacked"
fi

if ! cmp -s "$list" "$goal/installed.txt"; then
  rm -rf "$packages"
  platforms=(--platform manylinux2014_aarch64)
  for minor in 17 24 26 27 28 31 34 35 36; do
    platforms+=(--platform "manylinux_2_${minor}_aarch64")
  done
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --no-compile --only-binary=:all: "${platforms[@]}" --python-version 3.11 \
    --implementation cp --target "$packages" -r "$list" ||
    fail "pip could not install requirements.txt, see above"
  cp "$list" "$goal/installed.txt"
fi
