# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what models are, what of them can be converted, and where they run.

Imports nothing here: the command line needs the options of this room where its
packages are not installed.
"""
