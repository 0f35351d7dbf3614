# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the room of a new operator; see README.md."""

from mace.python.tools.new_op.room import add_arguments, run

__all__ = ["add_arguments", "run"]
