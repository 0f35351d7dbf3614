# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what of a model can be converted: `check.check_deployment`.

Imports nothing here: the command line needs the options of this room where its
packages are not installed.
"""
