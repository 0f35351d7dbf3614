# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy functions of the operators, one file per family."""
