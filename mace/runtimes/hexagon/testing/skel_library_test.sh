#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the loader of a DSP finds in libmace_hexagon_skel.so: one function to call, and
# none to look for but those that the DSP's system has. It is as large as the page for
# users says.
#
# Usage: skel_library_test.sh LIBRARY PAGE
set -euo pipefail
library=$1
page=$2
fail() {
  echo "$*" >&2
  exit 1
}

symbols=$(llvm-readelf-19 --dyn-syms "$library" |
  awk '$8 != "" && $1 ~ /^[0-9]+:$/ {print ($7 == "UND" ? "needs" : "has"), $5, $8}' |
  sort)
expected="has GLOBAL mace_hexagon_skel_handle_invoke
needs GLOBAL HAP_perf_get_pcycles
needs GLOBAL HAP_power_set
needs WEAK HAP_query_total_VTCM
needs WEAK HAP_release_VTCM
needs WEAK HAP_request_VTCM
needs WEAK qurt_futex_wait
needs WEAK qurt_futex_wake
needs WEAK qurt_hvx_get_units
needs WEAK qurt_hvx_lock
needs WEAK qurt_hvx_unlock
needs WEAK qurt_thread_create
needs WEAK qurt_thread_exit
needs WEAK qurt_thread_get_id
needs WEAK qurt_thread_get_priority
needs WEAK qurt_thread_join"
[[ $symbols == "$expected" ]] || fail "found: $symbols"

header=$(llvm-readelf-19 -h "$library")
[[ $header == *"DYN (Shared object file)"*"Qualcomm Hexagon"* ]] || fail "$header"
dynamic=$(llvm-readelf-19 -d "$library")
[[ $dynamic == *"soname: [libmace_hexagon_skel.so]"* ]] || fail "$dynamic"
# Text relocations are refused, and a library would have to be on the phone, too.
for tag in TEXTREL NEEDED INIT; do
  [[ $dynamic != *"($tag"* ]] || fail "$dynamic"
done

# Within 5 %, in KB of 1000 bytes.
promised=$(tr '\n' ' ' <"$page" |
  sed -nE 's/.*libmace_hexagon_skel\.so., which is one file of ([0-9]+) KB.*/\1/p')
[[ -n $promised ]] || fail "$page does not say how large libmace_hexagon_skel.so is"
bytes=$(stat -L -c %s "$library")
difference=$((bytes - promised * 1000))
((${difference#-} <= promised * 50)) ||
  fail "libmace_hexagon_skel.so has $bytes bytes, but $page says $promised KB"
