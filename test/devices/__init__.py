# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tools on phones and boards, as users do."""
