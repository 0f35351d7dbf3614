# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shape rules, one file per family; found by `OpTable`."""
