#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/demo.sh
#
# From a clean checkout to a validated, benchmarked model on this computer:
# sets up, builds libmace and mace_run, converts the example model, compares it
# with ONNX Runtime, says where its time goes, and classifies sample images.

set -euo pipefail

case $* in
  '') ;;
  -h | --help)
    sed -n '5,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *)
    echo "demo: unknown argument '$1'; see --help" >&2
    exit 2
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly config=mace/examples/digits/digits.yml
step() { printf '\n== %s\n' "$*"; }

step 'Set up'
bash tools/setup.sh --for validate

step 'Build libmace for this computer'
bash tools/build-standalone-lib.sh -abi=host

step 'Convert the model'
"${MACE_VENV:-.venv}/bin/python" tools/converter.py convert --config="$config"

step 'Run, validate against ONNX Runtime, benchmark'
"${MACE_VENV:-.venv}/bin/python" tools/converter.py run --config="$config" \
  --validate --benchmark --report

step 'Classify images'
"${MACE_VENV:-.venv}/bin/python" mace/examples/digits/demo.py

step 'Look at'
echo 'build/digits/digits.png                     the images and what the model saw'
echo 'build/digits/report/digits_host_cpu.html    where the time goes'
