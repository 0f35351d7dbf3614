# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import List

import pytest

from test.docs import places
from test.docs.blocks import COMPUTER, ROOT, Block, MarkerError, blocks_of
from test.docs.ci_scripts import problem_of, scripts


def only(text: str) -> Block:
    found = list(blocks_of("page.md", text))
    assert len(found) == 1
    return found[0]


def test_block_without_marker_is_run_here() -> None:
    block = only("# Title\n\n```bash\necho one\necho two\n```\n")
    assert (block.key, block.value) == ("run-on", COMPUTER)
    assert block.name == "page.md:4"
    assert block.text == "echo one\necho two\n"


@pytest.mark.parametrize(
    "page",
    [
        "<!-- run-on: phone -->\n```bash\nadb devices\n```",
        "Text\n\n<!-- run-on: phone -->\n\n```bash\nadb devices\n```",
        "- an item\n\n  <!-- run-on:\n  phone -->\n  ```bash\n  adb devices\n  ```",
    ],
)
def test_marker_stands_right_before(page: str) -> None:
    block = only(page)
    assert (block.key, block.value) == ("run-on", "phone")
    assert block.text == "adb devices\n"


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("<!-- run-on: moon -->\n```bash\nls\n```", "'moon' is none of computer"),
        ("<!-- not-run: -->\n```bash\nls\n```", "wants a reason"),
        ("<!-- not-run: too long -->\n```bash\nls\n```", "wants a reason"),
        ("<!-- run-by: -->\n```bash\nls\n```", "wants the script"),
        ("<!-- no-run: what a nice day -->\n```bash\nls\n```", "no-run: is none of"),
        ("<!-- run-on: phone -->\n\nText.\n\n```bash\nls\n```", "before no block"),
        ("<!-- run-on: phone -->\n```text\nls\n```", "before no block"),
        ("<!-- run-on: phone -->", "before no block"),
        ("```sh\nls\n```", "call the language bash"),
        ("```console\n$ ls\n```", "call the language bash"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(page: str, complaint: str) -> None:
    with pytest.raises(MarkerError, match=complaint):
        list(blocks_of("page.md", page))


def test_other_comments_are_left_alone() -> None:
    assert only("<!-- a remark -->\n```bash\nls\n```").value == COMPUTER
    assert list(blocks_of("page.md", "<!-- note: text -->\n\nText.")) == []


def test_commands_are_joined_and_bare() -> None:
    block = only("```bash\n# first\nrun --a \\\n    --b   # why\n\nrun '#1'\n```")
    assert block.commands() == ["run --a --b", "run '#1'"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / ".ci" / "run").write_text('exec bash tools/test.sh "$@"\n')
    (tmp_path / "tools" / "test.sh").write_text("bash tools/setup.sh --for test\n")
    (tmp_path / "tools" / "demo.sh").write_text(".venv/bin/python tools/x.py --a\n")
    (tmp_path / "tools" / "other.sh").write_text("ls\n")
    return tmp_path


@pytest.mark.parametrize(
    ("script", "command", "problem"),
    [
        (".ci/run", "bash tools/test.sh", ""),
        ("tools/test.sh", "bash tools/setup.sh --for test  # all", ""),
        ("tools/test.sh", "bash tools/demo.sh", ""),
        ("tools/demo.sh", "python tools/x.py --a", ""),
        ("tools/demo.sh", "python tools/x.py", "does not run: python tools/x.py"),
        ("tools/other.sh", "ls", "CI does not run tools/other.sh"),
        ("tools/none.sh", "ls", "CI does not run tools/none.sh"),
    ],
)
def test_run_by_is_checked(
    checkout: Path, script: str, command: str, problem: str
) -> None:
    block = only(f"<!-- run-by: {script} -->\n```bash\n{command}\n```")
    found = problem_of(block, checkout)
    assert problem in found
    assert bool(problem) == bool(found)


def test_scripts_of_this_checkout() -> None:
    assert "bash tools/demo.sh" in scripts(ROOT)["tools/test.sh"]


def run(text: str) -> places.Result:
    return places.run(only(f"```bash\n{text}\n```"), dict(os.environ))


def test_block_ends_at_its_first_failure() -> None:
    result = run("echo one\nfalse\necho two")
    assert (result.status, result.output) == (1, "one\n")
    assert run("false | true").status != 0
    assert run("exit 3").status == 3


def test_exports_stay_and_other_variables_do_not() -> None:
    result = run("export ONE='a\nb'\nTWO=2")
    assert result.status == 0
    assert result.variables["ONE"] == "a\nb"
    assert "TWO" not in result.variables


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # which nobody has waited for yet


def test_what_a_block_leaves_running_is_ended() -> None:
    result = run("sleep 1000 &\necho $!")
    assert result.status == 0
    pid = int(result.output)
    end = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_own_files_are_not_touched(tmp_path: Path) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    root.mkdir()
    source.write_text("theirs")
    with places.present({"my.yml": source}, root):
        assert (root / "my.yml").read_text() == "theirs"
    assert not (root / "my.yml").exists()

    (root / "my.yml").write_text("mine")
    with pytest.raises(FileExistsError, match=r"my\.yml in the root"):
        with places.present({"a.yml": source, "my.yml": source}, root):
            raise AssertionError("not reached")
    names: List[str] = sorted(file.name for file in root.iterdir())
    assert names == ["my.yml"]
