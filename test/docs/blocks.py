# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the commands in the documentation, and how they are run.

A fenced block of the language ``bash`` is run on this computer unless an HTML
comment right before it says otherwise:

    <!-- run-on: phone -->                on a device of the farm, or board
    <!-- run-by: tools/demo.sh -->        by a script that the tests run anyway
    <!-- not-run: changes your own ~/.ssh -->   never, and why
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
COMPUTER = "computer"
PLACES = (COMPUTER, "phone", "board", "new-board")
KEYS = ("run-on", "run-by", "not-run")
# The least number of words in a reason.
_REASON_WORDS = 4
_MARKER = re.compile(r"^<!--\s*([\w-]+):(.*?)-->\s*$", re.DOTALL)
# Names of other shells, whose blocks would not be run.
_OTHER_NAMES = ("sh", "shell", "console", "shell-session", "zsh")


class MarkerError(ValueError):
    """A block has an invalid marker."""


@dataclass(frozen=True)
class Block:
    """A block of commands on a page.

    Attributes:
        page: the file, relative to the root of the checkout.
        line: of its first command.
        text: the commands.
        key: of KEYS, what happens to it.
        value: a place of PLACES, a script, or a reason.
    """

    page: str
    line: int
    text: str
    key: str
    value: str

    @property
    def name(self) -> str:
        """Its place, in a form that editors understand."""
        return f"{self.page}:{self.line}"

    def commands(self) -> List[str]:
        """Its commands, one string each, without comments and line breaks."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = (re.sub(r"(^|\s)#.*", "", line) for line in joined.splitlines())
        return [" ".join(line.split()) for line in lines if line.strip()]


@dataclass(frozen=True)
class _Marker:
    key: str
    value: str
    place: str

    @classmethod
    def of(cls, token: Token, page: str) -> Optional[_Marker]:
        """The marker in a token, if there is one."""
        found = _MARKER.match(token.content) if token.type == "html_block" else None
        if found is None:
            return None
        place = f"{page}:{(token.map or [0])[0] + 1}"
        return cls(found[1], " ".join(found[2].split()), place)

    def check(self) -> None:
        """Raises MarkerError if it cannot be obeyed."""
        if self.key not in KEYS:
            raise MarkerError(f"{self.place}: {self.key}: is none of {', '.join(KEYS)}")
        if self.key == "run-on" and self.value not in PLACES:
            raise MarkerError(
                f"{self.place}: '{self.value}' is none of {', '.join(PLACES)}"
            )
        if self.key == "run-by" and not self.value:
            raise MarkerError(f"{self.place}: run-by wants the script that runs it")
        if self.key == "not-run" and len(self.value.split()) < _REASON_WORDS:
            raise MarkerError(
                f"{self.place}: not-run wants a reason, '{self.value}' is none"
            )


def blocks_of(page: str, text: str) -> Iterator[Block]:
    """The blocks of one page, in order.

    Raises:
        MarkerError: a marker cannot be obeyed, or stands before no block.
    """
    marker: Optional[_Marker] = None
    end = Token("end", "", 0)
    for token in [*MarkdownIt("commonmark").parse(text), end]:
        language = token.info.split()[0] if token.info.strip() else ""
        line = (token.map or [0])[0] + 2
        if token.type == "fence" and language in _OTHER_NAMES:
            raise MarkerError(
                f"{page}:{line}: call the language bash, not {language}: "
                "what is called bash is run by the tests"
            )
        if token.type == "fence" and language == "bash":
            marker = marker or _Marker("run-on", COMPUTER, "")
            marker.check()
            yield Block(page, line, token.content, marker.key, marker.value)
        elif marker is not None and marker.key in KEYS:
            raise MarkerError(f"{marker.place}: {marker.key} before no block of bash")
        marker = _Marker.of(token, page)


def pages(root: Path = ROOT) -> Sequence[str]:
    """All Markdown pages that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    names = sorted(set(listed.stdout.splitlines()))
    return [name for name in names if (root / name).is_file()]


def all_blocks(root: Path = ROOT) -> List[Block]:
    """The blocks of all pages.

    Raises:
        MarkerError: as blocks_of.
    """
    return [
        block
        for page in pages(root)
        for block in blocks_of(page, (root / page).read_text(encoding="utf-8"))
    ]
