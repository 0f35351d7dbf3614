# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs every command in README files and the documentation."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from typing import Dict, List, Mapping, Tuple

import pytest

from test.docs import places
from test.docs.blocks import COMPUTER, ROOT, Block, all_blocks
from test.docs.ci_scripts import problem_of
from test.here import only_with_all
from tools.quality.test_steps import PAGES_VARIABLE

_PAGES = os.environ.get(PAGES_VARIABLE)
_BLOCKS = [
    block for block in all_blocks() if _PAGES is None or block.page in _PAGES.split(",")
]
_SHOWN_LINES = 60
# In commands that are typed on this computer.
_ELSEWHERE = re.compile(
    r"arm64|armhf|sanitize|test\.device_farm|--for (farm|devices)\b"
    # Without -abi it builds for all of them.
    r"|build-standalone-lib\.sh *(#.*)?$",
    re.MULTILINE,
)


def blocks(key: str) -> List[Block]:
    return [block for block in _BLOCKS if block.key == key]


class Session:
    """The places that were needed so far, and the variables that pages exported
    there.
    """

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._places: Dict[str, places.Place] = {}
        self._exported: Dict[Tuple[str, str], Mapping[str, str]] = {}

    def _place(self, name: str) -> places.Place:
        if name not in self._places:
            make = {
                COMPUTER: places.computer,
                "phone": places.phone,
                "board": places.board,
                "new-board": places.new_board,
            }[name]
            self._places[name] = self._stack.enter_context(make())
        return self._places[name]

    def run(self, block: Block) -> places.Result:
        place = self._place(block.value)
        terminal = (block.page, block.value)
        with places.present(place.files):
            variables = self._exported.get(terminal, place.variables)
            result = places.run(block, variables)
        self._exported[terminal] = result.variables
        return result


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    def end(*_: object) -> None:
        pytest.exit("ended from outside")

    # After a plain SIGTERM, the farm, the block and files in the checkout would remain.
    before = signal.signal(signal.SIGTERM, end)
    with contextlib.ExitStack() as stack:
        yield Session(stack)
    signal.signal(signal.SIGTERM, before)


def may_sudo() -> bool:
    if os.geteuid() == 0:
        return True
    if shutil.which("sudo") is None:
        return False
    return not subprocess.run(["sudo", "-n", "true"], check=False).returncode


@pytest.mark.parametrize(
    "block", blocks("run-on"), ids=lambda block: f"{block.name}-{block.value}"
)
def test_commands_work(block: Block, session: Session) -> None:
    if block.value != COMPUTER or _ELSEWHERE.search(block.text):
        only_with_all("commands for other processors and devices, and sanitizers")
    if "board" in block.value and os.geteuid() != 0:
        pytest.skip("the farm's boards need root")
    if "sudo " in block.text and not may_sudo():
        pytest.skip("needs root, or sudo that asks for no password")
    result = session.run(block)
    if result.status:
        lines = result.output.splitlines()[-_SHOWN_LINES:]
        pytest.fail(
            f"{block.name} ended with status {result.status}:\n{block.text}\n"
            + "\n".join(lines),
            pytrace=False,
        )


@pytest.mark.parametrize("block", blocks("run-by"), ids=lambda block: block.name)
def test_commands_are_run_by_ci(block: Block) -> None:
    problem = problem_of(block, ROOT)
    if problem:
        pytest.fail(problem, pytrace=False)


def test_commands_leave_open_where_python_is() -> None:
    """The environment may be another folder, as in the Docker images."""
    run = [block for block in _BLOCKS if block.key == "run-on"]
    assert [block.name for block in run if ".venv/bin/python" in block.text] == []


def test_git_ignores_what_readers_have() -> None:
    """Beside these commands, other steps make packages, which are of commits."""
    names = [*places.STAND_INS, places.DEVICES_YML]
    command = ["git", "check-ignore", "--no-index", *names]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == names


def test_pages_have_commands() -> None:
    pages = {block.page for block in all_blocks()}
    assert "README.md" in pages
    assert len(pages) > 10
