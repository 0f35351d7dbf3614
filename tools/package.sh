#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the archives of a release. The same commit makes the same bytes.

set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: bash tools/package.sh [FLAG...]

Writes build/release/NAME: the library for each ABI with its headers and mace_run, the
Android library, the Python package, the sources, and SHA256SUMS. NAME is mace-VERSION
where the commit has the tag vVERSION, else mace-VERSION-gCOMMIT, which is no release.

Before it builds anything, it says what it cannot make here, and why. What was named by
a flag, and all of a release, must be possible; otherwise the rest is made.

  -abi ABI[,ABI...]     default: host,arm64,armhf,arm64-v8a,armeabi-v7a; the last two are
                        of Android, need an NDK that ANDROID_NDK_HOME names, and make
                        mace.aar
  -runtimes LIST[:LIST] of the libraries, one archive for each list; default:
                        cpu:cpu,gpu, and for arm64 and Android cpu,gpu,dsp
  -wheels ABI[,ABI...]  Python packages; default: host,arm64; none: without any
  -out FOLDER           instead of build/release
  -check                make nothing; only say what can be made
  -help                 print this

Each flag may be written with two dashes and with '=' too. BAZEL, BAZEL_STARTUP_FLAGS
and BAZEL_FLAGS are those of tools/build-standalone-lib.sh.
TEXT
}

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 2
}

abis=
runtimes=
wheels=
out=
check_only=false
while [[ $# -gt 0 ]]; do
  flag=${1%%=*}
  flag=${flag/#--/-}
  case $flag in
    -abi | -runtimes | -wheels | -out)
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      else
        [[ $# -ge 2 ]] || fail "$1 needs a value; see -help"
        value=$2
        shift
      fi
      [[ -n ${value//[,:]/} ]] || fail "$flag needs a value; see -help"
      case $flag in
        -abi) abis=$value ;;
        -runtimes) runtimes=$value ;;
        -out) out=$value ;;
        *) wheels=$value ;;
      esac
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
[[ -z $out ]] || out=$(realpath -m "$out")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${out:-$PWD/build/release}

# --- What can be made here. --------------------------------------------------

# The lists of runtimes for an ABI: computers and 32-bit boards have no DSP.
kinds_of() {
  local default=cpu:cpu,gpu
  case $1 in
    arm64 | arm64-v8a | armeabi-v7a) default+=:cpu,gpu,dsp ;;
  esac
  default=${runtimes:-$default}
  echo "${default//:/ }"
}

impossible=()
refused=false

# Whether a command succeeds. If not, keeps its reason for what cannot be made then.
is_possible() {
  local what=$1 is_named=$2 reason
  shift 2
  if reason=$(bash "$@" 2>&1 >/dev/null); then return 0; fi
  reason=${reason##*$'\n'}
  impossible+=("$what: ${reason#build-*: }")
  if $is_named; then refused=true; fi
  return 1
}

if [[ -n $runtimes ]]; then
  is_possible "libraries for $runtimes" true tools/build-standalone-lib.sh -check \
    -abi=host "-runtimes=${runtimes//:/,}" || true
fi
libraries=()
android=()
is_named=$([[ -n $abis ]] && echo true || echo false)
for abi in $(tr ',' ' ' <<<"${abis:-host,arm64,armhf,arm64-v8a,armeabi-v7a}"); do
  is_possible "libraries for $abi" "$is_named" tools/build-standalone-lib.sh -check \
    "-abi=$abi" || continue
  libraries+=("$abi")
  case $abi in
    arm64-v8a | armeabi-v7a) android+=("$abi") ;;
  esac
done
if [[ ${#android[@]} -gt 0 ]]; then
  is_possible mace.aar "$is_named" tools/build-aar.sh -check \
    "-abi=$(IFS=, && echo "${android[*]}")" || android=()
fi
is_named=$([[ -n $wheels ]] && echo true || echo false)
packages=()
for abi in $(tr ',' ' ' <<<"${wheels:-host,arm64}"); do
  [[ $abi != none ]] || continue
  is_possible "the Python package for $abi" "$is_named" tools/build-wheel.sh -check \
    "-abi=$abi" || continue
  packages+=("$abi")
done

tell_impossible() {
  [[ ${#impossible[@]} -eq 0 ]] || printf 'package: cannot make %s\n' "${impossible[@]}"
}
tell_impossible >&2
if $refused; then fail "nothing was made: a flag names it"; fi

# --- Which release. ----------------------------------------------------------

[[ -z $(git status --porcelain) ]] ||
  fail "there are changes that no commit has (git status): commit or stash them"
version=$(sed -n 's/^MACE_VERSION = "\(.*\)"/\1/p' mace/version.bzl)
name=mace-$version
number=$version  # of the Python package
tag=$(git tag --points-at HEAD --list 'v*' | sort | tail -1)
label=()
if [[ -z $tag ]]; then
  commit=g$(git rev-parse --short=10 HEAD)
  name+=-$commit
  number+=+$commit
  label=("-label=$commit")
  echo "package: no release: this commit has no tag v$version"
else
  [[ $tag == "v$version" ]] || fail "the tag of this commit is $tag," \
    "but mace/version.bzl says $version: change one of them"
  grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" \
    docs/development/changelog.md || fail "docs/development/changelog.md has no" \
    "line '## $version (YYYY-MM-DD)': say what is new in this release"
  if [[ ${#packages[@]} -gt 0 ]]; then
    "${MACE_VENV:-.venv}/bin/python" setup/lock.py --check || fail "the Python package" \
      "of a release is made with pinned packages (above): see setup/locked.txt"
  fi
  [[ ${#impossible[@]} -eq 0 ]] || fail "a release has all of it: provide what is" \
    "missing, or say by -abi and -wheels what to make"
fi
if $check_only; then
  [[ ${#impossible[@]} -eq 0 ]] || exit 2
  echo "package: all can be made"
  exit 0
fi

mkdir -p "$out"
stage=$(mktemp -d "$out/.release.XXXXXX")
trap 'rm -rf "$stage"' EXIT
made=$stage/$name
mkdir "$made"

# --- What it consists of. ----------------------------------------------------

# Owners, times, permissions and order of the files that go into an archive are no
# facts of the release: those of its commit, of all readers and of the alphabet stand
# for them.
time=$(git log -1 --format=%ct)
readonly time
archive() {
  local folder=$1
  tar --create --directory="$stage" --format=ustar --sort=name "--mtime=@$time" \
    --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$folder" |
    gzip --no-name --best >"$made/$folder.tar.gz"
}

quietly() {
  "$@" >"$stage/log" 2>&1 || {
    cat "$stage/log" >&2
    fail "'$*' failed (its messages are above)"
  }
}

for abi in "${libraries[@]}"; do
  platform=$abi
  [[ $abi != host ]] || platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
  for kind in $(kinds_of "$abi"); do
    folder=lib$name-$platform-${kind//,/_}
    echo "package: $folder"
    quietly bash tools/build-standalone-lib.sh "-abi=$abi" "-runtimes=$kind" \
      -mace_run "-install=$stage/$folder"
    cp LICENSE "$stage/$folder/LICENSE"
    archive "$folder"
  done
done

if [[ ${#android[@]} -gt 0 ]]; then
  for kind in $(kinds_of "${android[0]}"); do
    echo "package: mace.aar, $kind"
    quietly bash tools/build-aar.sh "-abi=$(IFS=, && echo "${android[*]}")" \
      "-runtimes=$kind"
    cp "build/aar/${kind//,/_}/mace.aar" "$made/$name-${kind//,/_}.aar"
  done
fi

if [[ ${#packages[@]} -gt 0 ]]; then
  echo "package: Python packages"
  rm -f "build/wheel/mace-$number-"*.whl
  quietly bash tools/build-wheel.sh "-abi=$(IFS=, && echo "${packages[*]}")" \
    "${label[@]}"
  cp "build/wheel/mace-$number-"*.whl "$made/"
fi

echo "package: sources"
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD |
  gzip --no-name --best >"$made/$name-sources.tar.gz"

# --- One folder, when it is whole. -------------------------------------------

chmod 644 "$made"/*
(cd "$made" && LC_ALL=C sha256sum -- * >"../sums" && mv ../sums SHA256SUMS)
target=$out/$name
[[ ! -e $target ]] || mv "$target" "$stage/old"
mv "$made" "$target"
while read -r _ file; do
  file=${target#"$PWD/"}/$file
  printf '%9d bytes  %s\n' "$(stat -c %s "$file")" "$file"
done <"$target/SHA256SUMS"
tell_impossible
