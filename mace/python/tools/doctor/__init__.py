# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what this computer lacks for a task, and the command that installs it.

Imports only the standard library: the doctor must work when nothing else does.
"""

from __future__ import annotations

from mace.python.tools.doctor.command import add_arguments, run
from mace.python.tools.doctor.diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "add_arguments", "diagnose", "run"]
