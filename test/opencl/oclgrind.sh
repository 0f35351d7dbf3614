#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/opencl/oclgrind.sh PROGRAM [ARGUMENT...]
#
# Runs a program with OpenCL on Oclgrind, which simulates every work-item: accesses
# outside of buffers, images and local memory, data races. Exit status: the program's;
# 1 if it is 0 and Oclgrind found something; 2 if there is no Oclgrind (package
# oclgrind).
#
# MACE_OCLGRIND_PREFIX: where it is installed, if not in /usr.
# OCLGRIND_UNINITIALIZED=1: also decisions that depend on uninitialised values.
# Oclgrind 21.10 then reports what it reads from images, and ends at "freeze"
# instructions, which its compiler makes of most kernels.

set -euo pipefail

if [[ $# -eq 0 || $1 == -h || $1 == --help ]]; then
  sed -n '5,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi

prefix=${MACE_OCLGRIND_PREFIX:-/usr}
driver=$prefix/lib/oclgrind/liboclgrind-rt-icd.so
if [[ ! -f $driver ]]; then
  echo "oclgrind.sh: no $driver; install it: sudo apt-get install oclgrind" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s' "$driver" >"$work/oclgrind.icd"
export OCL_ICD_VENDORS=$work/oclgrind.icd
export OCLGRIND_LOG=$work/log
export OCLGRIND_DATA_RACES=1
# Its compiler corrupts memory if two threads use it.
export MACE_TEST_OPENCL_BUILD_ONE_BY_ONE=1
if [[ $prefix != /usr ]]; then
  export LD_LIBRARY_PATH=$prefix/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-}
  headers=("$prefix"/lib/x86_64-linux-gnu/oclgrind/*/opencl-c.h)
  export OCLGRIND_PCH_DIR=${headers[0]%/*}
fi

status=0
"$@" || status=$?
if [[ -s $work/log ]]; then
  cat "$work/log" >&2
  echo "oclgrind.sh: errors in kernels, see above" >&2
  if [[ $status -eq 0 ]]; then status=1; fi
fi
exit "$status"
