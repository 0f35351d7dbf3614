# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""The version of the library, for builds that have no label of their own."""

MACE_VERSION = "0.1.0"
