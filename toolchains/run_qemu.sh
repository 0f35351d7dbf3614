#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run_qemu.sh EMULATOR SYSROOT PROGRAM [ARGUMENT...]
# Runs an ARM program by user-mode emulation; a script runs as it is. The
# model of the core is MACE_QEMU_CPU, by default one with every extension. The
# program finds MACE_EMULATED set, for what emulation can't do.
set -eu
emulator=$1
sysroot=$2
shift 2
case $(head -c 4 "$1" | tail -c 3) in
  ELF) ;;
  *) exec "$@" ;;
esac
if ! command -v "$emulator" >/dev/null; then
  echo "$emulator not found: run 'bash tools/setup.sh --for cross'" >&2
  exit 2
fi
export MACE_EMULATED=1
exec "$emulator" -cpu "${MACE_QEMU_CPU:-max}" -L "$sysroot" "$@"
