# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of networks in small sizes, for families.py: one module for each field."""
