#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: sudo bash test/docker/build.sh [--base FOLDER] [--lite]
#
# Builds the images of docker/ without a Docker daemon, by buildah, and runs
# the commands of README.md in them, as their user and on a fresh clone.
#
#   --base FOLDER  a root folder of Debian 12 for the base image, for example
#                  one that knows your network's certificates; without it,
#                  debootstrap makes one
#   --lite         mace-dev-lite alone
#
# Images and clone are in a temporary folder (TMPDIR) and go at the end.

set -euo pipefail

fail() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 2
}

step() { printf '\n== %s\n' "$*"; }

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
base=
editions=(mace-dev-lite mace-dev)
while [[ $# -gt 0 ]]; do
  case $1 in
    --base)
      [[ $# -ge 2 ]] || fail "--base needs a folder"
      base=$2
      shift
      ;;
    --lite) editions=(mace-dev-lite) ;;
    *) fail "unknown argument '$1'; known: --base FOLDER, --lite" ;;
  esac
  shift
done
[[ $(id -u) -eq 0 ]] || fail "needs root: changes the owners of an image's files"
[[ -z $base || -x $base/bin/bash ]] || fail "--base $base is no root folder"
needed=(buildah git)
[[ -n $base ]] || needed+=(debootstrap)
missing=()
for program in "${needed[@]}"; do
  command -v "$program" >/dev/null || missing+=("$program")
done
[[ ${#missing[@]} -eq 0 ]] ||
  fail "to install: apt-get install --no-install-recommends ${missing[*]}"

work=$(mktemp -d)
readonly work
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
images() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
finish() {
  images rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

tag=$(sed -n 's/^FROM //p' docker/mace-dev-lite/Dockerfile)
step "Base image $tag"
if [[ -z $base ]]; then
  base=$work/base
  debootstrap --variant=minbase bookworm "$base" >"$work/log" 2>&1 || {
    tail -3 "$work/log" >&2
    fail "debootstrap made no Debian 12 (--base FOLDER takes one that is there)"
  }
fi
container=$(images from scratch)
images add --quiet "$container" "$base" / >/dev/null
images commit --quiet --rm "$container" "docker.io/library/$tag" >/dev/null

# As users of the image have it: a checkout of theirs, mounted.
git clone --quiet . "$work/checkout"
chown -R 1000:1000 "$work/checkout"
inside() {
  local container=$1
  shift
  images run --user 1000:1000 --workingdir /mace -v "$work/checkout:/mace" \
    "$container" -- "$@"
}

for edition in "${editions[@]}"; do
  step "Image $edition"
  images bud --format docker --pull-never --quiet --tag "$edition" \
    --build-arg LITE=localhost/mace-dev-lite:latest "./docker/$edition"
  container=$(images from --pull-never "localhost/$edition:latest")
  step "README in $edition"
  # The two pages' commands that need no pytest; the full image has it.
  inside "$container" bash tools/demo.sh
  inside "$container" python3 tools/converter.py doctor
  if [[ $edition == mace-dev ]]; then
    inside "$container" python -m pytest -q -p no:cacheprovider \
      test/docs/commands_test.py -k "README.md and not ops and not phone and not board"
  fi
done
step "Built and tried: ${editions[*]}"
