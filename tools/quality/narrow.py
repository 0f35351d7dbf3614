# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of `tools/test.sh --changed`: what a change can affect here."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Iterable, List, Sequence, Set, Tuple

from tools.quality.changes import Modules, is_native, room_of
from tools.quality.test_steps import (
    COMMANDS,
    IMPORTERS,
    IN_OTHER_STEPS,
    OF_OTHERS,
    OPS_VARIABLE,
    PAGES_VARIABLE,
    VARIABLE,
    Step,
    pytest_step,
)

# Run all cases of ONNX in the native engine, and those with certain operators.
_ALL_CASES = "test/conformance/onnx/backend_test.py"
_CASES = "test/conformance/onnx/operators_test.py"
_TYPE = re.compile(r"^(?:op|type|name): *(\w+)", re.MULTILINE)


def _is_in(name: str, places: Iterable[str]) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in places)


def _types_of(root: Path, room: str) -> Set[str]:
    """The types of operators that a room declares."""
    found = set()
    for path in (root / "mace/ops" / room).glob("*.op.yaml"):
        found.update(_TYPE.findall(path.read_text(encoding="utf-8"))[:1])
    return found


def narrowed(
    known: Sequence[Step], root: Path, changed: Sequence[Path], modules: Modules
) -> Tuple[Step, ...]:
    """Those of the steps that changes can affect, with the tests that they can.

    Native tests are all asked for: Bazel runs those whose programs changed. A change
    in the room of an operator affects that room, and the cases of networks and of
    ONNX that have the operator; other native code affects all that runs native code.

    Args:
        known: the steps of a run for this computer.
        root: of the checkout.
        changed: files that were changed, made or removed.
        modules: all in Python.
    """
    names = [path.as_posix() for path in changed]
    native = [name for name in names if is_native(name)]
    tests = modules.tests_affected_by(names)
    environment: List[str] = [f"{VARIABLE}=1"]
    types = {kind for name in native for kind in _types_of(root, room_of(name))}
    if native and types and _ALL_CASES not in tests:
        tests += [_CASES] * (_CASES not in tests)
        environment.append(f"{OPS_VARIABLE}={','.join(sorted(types))}")
    steps = {step.name: step for step in known}
    found: List[Step] = []
    if native:
        host = steps["host"]
        if any(OF_OTHERS.search(name) for name in native):
            words = (word for word in host.command if not word.startswith("-//"))
            host = replace(host, command=tuple(words))
        found.append(host)
    pages = [name for name in names if name.endswith(".md") and (root / name).exists()]
    if COMMANDS in tests or pages:
        more = () if COMMANDS in tests else (f"{PAGES_VARIABLE}={','.join(pages)}",)
        step = steps["commands"]
        found.append(replace(step, command=("env", *more, *step.command)))
    importers = [name for name in tests if _is_in(name, IMPORTERS)]
    if importers:
        found.append(pytest_step(steps["importers"], environment, importers))
    rest = [name for name in tests if not _is_in(name, IN_OTHER_STEPS)]
    if rest:
        # Alone, and so with two processes.
        step = replace(steps["python"], cores=2)
        found.append(pytest_step(step, environment, rest))
    if names:
        check = (sys.executable, "tools/check.py")
        found.append(replace(steps["check"], command=check))
    return tuple(found)
