# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The host side of MACE: turns a trained model into files that a device runs."""
