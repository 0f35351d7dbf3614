#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/peers/setup.sh
#
# Installs the engines of requirements.txt into build/peers-venv, apart from
# .venv: they must not decide the versions that MACE's own tools see. Does
# nothing if they are there. MACE_PYTHON names the Python to use.

set -euo pipefail

fail() {
  printf 'peers/setup: %s\n' "$*" >&2
  exit 2
}

[[ $# -eq 0 ]] || fail "takes no arguments, found '$1'"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here venv=$here/../../build/peers-venv
readonly stamp=$venv/installed.txt
python=${MACE_PYTHON:-python3}

command -v "$python" >/dev/null ||
  fail "$python is missing: install Python 3.11 or set MACE_PYTHON"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" -V) is too old for the engines: set MACE_PYTHON to" \
    "Python 3.11 or newer"

if cmp -s "$here/requirements.txt" "$stamp"; then
  exit 0
fi
rm -rf "$venv"
mkdir -p "$(dirname "$venv")"
"$python" -m venv "$venv" || fail "$python cannot make a virtual environment"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  --no-deps -r "$here/requirements.txt" ||
  fail "pip could not install requirements.txt, see above"
# These scripts install a logging package and report each use to a server.
# formats.py calls the converter below them.
rm -f "$venv"/bin/{mnn,mnnconvert,mnnquant}
cp "$here/requirements.txt" "$stamp"
