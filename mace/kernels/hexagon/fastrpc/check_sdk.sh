#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares MACE's declarations for FastRPC with the headers of Qualcomm's Hexagon SDK, in
# the folder that HEXAGON_SDK_ROOT names. MACE needs no SDK; whoever has one can check
# that they agree. Ends with 0 if they do.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
sdk=${HEXAGON_SDK_ROOT:-}
if [[ ! -f $sdk/incs/remote.h ]]; then
  echo "HEXAGON_SDK_ROOT ('$sdk') names no Hexagon SDK: it has no incs/remote.h" >&2
  exit 2
fi
includes=(-I"$root" -isystem "$sdk/incs" -isystem "$sdk/incs/stddef")
# Where versions of the SDK have rpcmem.h and qurt_thread.h.
for folder in "$sdk"/ipc/fastrpc/rpcmem/inc "$sdk"/libs/common/rpcmem/inc \
  "$sdk"/rtos/qurt/computev*/include/qurt; do
  [[ -d $folder ]] && includes+=(-isystem "$folder")
done

check() {
  clang++-19 -std=c++17 -fsyntax-only -Wno-invalid-offsetof -Wno-enum-compare \
    "${includes[@]}" "$@"
}

folder=$root/mace/kernels/hexagon/fastrpc
check --target=hexagon -mcpu=hexagonv66 -ffreestanding -x c++ "$folder/sdk_dsp.inc"
check -x c++ "$folder/sdk_host.inc"
echo "MACE's declarations for FastRPC agree with $sdk"
