# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The host side of MACE: from a trained model to files a device runs."""
