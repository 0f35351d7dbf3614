# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks every requirement and decides whether a task can run."""

from __future__ import annotations

import enum
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import AbstractSet, Any, Dict, List, Tuple

from mace.python.tools.doctor import phones
from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.probes import Found
from mace.python.tools.doctor.requirements import Requirement, requirements
from mace.python.tools.doctor.tasks import Task, included, read_tasks


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
    if phones.DSP in wanted:
        pieces += phones.dsp_phones(computer)
    if phones.ACCELERATORS in wanted:
        pieces += phones.accelerator_phones(computer)
    with ThreadPoolExecutor(max_workers=8) as executor:
        seen = list(executor.map(lambda item: item.probe(computer), pieces))
    return Diagnosis(
        tasks[task],
        tuple(
            Finding(requirement, found, _judge(requirement, found, wanted, computer))
            for requirement, found in zip(pieces, seen)
        ),
    )
