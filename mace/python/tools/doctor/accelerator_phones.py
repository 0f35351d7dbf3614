# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the phones that adb lists have of the libraries of accelerators' vendors."""

from __future__ import annotations

from typing import Tuple

from mace.python.tools.accelerator_facts import checks, script
from mace.python.tools.android_ndk import REMEDY
from mace.python.tools.doctor import probes
from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.phones import Question, ask_phones
from mace.python.tools.doctor.probes import Found
from mace.python.tools.doctor.requirements import Requirement

TASK = "accelerators"

_GROUP = "Accelerators"


def accelerator_phones(computer: Computer) -> Tuple[Requirement, ...]:
    """An NDK, and the checks of each phone: one accelerator of one phone will do."""
    variables = computer.variables
    question = Question(
        TASK,
        _GROUP,
        script(variables),
        lambda output: checks(output, variables),
        any,
    )
    phones = ask_phones(computer, question)
    if phones is None:
        # That adb is missing is said elsewhere.
        return (_NDK,)
    return (_NDK, *(phones or (_PHONE,)))


_NDK = Requirement(
    "NDK for mace_run",
    _GROUP,
    ">= r21: a program that is linked statically cannot open a vendor's library",
    (TASK,),
    REMEDY,
    probes.set_ndk,
)
_PHONE = Requirement(
    "phone",
    _GROUP,
    "one that adb devices lists",
    (TASK,),
    "connect a phone with USB debugging, and allow it on its screen",
    lambda _: Found(False),
)
