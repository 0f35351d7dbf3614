#!/bin/sh
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: isa_symbols_test.sh NM OBJECT...
# Fails if an object compiled for one instruction set exports a symbol outside
# the namespace of that instruction set. The linker keeps one copy of such a
# function for the whole program, and it may be the AVX-512 one.
set -eu
nm=$1
shift
checked=0
bad=0
for object in "$@"; do
  case $object in
    *.a | *.lo | *.o) ;;
    *) continue ;;
  esac
  checked=$((checked + 1))
  symbols=$("$nm" --demangle --extern-only --defined-only --no-sort \
    --format=just-symbols "$object" | grep -v ':$' | sed '/^$/d') || true
  if [ -z "$symbols" ]; then
    echo "$object: no symbols; is it empty?"
    bad=1
  fi
  outside=$(printf '%s\n' "$symbols" |
    grep -vE '(^|[^A-Za-z0-9_])(sse41|avx2|avx2_vnni|avx512|avx512_vnni|avx512_bf16|amx_bf16|amx_emulated|neon|neon_fp16|neon_dotprod)::' || true)
  if [ -n "$outside" ]; then
    printf '%s: outside the namespace of its instruction set:\n%s\n' \
      "$object" "$outside"
    bad=1
  fi
done
if [ "$checked" -eq 0 ]; then
  echo "no objects given"
  exit 1
fi
echo "$checked libraries checked"
exit $bad
