# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MACE beside the other inference engines that PyPI offers."""
