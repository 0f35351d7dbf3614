#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/opencl/oclgrind_test.sh OCLGRIND PROGRAM OPS_TEST
#
# That Oclgrind finds each mistake of broken_kernels_program, and none in kernels of
# operators. Without Oclgrind (package oclgrind) the test fails.

set -euo pipefail

oclgrind=$1 program=$2 ops_test=$3
failed=0

# expect STATUS TEXT KERNEL: how the kernel's run ends, and what is said of it.
expect() {
  local status=0
  bash "$oclgrind" "$program" "$3" >"$TEST_TMPDIR/said" 2>&1 || status=$?
  if [[ $status -ne $1 ]] || ! grep -q "$2" "$TEST_TMPDIR/said"; then
    echo "$3: exit status $status, expected $1 and '$2':" >&2
    cat "$TEST_TMPDIR/said" >&2
    failed=1
  fi
}

expect 0 'OpenCL error 0' right
expect 1 'Invalid read' reads_beyond
expect 1 'Invalid read' reads_before
expect 1 'Invalid write' writes_beyond
expect 1 'Invalid write' local_beyond
expect 1 'data race' races

# Tests of ops_test with few work-items.
bash "$oclgrind" "$ops_test" --gtest_filter="$OPS_FILTER" \
  2>&1 | tee "$TEST_TMPDIR/ops"
# A filter that fits nothing would pass.
grep -q ' runs on the GPU' "$TEST_TMPDIR/ops" || failed=1
exit "$failed"
