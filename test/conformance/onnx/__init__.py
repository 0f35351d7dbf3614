# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own conformance cases, run through MACE; see README.md."""
