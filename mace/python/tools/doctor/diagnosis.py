# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks every requirement and decides whether a task can run."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import AbstractSet, Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from mace.python.tools.accelerator_facts import SCRIPT, Check, DspFacts
from mace.python.tools.accelerator_facts import checks as accelerator_checks
from mace.python.tools.accelerator_facts import script as accelerator_script
from mace.python.tools.build_tools import NDK_REMEDY
from mace.python.tools.doctor.computer import Computer, Found, Probe, set_ndk
from mace.python.tools.doctor.requirements import (
    Requirement,
    Task,
    included,
    read_tasks,
    requirements,
)


class State(enum.Enum):
    """The state of one piece."""

    GOOD = "ok"
    MISSING = "missing"
    UNFIT = "unfit"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Finding:
    """One requirement and what was found of it.

    Attributes:
        requirement: the piece.
        found: what its probe saw.
        state: NOT_NEEDED if it is missing or unfit and the task does without, by
            itself or by what else was found.
    """

    requirement: Requirement
    found: Found
    state: State


@dataclass(frozen=True)
class Diagnosis:
    """All findings for a task."""

    task: Task
    findings: Tuple[Finding, ...]

    @property
    def problems(self) -> List[Finding]:
        """The findings that prevent the task."""
        bad = (State.MISSING, State.UNFIT)
        return [finding for finding in self.findings if finding.state in bad]

    @property
    def ready(self) -> bool:
        """Whether the task can run."""
        return not self.problems

    @property
    def remedies(self) -> List[str]:
        """The commands that solve all problems, each once."""
        mends = (problem.requirement.mend for problem in self.problems)
        return list(dict.fromkeys(mends))

    def as_json(self) -> Dict[str, Any]:
        """The form of ``--json``."""
        return {
            "task": self.task.name,
            "ready": self.ready,
            "remedies": self.remedies,
            "checks": [
                {
                    "name": finding.requirement.name,
                    "group": finding.requirement.group,
                    "state": finding.state.value,
                    "found": finding.found.text,
                    "needed": finding.requirement.needed,
                    "tasks": list(finding.requirement.tasks),
                    "use": finding.requirement.use,
                    "mend": finding.requirement.mend,
                }
                for finding in self.findings
            ],
        }


def _judge(
    requirement: Requirement,
    found: Found,
    wanted: AbstractSet[str],
    computer: Computer,
) -> State:
    if found.good:
        return State.GOOD
    needing = wanted & set(requirement.tasks)
    if all(_spares(requirement, task, computer) for task in needing):
        return State.NOT_NEEDED
    return State.UNFIT if found.text else State.MISSING


def _spares(requirement: Requirement, task: str, computer: Computer) -> bool:
    probe = requirement.spared.get(task)
    return probe is not None and probe(computer).good


def diagnose(task: str, computer: Computer) -> Diagnosis:
    """Checks everything, and decides which pieces the task needs."""
    tasks = read_tasks(computer.root)
    wanted = included(tasks, task)
    pieces = requirements(computer.root)
    if DSP in wanted:
        pieces += dsp_phones(computer)
    if ACCELERATORS in wanted:
        pieces += accelerator_phones(computer)
    with ThreadPoolExecutor(max_workers=8) as executor:
        seen = list(executor.map(lambda item: item.probe(computer), pieces))
    return Diagnosis(
        tasks[task],
        tuple(
            Finding(requirement, found, _judge(requirement, found, wanted, computer))
            for requirement, found in zip(pieces, seen)
        ),
    )


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
    NDK_REMEDY,
    set_ndk,
)
_PHONE = Requirement(
    "phone",
    _GROUP,
    "one that adb devices lists",
    (ACCELERATORS,),
    "connect a phone with USB debugging, and allow it on its screen",
    lambda _: Found(False),
)
