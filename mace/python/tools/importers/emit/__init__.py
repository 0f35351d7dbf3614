# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of MACE for what frameworks have as one; see README.md."""
