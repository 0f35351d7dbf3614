# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Handlers of TensorFlow nodes, one family per file."""
