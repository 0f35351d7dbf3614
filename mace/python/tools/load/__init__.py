# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loads deployments, with what their models say of themselves; see README.md."""
