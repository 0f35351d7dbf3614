# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts here share; they source it.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect TITLE COMMAND...: the command ends well.
expect() {
  local what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    printf 'ok      %s\n' "$what"
  else
    printf 'FAILED  %s\n' "$what"
    sed 's/^/        /' "$work/log"
    failures=$((failures + 1))
  fi
}

triple_of() {
  case $1 in
    host) echo x86_64-linux-gnu ;;
    arm64) echo aarch64-linux-gnu ;;
    armhf) echo arm-linux-gnueabihf ;;
    *)
      echo "unknown ABI $1: use host, arm64, armhf" >&2
      return 2
      ;;
  esac
}

run_on() {
  local abi=$1
  shift
  case $abi in
    host) "$@" ;;
    arm64) qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu "$@" ;;
    armhf) qemu-arm -cpu max -L /usr/arm-linux-gnueabihf "$@" ;;
  esac
}

# Ends a script by what was found.
finish() {
  printf '%d failures\n' "$failures"
  [[ $failures -eq 0 ]]
}
