# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU runtime on 64-bit ARM: PoCL of that architecture, in qemu."""
