# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE on a GPU compared with other engines; see README.md."""
