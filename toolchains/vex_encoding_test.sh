#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: vex_encoding_test.sh OBJDUMP INSTRUCTION OBJECT...
# Fails if an object has an instruction of AVX-512 (its first byte is 62), or if
# none has INSTRUCTION. Processors that run the kernels for AVX2 have no AVX-512,
# and the same name may be encoded either way.
set -eu
objdump=$1
instruction=$2
shift 2
found=0
bad=0
for object in "$@"; do
  case $object in
    *.a | *.lo | *.o) ;;
    *) continue ;;
  esac
  code=$("$objdump" --disassemble "$object")
  evex=$(printf '%s\n' "$code" | grep -E '^ *[0-9a-f]+: 62 ' || true)
  if [ -n "$evex" ]; then
    printf '%s: instructions of AVX-512:\n%s\n' "$object" "$evex"
    bad=1
  fi
  count=$(printf '%s\n' "$code" |
    grep -cE "^ *[0-9a-f]+: c[45] .*[[:space:]]${instruction}[[:space:]]" || true)
  found=$((found + count))
done
if [ "$found" -eq 0 ]; then
  echo "no $instruction"
  exit 1
fi
echo "$found times $instruction"
exit $bad
