# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A computer whose adb lists phones, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Tuple

from mace.python.tools.doctor.computer import Computer
from mace.python.tools.doctor.diagnosis import State, _judge
from mace.python.tools.doctor.requirements import Requirement


def computer_with(
    folder: Path, phones: Dict[str, str], variables: Optional[Mapping[str, str]] = None
) -> Computer:
    """A computer whose adb lists these phones, with the answer or state of each.

    Args:
        phones: by model; one line is a state, several are what the phone answers.
        variables: besides PATH.
    """
    listed, answers = "", ""
    for number, (model, answer) in enumerate(phones.items()):
        state = answer if "\n" not in answer else "device"
        listed += f"s{number}    {state} usb:1-{number} product:p model:{model}\n"
        if state == "device":
            answers += f"  's{number}') cat <<'END'\n{answer}END\n;;\n"
    adb = folder / "adb"
    adb.write_text(
        "#!/bin/sh\nPATH=/bin:/usr/bin\ncase $2 in\n"
        f"  -l) cat <<'END'\nList of devices attached\n{listed}END\n;;\n"
        f"{answers}esac\n"
    )
    adb.chmod(0o755)
    return Computer(folder, {"PATH": str(folder), **(variables or {})})


def told(
    computer: Computer, task: str, look: Callable[[Computer], Tuple[Requirement, ...]]
) -> List[str]:
    """What prevents a task, as "group: check: found"."""
    lines = []
    for piece in look(computer):
        found = piece.probe(computer)
        if _judge(piece, found, {task}, computer) in (State.MISSING, State.UNFIT):
            assert piece.mend
            lines.append(f"{piece.group}: {piece.name}: {found.text}")
    return lines
