# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deployment files: `load.load_deployment(path)` gives a `Deployment`."""
