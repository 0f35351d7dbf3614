# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tools on phones and boards, as their users call them."""
