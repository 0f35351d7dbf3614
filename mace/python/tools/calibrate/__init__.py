# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes models by samples that it runs; see README.md."""
