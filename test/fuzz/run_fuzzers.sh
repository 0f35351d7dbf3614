#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/fuzz/run_fuzzers.sh [--seconds N | --count N] [--seed N]
#
# Fuzzes the readers of files for N seconds (default 60): the native reader of
# models for two thirds of them, under the sanitizers of addresses and of
# undefined behaviour, then the converter's readers of all frameworks
# (fuzz_importers.py), which are Python. With --count, until N damaged files were
# read, however long that takes: nine tenths by the native reader, the rest by the
# converter's, in equal shares. The first corpus is generated; what is found stays in
# build/fuzz, so that later runs go on from there. Ends with status 0 if nothing
# was found, 1 with the path of the input that crashed, 2 on misuse.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=60
count=
seed=1
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds | --count | --seed)
      if ! [[ "${2:-}" =~ ^[0-9]+$ ]]; then
        echo "run_fuzzers.sh: $1 needs a number" >&2
        exit 2
      fi
      case "$1" in
        --seconds) seconds=$2 count= ;;
        --count) count=$2 ;;
        --seed) seed=$2 ;;
      esac
      shift 2
      ;;
    *)
      echo "run_fuzzers.sh: unknown argument '$1'; known: --seconds N," \
        "--count N, --seed N" >&2
      exit 2
      ;;
  esac
done

# shellcheck source=tools/run_bazel.sh
source tools/run_bazel.sh

# The path of the program that a build with the same flags made.
program() {
  run_bazel cquery "$@" --output=starlark \
    --starlark:expr='target.files.to_list()[0].path' 2>/dev/null
}

# Without them, only linking fails, after all has been compiled.
for runtime in asan fuzzer; do
  library=$(clang-19 -print-file-name="libclang_rt.$runtime-$(uname -m).a")
  if [ ! -f "$library" ]; then
    echo "run_fuzzers.sh: $library is missing: run 'bash tools/setup.sh" \
      "--for test', or sudo apt install libclang-rt-19-dev" >&2
    exit 2
  fi
done

readonly flags=(--config=sanitize)
run_bazel build "${flags[@]}" //test/fuzz:model_reader_fuzz
run_bazel build //test/fuzz:write_model_seeds

fuzzer=build/fuzz/model_reader
mkdir -p "$fuzzer/corpus" "$fuzzer/seeds" "$fuzzer/found"
seed_writer=$(program //test/fuzz:write_model_seeds)
binary=$(program "${flags[@]}" //test/fuzz:model_reader_fuzz)
"$seed_writer" "$fuzzer/seeds"

# A model may ask for terabytes: an allocation above 512 MiB returns null.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=512
if [ -n "$count" ]; then
  native=$((count - count / 10))
  amount=(-runs="$native")
  rest=(--count "$((count / 10))")
  echo "fuzzing the model reader with $native inputs, seed $seed"
else
  native=$((seconds * 2 / 3))
  amount=(-max_total_time="$native")
  rest=(--seconds "$((seconds - native))")
  echo "fuzzing the model reader for $native s, seed $seed"
fi
if ! "$binary" "${amount[@]}" -seed="$seed" -max_len=4096 \
  -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=4096 -print_final_stats=1 \
  -artifact_prefix="$fuzzer/found/" "$fuzzer/corpus" "$fuzzer/seeds" \
  2>"$fuzzer/log"; then
  grep -E "ERROR|SUMMARY|    #[0-9]+ " "$fuzzer/log" | head -20 >&2 || true
  echo "run_fuzzers.sh: the model reader failed; log: $fuzzer/log," \
    "inputs: $fuzzer/found" >&2
  exit 1
fi
grep -E "stat::number_of_executed_units|stat::average_exec" "$fuzzer/log"

echo "fuzzing the converter's readers (${rest[*]}), seed $seed"
"${MACE_VENV:-.venv}/bin/python" -m test.fuzz.fuzz_importers \
  "${rest[@]}" --seed "$seed"
echo "no fault found"
