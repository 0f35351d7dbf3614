# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what models take, return and are made of."""
