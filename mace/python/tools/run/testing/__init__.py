# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by the tests of this folder."""
