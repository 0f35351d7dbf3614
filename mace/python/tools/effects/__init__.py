# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What keys and flags do: `check_effects` tells what a command cannot honour."""

from mace.python.tools.effects.effect import Command
from mace.python.tools.effects.judge import check_effects

__all__ = ["Command", "check_effects"]
