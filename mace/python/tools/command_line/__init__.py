# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What every command line of the tools is built of."""
