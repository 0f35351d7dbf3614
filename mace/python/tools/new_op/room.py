# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The names and the files of a new operator."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mace.python.tools.atomic import atomic_write
from mace.python.tools.catalogue import load_catalogue
from mace.python.tools.errors import UsageError

_TEMPLATES = Path(__file__).parent / "templates"
_OPS = Path("mace", "ops")
_HANDLERS = Path("mace", "python", "tools", "importers", "onnx", "handlers")


@dataclass(frozen=True)
class NewOp:
    """A new operator.

    Attributes:
        op_type: its name in models, 'OneHot'.
        onnx: the ONNX operator it is imported from, '' for none.
    """

    op_type: str
    onnx: str = ""

    @property
    def room(self) -> str:
        """The name of its folder and files, 'one_hot'."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.op_type)
        return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()

    def check(self, root: Path) -> None:
        """Refuses names that already exist in a checkout, and invalid names.

        Raises:
            UsageError: says which name, and why.
        """
        for flag, name in (("NAME", self.op_type), ("--onnx", self.onnx or "A")):
            if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,63}", name):
                raise UsageError(
                    f"{flag}: found {name!r}; an operator's name is of letters and "
                    "digits and starts with a capital, as OneHot does"
                )
        rooms = load_catalogue(root / _OPS).rooms
        for op_type, room in rooms.items():
            if op_type.lower() == self.op_type.lower() or room == self.room:
                raise UsageError(
                    f"NAME: found {self.op_type!r}; MACE has {op_type} in {_OPS / room}"
                )
        if keyword.iskeyword(self.room) or self.room in _bazel_targets(root):
            raise UsageError(
                f"NAME: found {self.op_type!r}; {self.room!r} cannot be the name of "
                "its room, since Python or mace/ops/BUILD.bazel use it"
            )
        taken = [path for path in self.files() if (root / path).exists()]
        if (root / _OPS / self.room).exists():
            taken.append(_OPS / self.room)
        if taken:
            raise UsageError(
                f"NAME: found {self.op_type!r}; there is {taken[0]} already"
            )

    def files(self) -> Mapping[Path, str]:
        """The text of each file, by its path in a checkout."""
        room = _OPS / self.room
        templates = {
            room / f"{self.room}.op.yaml": "op.op.yaml",
            room / f"{self.room}.py": "op.py",
            room / f"{self.room}.cc": "op.cc",
            room / f"{self.room}_cpu.cc": "op_cpu.cc",
            room / f"{self.room}_test.cc": "op_test.cc",
            room / f"{self.room}_benchmark.cc": "op_benchmark.cc",
        }
        if self.onnx:
            templates[_HANDLERS / f"{self.room}.py"] = "onnx_handler.py"
            templates[_HANDLERS / f"{self.room}_test.py"] = "onnx_handler_test.py"
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            undefined=StrictUndefined,
            keep_trailing_newline=True,
        )
        return {
            path: environment.get_template(f"{template}.jinja2").render(
                op=self.op_type, room=self.room, onnx=self.onnx
            )
            for path, template in templates.items()
        }

    def write(self, root: Path) -> list[Path]:
        """Writes the files into a checkout, all of them or none.

        Returns:
            Their paths in the checkout.

        Raises:
            UsageError: a name is not acceptable; see `check`.
            OutputError: a file cannot be written.
        """
        self.check(root)
        written: list[Path] = []
        folder = root / _OPS / self.room
        folder.mkdir()
        try:
            for path, text in self.files().items():
                with atomic_write(root / path, "w") as stream:
                    stream.write(text)
                written.append(path)
        except BaseException:
            for path in written:
                (root / path).unlink()
            folder.rmdir()
            raise
        return written


def _bazel_targets(root: Path) -> set[str]:
    """Names of targets in the package mace/ops that do not belong to operators."""
    names: set[str] = set()
    for file in ("BUILD.bazel", "rooms.bzl"):
        text = (root / _OPS / file).read_text(encoding="utf-8")
        names.update(re.findall(r'\bname = "(\w+)"', text))
    return names
