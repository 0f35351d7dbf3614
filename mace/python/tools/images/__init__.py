# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images as input files of a run, and output files as images."""
