#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/test.sh [--only STEP]... [--no-gaps] [--list]
#
# Installs what the tests need (tools/setup.sh), runs them all, or the chosen
# steps, and ends with "N passed, N failed". Skipped tests are counted, and named
# unless tools/quality/skips.py expects them; with --no-gaps they are failures.
# Logs stay in build/test.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Bazel and pip keep their caches at home; a CI job may not say where it is.
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
export HOME

bash tools/setup.sh --for "test,docs" </dev/null
exec "${MACE_VENV:-.venv}/bin/python" -m tools.quality.run_steps "$@"
