# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the phones that adb lists have for models on their DSP or accelerator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, List, NamedTuple, Optional, Tuple

from mace.python.tools.accelerator_facts import checks as accelerator_checks
from mace.python.tools.accelerator_facts import script as accelerator_script
from mace.python.tools.android_ndk import REMEDY
from mace.python.tools.doctor import probes
from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.probes import Found, Probe
from mace.python.tools.doctor.requirements import Requirement
from mace.python.tools.dsp_facts import SCRIPT, Check, DspFacts

# Of the doctor.
DSP = "dsp"
ACCELERATORS = "accelerators"

_GROUP = "Accelerators"

_LISTED = re.compile(
    r"^(\S+)\s+(device|offline|unauthorized)\b(?:.*\bmodel:(\S+))?", re.M
)
_STATES = {
    "offline": "plug it in again, or adb reconnect",
    "unauthorized": "confirm on its screen that this computer may use it",
}


class Question(NamedTuple):
    """What each phone is asked.

    Attributes:
        task: of the doctor.
        title: of a phone's checks, before its name.
        script: for its shell; prints what `judge` reads.
        enough: of a phone's checks, how many have to be good: `all` or `any`.
    """

    task: str
    title: str
    script: str
    judge: Callable[[str], Tuple[Check, ...]]
    enough: Callable[[Iterable[object]], bool]


def ask_phones(
    computer: Computer, question: Question
) -> Optional[Tuple[Requirement, ...]]:
    """The checks of each phone; None without adb.

    A phone that cannot be used does not matter if another one can.
    """
    devices = computer.output(["adb", "devices", "-l"])
    if devices is None:
        return None
    listed = _LISTED.findall(devices)
    with ThreadPoolExecutor(max_workers=8) as executor:
        checks = list(
            executor.map(lambda one: _checks(computer, question, *one[:2]), listed)
        )
    is_usable = any(question.enough(c.good for c in of_one) for of_one in checks)
    rows: List[Requirement] = []
    for (serial, _, model), of_one in zip(listed, checks):
        name = f"{model.replace('_', ' ')} ({serial})" if model else serial
        group = f"{question.title} of {name}"
        rows += _requirements(question.task, group, of_one, is_usable)
    return tuple(rows)


def _checks(
    computer: Computer, question: Question, serial: str, state: str
) -> Tuple[Check, ...]:
    if state != "device":
        return (Check("phone", False, state, "a phone that answers", _STATES[state]),)
    output = computer.output(["adb", "-s", serial, "shell", question.script])
    if output is None:
        mend = _STATES["offline"]
        return (Check("phone", False, "no answer", "a phone that answers", mend),)
    return question.judge(output)


def _requirements(
    task: str, group: str, checks: Tuple[Check, ...], is_usable: bool
) -> Iterator[Requirement]:
    for check in checks:
        yield Requirement(
            check.name,
            group,
            check.needed,
            (task,),
            check.mend,
            _known(Found(check.good, check.found)),
            spared={task: _known(Found(is_usable))},
        )


def _known(found: Found) -> Probe:
    return lambda _: found


_DSP_QUESTION = Question(
    DSP, "DSP", SCRIPT, lambda output: DspFacts.of(output).checks, all
)


def dsp_phones(computer: Computer) -> Tuple[Requirement, ...]:
    """The checks of each phone; none where there is none: this computer emulates it."""
    return ask_phones(computer, _DSP_QUESTION) or ()


def accelerator_phones(computer: Computer) -> Tuple[Requirement, ...]:
    """An NDK, and the checks of each phone: one accelerator of one phone will do."""
    variables = computer.variables
    question = Question(
        ACCELERATORS,
        _GROUP,
        accelerator_script(variables),
        lambda output: accelerator_checks(output, variables),
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
    (ACCELERATORS,),
    REMEDY,
    probes.set_ndk,
)
_PHONE = Requirement(
    "phone",
    _GROUP,
    "one that adb devices lists",
    (ACCELERATORS,),
    "connect a phone with USB debugging, and allow it on its screen",
    lambda _: Found(False),
)
