# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of GPU kernels that need no GPU; see figures.py."""
