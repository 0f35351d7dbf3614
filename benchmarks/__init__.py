# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of MACE beside other engines."""
