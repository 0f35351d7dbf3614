# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a build of an image sees: its own folder, and nothing beside it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import List

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "docs" / "user" / "docker.md"
_EDITIONS = ("mace-dev-lite", "mace-dev")


def _instructions(edition: str) -> List[List[str]]:
    """The words of each instruction of a Dockerfile."""
    text = (_ROOT / "docker" / edition / "Dockerfile").read_text()
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [shlex.split(line) for line in joined.splitlines() if line.strip()]


def _copied(edition: str) -> List[List[str]]:
    return [
        [word for word in words[1:] if not word.startswith("--")]
        for words in _instructions(edition)
        if words[0] in ("COPY", "ADD")
    ]


@pytest.mark.parametrize("edition", _EDITIONS)
def test_the_page_builds_each_image_from_its_folder(edition: str) -> None:
    command = f"docker build -t {edition} ./docker/{edition}"
    assert re.search(rf"^{re.escape(command)}(\s|$)", _PAGE.read_text(), re.MULTILINE)
    assert (_ROOT / "docker" / edition / "Dockerfile").is_file()


@pytest.mark.parametrize("edition", _EDITIONS)
def test_what_is_copied_is_in_the_folder(edition: str, tmp_path: Path) -> None:
    # As docker does: the folder itself may be a link, what is in it may not.
    context = tmp_path / "context"
    shutil.copytree((_ROOT / "docker" / edition).resolve(), context, symlinks=True)
    assert not [path for path in context.rglob("*") if path.is_symlink()]
    for *sources, _ in _copied(edition):
        assert all((context / source).exists() for source in sources)


def test_the_copy_knows_all_packages(tmp_path: Path) -> None:
    ((source, target),) = _copied("mace-dev-lite")
    copy = tmp_path / Path(target).relative_to("/")
    shutil.copytree(_ROOT / "docker" / "mace-dev-lite" / source, copy)
    for edition in _EDITIONS:
        (ran,) = [
            words
            for words in _instructions(edition)
            if words[0] == "RUN" and "--for" in words
        ]
        script = tmp_path / Path(ran[ran.index("bash") + 1]).relative_to("/")
        flags = [ran[ran.index("--for")], ran[ran.index("--for") + 1], "--list"]
        listed = [
            subprocess.run(
                ["bash", path, *flags], capture_output=True, text=True, check=True
            ).stdout
            for path in (script, _ROOT / "tools" / "setup.sh")
        ]
        assert listed[0] == listed[1]
        assert "bazel-bootstrap" in listed[0]


@pytest.mark.parametrize("number", [0, 20, 1000])
def test_the_user_may_have_any_number(number: int, tmp_path: Path) -> None:
    """Root's and that of macOS's group are taken in Debian, the first user's isn't."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "group").write_text("root:x:0:\ndialout:x:20:\n")
    users = tmp_path / "etc" / "passwd"
    users.write_text("root:x:0:0::/root:/bin/sh\n")
    page = (_ROOT / "docker" / "mace-dev-lite" / "Dockerfile").read_text()
    commands = re.findall(r"&& ((?:groupadd|useradd|sed) .*?)(?: \\)?\n", page)
    assert [line.split()[0] for line in commands] == ["groupadd", "useradd", "sed"]
    for command in commands:
        command = command.replace("add ", f"add --prefix {tmp_path} ")
        command = command.replace("/etc/passwd", str(users))
        numbers = f"USER_ID={number} GROUP_ID={number} PATH=$PATH:/usr/sbin"
        subprocess.run(["bash", "-c", f"export {numbers}; {command}"], check=True)
    root, mace = users.read_text().splitlines()
    assert mace == f"mace:!:{number}:{number}::/home/mace:/bin/bash"
    assert root.split(":")[5] == ("/home/mace" if number == 0 else "/root")


def test_the_full_image_is_made_of_the_other() -> None:
    words = _instructions("mace-dev")
    assert ["ARG", "LITE=mace-dev-lite:latest"] in words
    assert ["FROM", "$LITE"] in words
