#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/peers/setup.sh
#
# Installs the engines of requirements.txt into build/peers-venv, apart from
# .venv. Does nothing if they are there. MACE_PYTHON names the Python to use.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here engines=$here/../../build/peers-venv
# shellcheck source=benchmarks/venv.sh
source "$here/../venv.sh"

[[ $# -eq 0 ]] || fail "takes no arguments, found '$1'"
make_venv "$engines" "$here/requirements.txt"
# These scripts install a logging package and report each use to a server.
# formats.py calls the converter below them.
rm -f "$engines"/bin/{mnn,mnnconvert,mnnquant}
