# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the phones that adb lists need to run models on their DSP."""

from __future__ import annotations

from typing import Tuple

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.phones import Question, ask_phones
from mace.python.tools.doctor.requirements import Requirement
from mace.python.tools.dsp_facts import SCRIPT, DspFacts

TASK = "dsp"

_QUESTION = Question(
    TASK, "DSP", SCRIPT, lambda output: DspFacts.of(output).checks, all
)


def dsp_phones(computer: Computer) -> Tuple[Requirement, ...]:
    """The checks of each phone; none where there is none: this computer emulates it."""
    return ask_phones(computer, _QUESTION) or ()
