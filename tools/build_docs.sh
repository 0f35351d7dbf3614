#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash tools/build_docs.sh
#
# Builds the documentation into build/docs; a warning is an error.

set -euo pipefail

case $* in
  '') ;;
  -h | --help)
    sed -n '5,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *)
    echo "build_docs: unknown argument '$1'; see --help" >&2
    exit 2
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly python=${MACE_VENV:-.venv}/bin/python

if ! "$python" -c 'import sphinx, myst_parser, furo' 2>/dev/null; then
  echo "build_docs: Sphinx is missing: run 'bash tools/setup.sh --for docs'" >&2
  exit 2
fi
# From scratch each time: a page that was removed must not stay.
rm -rf build/docs
"$python" -m sphinx -b html -W --keep-going -q -d build/docs/.doctrees \
  docs build/docs
rm -rf build/docs/.doctrees
echo "documentation: build/docs/index.html"
