# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of frozen graphs, by the names of TensorFlow's `transform_graph`."""
