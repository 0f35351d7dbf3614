#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/clear_workspace.sh [--expunge]
#
# Removes what builds and tests left in this checkout: build/, Bazel's outputs
# and the caches of the Python tools. --expunge also stops Bazel and removes
# its whole output tree and .venv. The disk cache and downloaded models, which
# other checkouts share, stay.

set -euo pipefail

expunge=()
case ${1:-} in
  '') ;;
  --expunge) expunge=(--expunge) ;;
  -h | --help)
    sed -n '5,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *)
    echo "clear_workspace: unknown argument '$1'; see --help" >&2
    exit 2
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/run_bazel.sh
source tools/run_bazel.sh
if command -v "$bazel_program" >/dev/null; then
  run_bazel clean ${expunge[@]+"${expunge[@]}"} 2>&1 |
    grep -E '^(ERROR|WARNING)' || true
fi
rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis docs/_build
if [[ -L builds ]]; then rm builds; fi
find . -path ./.venv -prune -o -name __pycache__ -type d -prune \
  -exec rm -rf {} +
if [[ ${#expunge[@]} -gt 0 ]]; then rm -rf .venv; fi
echo "workspace cleared"
