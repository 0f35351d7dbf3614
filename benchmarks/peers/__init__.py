# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE compared with other inference engines from PyPI."""
