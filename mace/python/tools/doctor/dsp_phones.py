# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the phones that adb lists need to run models on their DSP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import List, Tuple

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.probes import Found, Probe
from mace.python.tools.doctor.requirements import Requirement
from mace.python.tools.dsp_facts import SCRIPT, Check, DspFacts

TASK = "dsp"

_LISTED = re.compile(
    r"^(\S+)\s+(device|offline|unauthorized)\b(?:.*\bmodel:(\S+))?", re.M
)
_STATES = {
    "offline": "plug it in again, or adb reconnect",
    "unauthorized": "confirm on its screen that this computer may use it",
}


def dsp_phones(computer: Computer) -> Tuple[Requirement, ...]:
    """The checks of each phone; none where adb lists none.

    A phone that cannot be used does not matter if another one can.
    """
    listed = _LISTED.findall(computer.output(["adb", "devices", "-l"]) or "")
    if not listed:
        return ()
    with ThreadPoolExecutor(max_workers=8) as executor:
        checks = list(executor.map(lambda one: _checks(computer, *one[:2]), listed))
    is_usable = any(all(check.good for check in of_one) for of_one in checks)
    rows: List[Requirement] = []
    for (serial, _, model), of_one in zip(listed, checks):
        name = f"{model.replace('_', ' ')} ({serial})" if model else serial
        rows += _requirements(f"DSP of {name}", of_one, is_usable)
    return tuple(rows)


def _checks(computer: Computer, serial: str, state: str) -> Tuple[Check, ...]:
    if state != "device":
        return (Check("phone", False, state, "a phone that answers", _STATES[state]),)
    output = computer.output(["adb", "-s", serial, "shell", SCRIPT])
    if output is None:
        mend = _STATES["offline"]
        return (Check("phone", False, "no answer", "a phone that answers", mend),)
    return DspFacts.of(output).checks


def _requirements(
    group: str, checks: Tuple[Check, ...], is_usable: bool
) -> Iterator[Requirement]:
    for check in checks:
        yield Requirement(
            check.name,
            group,
            check.needed,
            (TASK,),
            check.mend,
            _known(Found(check.good, check.found)),
            spared={TASK: _known(Found(is_usable))},
        )


def _known(found: Found) -> Probe:
    return lambda _: found
