# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the models of a deployment: `convert.convert_deployment`.

Imports nothing here: the command line needs the options of this room where its
packages are not installed.
"""
