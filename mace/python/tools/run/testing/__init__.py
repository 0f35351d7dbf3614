# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of this room share."""
