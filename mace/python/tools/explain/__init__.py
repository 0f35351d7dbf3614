# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Says where a model's operators run: `explain.explain_deployment`.

Imports nothing here: the command line needs the options of this room where its
packages are not installed.
"""
