#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# The --run_under of the hexagon configurations: programs for the DSP in qemu-hexagon.
# The model of the core is MACE_QEMU_HEXAGON_CPU, by default the emulator's only one or
# the one that the program was compiled for.
set -eu
case $(head -c 4 "$1" | tail -c 3) in
  ELF) ;;
  *) exec "$@" ;;
esac
if ! command -v qemu-hexagon >/dev/null; then
  echo "qemu-hexagon not found: run 'bash tools/setup.sh --for cross'" >&2
  exit 2
fi
if [ -n "${MACE_QEMU_HEXAGON_CPU:-}" ]; then
  exec qemu-hexagon -cpu "$MACE_QEMU_HEXAGON_CPU" "$@"
fi
exec qemu-hexagon "$@"
