# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by the scripts that install packages for benchmarks. They are kept
# separate from .venv, so that they do not change the package versions of MACE's
# own tools.

fail() {
  printf '%s: %s\n' "$0" "$*" >&2
  exit 2
}

# make_venv VENV REQUIREMENTS
#
# Installs exactly the list REQUIREMENTS (--no-deps) into a new VENV.
# Does nothing if VENV has that list already. MACE_PYTHON names the Python.
make_venv() {
  local venv=$1 requirements=$2 python=${MACE_PYTHON:-python3}
  command -v "$python" >/dev/null ||
    fail "$python is missing: install Python 3.11 or set MACE_PYTHON"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" -V) is too old for the packages: set MACE_PYTHON to" \
      "Python 3.11 or newer"
  if cmp -s "$requirements" "$venv/installed.txt"; then
    return
  fi
  rm -rf "$venv"
  mkdir -p "$(dirname "$venv")"
  "$python" -m venv "$venv" || fail "$python cannot make a virtual environment"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --no-deps -r "$requirements" ||
    fail "pip could not install $requirements, see above"
  cp "$requirements" "$venv/installed.txt"
}
