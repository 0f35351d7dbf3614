#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Another name of build-standalone-lib.sh, for scripts written for it.
exec bash "$(dirname "${BASH_SOURCE[0]}")/build-standalone-lib.sh" "$@"
