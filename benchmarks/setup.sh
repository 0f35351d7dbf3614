#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/setup.sh peers|exports
#
# Installs packages for benchmarks, exactly those of a list (--no-deps). They are
# kept separate from .venv, so that they do not change the package versions of
# MACE's own tools. Does nothing if they are there. MACE_PYTHON names the Python.
#
#   peers    the engines of peers/requirements.txt, into build/peers-venv
#   exports  PyTorch and libraries of networks, of torch_exports/requirements.txt,
#            into build/exports-venv

set -euo pipefail

fail() {
  printf 'benchmarks/setup: %s\n' "$*" >&2
  exit 2
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here build=$here/../build python=${MACE_PYTHON:-python3}

case ${1-} in
  peers) folder=peers ;;
  exports) folder=torch_exports ;;
  -h | --help)
    sed -n '5,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) fail "found '${1-}', accepted: peers, exports" ;;
esac
[[ $# -eq 1 ]] || fail "takes one argument, found '$2'"
readonly folder venv=$build/$1-venv requirements=$here/$folder/requirements.txt

command -v "$python" >/dev/null ||
  fail "$python is missing: install Python 3.11 or set MACE_PYTHON"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$("$python" -V) is too old for the packages: set MACE_PYTHON to" \
    "Python 3.11 or newer"
if ! cmp -s "$requirements" "$venv/installed.txt"; then
  rm -rf "$venv"
  mkdir -p "$build"
  "$python" -m venv "$venv" || fail "$python cannot make a virtual environment"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --no-deps -r "$requirements" ||
    fail "pip could not install $requirements, see above"
  cp "$requirements" "$venv/installed.txt"
fi
# These scripts install a logging package and report each use to a server.
# peers/formats.py calls the converter below them.
rm -f "$venv"/bin/{mnn,mnnconvert,mnnquant}
