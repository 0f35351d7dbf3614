# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators with TensorFlow's meaning; see README.md."""
