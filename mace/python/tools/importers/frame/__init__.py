# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What all importers share around their handlers; see README.md."""
