# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds to a deployment what its models say of themselves; see README.md."""
