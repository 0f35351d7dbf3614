#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the archives of a release. The same commit makes the same bytes.

set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: bash tools/package.sh [FLAG...]

Writes build/release/NAME: the library for each ABI with its headers, the Python
package, the sources, and SHA256SUMS. NAME is mace-VERSION where the commit has the tag
vVERSION, else mace-VERSION-gCOMMIT, which is no release.

  -abi ABI[,ABI...]     default: host,arm64,armhf; those of Android need an NDK that
                        ANDROID_NDK_HOME names, and make mace.aar
  -runtimes LIST[:LIST] of the libraries; default: cpu:cpu,gpu, one archive for each
  -wheels ABI[,ABI...]  Python packages; default: host,arm64; none: without any
  -help                 print this

Each flag may be written with two dashes and with '=' too. BAZEL, BAZEL_STARTUP_FLAGS
and BAZEL_FLAGS are those of tools/build-standalone-lib.sh.
TEXT
}

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 2
}

abis=host,arm64,armhf
runtimes=cpu:cpu,gpu
wheels=host,arm64
while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  flag=${flag/#--/-}
  case $flag in
    -abi | -runtimes | -wheels)
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      else
        [[ $# -ge 2 ]] || fail "$1 needs a value; see -help"
        value=$2
        shift
      fi
      [[ -n $value ]] || fail "$flag needs a value; see -help"
      case $flag in
        -abi) abis=$value ;;
        -runtimes) runtimes=$value ;;
        *) wheels=$value ;;
      esac
      ;;
    -h | -help)
      usage
      exit 0
      ;;
    *) fail "unknown argument '$1'; see -help" ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# --- Which release. ----------------------------------------------------------

[[ -z $(git status --porcelain) ]] ||
  fail "there are changes that no commit has (git status): commit or stash them"
version=$(sed -n 's/^MACE_VERSION = "\(.*\)"/\1/p' mace/version.bzl)
name=mace-$version
tag=$(git tag --points-at HEAD --list 'v*' | sort | tail -1)
if [[ -z $tag ]]; then
  name+=-g$(git rev-parse --short=10 HEAD)
  echo "package: no release: this commit has no tag v$version"
else
  [[ $tag == "v$version" ]] || fail "the tag of this commit is $tag," \
    "but mace/version.bzl says $version: change one of them"
  grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" \
    docs/development/changelog.md || fail "docs/development/changelog.md has no" \
    "line '## $version (YYYY-MM-DD)': say what is new in this release"
fi

mkdir -p build
stage=$(mktemp -d build/.release.XXXXXX)
trap 'rm -rf "$stage"' EXIT
made=$stage/$name
mkdir "$made"

# --- What it consists of. ----------------------------------------------------

# Owners, times and order of the files that go into an archive are no facts of the
# release: those of its commit and of the alphabet stand for them.
time=$(git log -1 --format=%ct)
readonly time
archive() {
  local folder=$1
  find "$stage/$folder" -type d -exec chmod 755 {} +
  tar --create --directory="$stage" --format=ustar --sort=name "--mtime=@$time" \
    --owner=0 --group=0 --numeric-owner "$folder" |
    gzip --no-name --best >"$made/$folder.tar.gz"
}

quietly() {
  "$@" >"$stage/log" 2>&1 || {
    cat "$stage/log" >&2
    fail "'$*' failed (its messages are above)"
  }
}

android=()
for abi in ${abis//,/ }; do
  case $abi in
    arm64-v8a | armeabi-v7a) android+=("$abi") ;;
  esac
  platform=$abi
  [[ $abi != host ]] || platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
  for kind in ${runtimes//:/ }; do
    folder=lib$name-$platform-${kind//,/_}
    echo "package: $folder"
    quietly bash tools/build-standalone-lib.sh "-abi=$abi" "-runtimes=$kind" \
      "-install=$stage/$folder"
    cp LICENSE "$stage/$folder/LICENSE"
    archive "$folder"
  done
done

if [[ ${#android[@]} -gt 0 ]]; then
  for kind in ${runtimes//:/ }; do
    echo "package: mace.aar, $kind"
    list=${android[*]}
    quietly bash tools/build-aar.sh "-abi=${list// /,}" "-runtimes=$kind"
    cp "build/aar/${kind//,/_}/mace.aar" "$made/$name-${kind//,/_}.aar"
  done
fi

if [[ $wheels != none ]]; then
  echo "package: Python packages"
  rm -f "build/wheel/mace-$version-"*.whl
  quietly bash tools/build-wheel.sh "-abi=$wheels"
  cp "build/wheel/mace-$version-"*.whl "$made/"
fi

echo "package: sources"
git archive --format=tar --prefix="$name/" HEAD |
  gzip --no-name --best >"$made/$name-sources.tar.gz"

# --- One folder, when it is whole. -------------------------------------------

chmod 644 "$made"/*
(cd "$made" && LC_ALL=C sha256sum -- * >"../sums" && mv ../sums SHA256SUMS)
target=build/release/$name
mkdir -p build/release
[[ ! -e $target ]] || mv "$target" "$stage/old"
mv "$made" "$target"
while read -r _ file; do
  printf '%9d bytes  %s\n' "$(stat -c %s "$target/$file")" "$target/$file"
done <"$target/SHA256SUMS"
