#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: sudo bash test/docker/build.sh [--base FOLDER] [--lite] [--no-readme]
#
# Builds the images of docker/, by Docker where its daemon runs, else by buildah. Then,
# inside them: installs the Python package and runs a model with it, and runs the
# commands of README.md, as the images' user and on a fresh clone. Says how many
# seconds each part took.
#
#   --base FOLDER  a root folder of Debian 12 that becomes the base image; without it,
#                  the base image is pulled, and where no registry can be reached,
#                  debootstrap makes one
#   --lite         mace-dev-lite alone
#   --no-readme    without the commands of README.md, which build MACE inside
#
# Images and clone are removed at the end; TMPDIR says where buildah's are meanwhile.

set -euo pipefail

fail() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 2
}

part=
step() {
  [[ -z $part ]] || printf '   (%s: %d s)\n' "$part" "$SECONDS"
  part=$1
  SECONDS=0
  [[ -z $part ]] || printf '== %s\n' "$part"
}

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
base=
editions=(mace-dev-lite mace-dev)
readme=true
while [[ $# -gt 0 ]]; do
  case $1 in
    --base)
      [[ $# -ge 2 ]] || fail "--base needs a folder"
      base=$2
      shift
      ;;
    --lite) editions=(mace-dev-lite) ;;
    --no-readme) readme=false ;;
    -h | --help)
      sed -n '5,20s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown argument '$1'; known: --base FOLDER, --lite, --no-readme" ;;
  esac
  shift
done
[[ -z $base || -x $base/bin/bash ]] || fail "--base $base is no root folder"

# --- With what. ----------------------------------------------------------------

engine=
if command -v docker >/dev/null && timeout 20 docker info >/dev/null 2>&1; then
  engine=docker
elif command -v buildah >/dev/null; then
  [[ $(id -u) -eq 0 ]] || fail "buildah needs root: an image's files have owners"
  engine=buildah
else
  fail "neither Docker's daemon nor buildah is here: run" \
    "'bash tools/setup.sh --for images', or start the daemon"
fi

work=$(mktemp -d)
readonly work
# Names that nobody else's images have.
image_of() { echo "mace-test-$1"; }

finish() {
  if [[ $engine == docker ]]; then
    for edition in mace-dev mace-dev-lite; do
      docker image rm --force "$(image_of "$edition")" >/dev/null 2>&1 || true
    done
  else
    images rm --all >/dev/null 2>&1 || true
    umount "$work/images/$driver" 2>/dev/null || true
  fi
  rm -rf "$work"
}

driver=overlay
limit=  # seconds for the next command
images() {
  TMPDIR=$work ${limit:+timeout "$limit"} buildah --storage-driver "$driver" --root "$work/images" \
    --runroot "$work/run" "$@"
}
trap finish EXIT
if [[ $engine == buildah ]]; then
  export BUILDAH_ISOLATION=chroot
  # Where the kernel allows none, each layer is a copy.
  if ! images from scratch >/dev/null 2>&1; then
    rm -rf "$work/images" "$work/run"
    driver=vfs
  fi
  echo "with buildah ($driver): no daemon of Docker answers"
fi

# --- The base image. -------------------------------------------------------------

tag=$(sed -n 's/^FROM //p' docker/mace-dev-lite/Dockerfile)
readonly tag release=bookworm

pull_base() {
  if [[ $engine == docker ]]; then
    timeout 300 docker pull --quiet "$tag"
  else
    limit=300 images pull --quiet "docker.io/library/$tag"
  fi >"$work/log" 2>&1
}

# What this computer knows of its network: its mirror, proxies and certificates.
copy_network_settings() {
  local root=$1 file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    if [[ -s $file ]] && grep -q "$release" "$file"; then
      rm -f "$root/etc/apt/sources.list"
      cp "$file" "$root$file"
    fi
  done
  while read -r file; do
    cp "$file" "$root/etc/apt/apt.conf.d/"
  done < <(grep -ls '^Acquire::' /etc/apt/apt.conf.d/* || true)
  mkdir -p "$root/usr/local/share/ca-certificates"
  find -L /usr/local/share/ca-certificates -maxdepth 1 -name '*.crt' \
    -exec cp {} "$root/usr/local/share/ca-certificates/" \; 2>/dev/null || true
  [[ ! -e /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/pip.conf"
}

make_base() {
  local mirror
  command -v debootstrap >/dev/null ||
    fail "no debootstrap here: run 'bash tools/setup.sh --for images'"
  mirror=$(apt-get indextargets --format "\$(REPO_URI)" "Codename: $release" \
    2>/dev/null | head -1 || true)
  base=$work/base
  debootstrap --variant=minbase "$release" "$base" ${mirror:+"$mirror"} \
    >"$work/log" 2>&1 || {
    tail -3 "$work/log" >&2
    fail "debootstrap made no Debian 12 (--base FOLDER takes one that is there)"
  }
  copy_network_settings "$base"
}

import_base() {
  local container
  if [[ $engine == docker ]]; then
    tar -C "$base" -c . | docker import - "$tag" >/dev/null
  else
    container=$(images from scratch)
    images add --quiet "$container" "$base" / >/dev/null
    images commit --quiet --rm "$container" "docker.io/library/$tag" >/dev/null
  fi
}

step "base image $tag"
if [[ -n $base ]]; then
  echo "of the folder $base"
  import_base
elif pull_base; then
  echo "pulled"
else
  echo "cannot be pulled: $(tail -1 "$work/log" | cut -c1-150)"
  echo "made by debootstrap instead, with this computer's settings of the network"
  make_base
  import_base
fi
rm -rf "$work/base"

# --- The images. -----------------------------------------------------------------

build() {
  local words=(--tag "$(image_of "$1")"
    --build-arg "LITE=$(image_of mace-dev-lite)" "./docker/$1")
  if [[ $engine == docker ]]; then
    docker build --quiet "${words[@]}"
  else
    words[3]="LITE=localhost/$(image_of mace-dev-lite):latest"
    images bud --format docker --pull-never "${words[@]}"
  fi >"$work/log" 2>&1 || {
    tail -20 "$work/log" >&2
    fail "$1 cannot be built (its messages are above)"
  }
}

# Runs a command in an image, with the checkout as users have it.
inside() {
  local edition=$1 container status=0
  shift
  local mounts=(-v "$work/checkout:/mace" -v "$work/cache:/home/mace/.cache"
    -v "$work/wheel:/wheel:ro")
  if [[ $engine == docker ]]; then
    docker run --rm "${mounts[@]}" "$(image_of "$edition")" "$@"
    return
  fi
  container=$(images from --pull-never "localhost/$(image_of "$edition"):latest")
  images run --user 1000:1000 --workingdir /mace "${mounts[@]}" "$container" -- "$@" ||
    status=$?
  images rm "$container" >/dev/null
  return $status
}

step "Python package"
wheel=$(bash tools/build-wheel.sh | tail -1)
mkdir "$work/wheel" "$work/cache"
wheel=${wheel##* }
cp "$wheel" test/docker/try_wheel.sh "$work/wheel/"
git clone --quiet . "$work/checkout"
chown -R 1000:1000 "$work/checkout" "$work/cache"
chmod 755 "$work"

for edition in "${editions[@]}"; do
  step "image $edition"
  build "$edition"
  step "Python package in $edition"
  inside "$edition" bash /wheel/try_wheel.sh "/wheel/${wheel##*/}" \
    mace/examples/digits/digits.onnx
  $readme || continue
  step "README in $edition"
  # The two pages' commands that need no pytest; the full image has it.
  inside "$edition" bash tools/demo.sh
  inside "$edition" python3 tools/converter.py doctor
  if [[ $edition == mace-dev ]]; then
    inside "$edition" python -m pytest -q -p no:cacheprovider \
      test/docs/commands_test.py -k "README.md and not ops and not phone and not board"
  fi
done
step ""
echo "built and tried: ${editions[*]}"
