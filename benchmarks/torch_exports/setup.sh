#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash benchmarks/torch_exports/setup.sh
#
# Installs PyTorch and the network libraries in requirements.txt into
# build/exports-venv, which is separate from .venv. Does nothing if they are already
# installed. MACE_PYTHON names the Python to use.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# shellcheck source=benchmarks/venv.sh
source "$here/../venv.sh"

[[ $# -eq 0 ]] || fail "takes no arguments, found '$1'"
make_venv "$here/../../build/exports-venv" "$here/requirements.txt"
