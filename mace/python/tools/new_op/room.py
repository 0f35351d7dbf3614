# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The names and the files of a new operator."""

from __future__ import annotations

import argparse
import keyword
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mace.python.tools.atomic import atomic_write
from mace.python.tools.catalogue import load_catalogue
from mace.python.tools.catalogue.loader import with_custom
from mace.python.tools.custom_ops import INTERFACE, MANIFEST, folder_problems
from mace.python.tools.errors import UsageError

_TEMPLATES = Path(__file__).parent / "templates"
_OPS = Path("mace", "ops")
_HANDLERS = Path("mace", "python", "tools", "importers", "standard", "handlers")


@dataclass(frozen=True)
class NewOp:
    """A new operator.

    Attributes:
        op_type: its name in models, 'OneHot'.
        onnx: the ONNX operator it is imported from, '' for none; with its operator set
            if that is not ONNX's own, 'com.example.OneHot'.
    """

    op_type: str
    onnx: str = ""

    @property
    def room(self) -> str:
        """The name of its folder and files, 'one_hot'."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.op_type)
        return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()

    @property
    def onnx_type(self) -> str:
        """The ONNX operator without its operator set."""
        return self.onnx.rpartition(".")[2]

    @property
    def onnx_domain(self) -> str:
        """The operator set of the ONNX operator, '' for ONNX's own."""
        return self.onnx.rpartition(".")[0]

    def check(self, root: Path) -> None:
        """Refuses names that already exist in a checkout, and invalid names.

        Raises:
            UsageError: says which name, and why.
        """
        for flag, name in (("NAME", self.op_type), ("--onnx", self.onnx_type or "A")):
            if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,63}", name):
                raise UsageError(
                    f"{flag}: found {name!r}; an operator's name is of letters and "
                    "digits and starts with a capital, as OneHot does"
                )
        if not re.fullmatch(r"([A-Za-z]\w*(\.[A-Za-z]\w*)*)?", self.onnx_domain):
            raise UsageError(
                f"--onnx: found {self.onnx!r}; an operator of another operator set is "
                "written with its domain, as in com.example.OneHot"
            )
        catalogue = load_catalogue(root / _OPS)
        for op_type, room in catalogue.rooms.items():
            taken = (room, catalogue.names[op_type])
            if op_type.lower() == self.op_type.lower() or self.room in taken:
                raise UsageError(
                    f"NAME: found {self.op_type!r}; MACE has {op_type} in {_OPS / room}"
                )
        if keyword.iskeyword(self.room) or self.room in _bazel_targets(root):
            raise UsageError(
                f"NAME: found {self.op_type!r}; {self.room!r} cannot be the name of "
                "its room, since Python or mace/ops/BUILD.bazel use it"
            )
        if (root / _OPS / self.room).exists():
            raise UsageError(
                f"NAME: found {self.op_type!r}; there is {_OPS / self.room} already"
            )

    def files(self) -> Mapping[Path, str]:
        """The text of each file, by its path in a checkout."""
        texts = self._room(_OPS / self.room)
        if self.onnx:
            handler, test = _HANDLERS / f"{self.room}.py", f"{self.room}_test.py"
            texts[handler] = self._render("onnx_handler.py")
            texts[_HANDLERS / test] = self._render("onnx_handler_test.py")
        return texts

    def custom_files(self) -> Mapping[Path, str]:
        """The text of each file, by its path in a folder of the user's own."""
        texts = self._room(Path(self.room))
        if self.onnx:
            name = f"{self.room}_onnx"
            handler, test = f"{name}.py", f"{name}_test.py"
            texts[Path(self.room, handler)] = self._render("onnx_handler.py")
            texts[Path(self.room, test)] = self._render("onnx_handler_test.py")
        return texts

    def _room(self, room: Path) -> dict[Path, str]:
        endings = (".op.yaml", ".py", ".cc", "_cpu.cc", "_test.cc", "_benchmark.cc")
        return {room / f"{self.room}{end}": self._render(f"op{end}") for end in endings}

    def _render(self, name: str) -> str:
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            undefined=StrictUndefined,
            keep_trailing_newline=True,
        )
        return environment.get_template(f"{name}.jinja2").render(
            op=self.op_type,
            room=self.room,
            onnx=self.onnx,
            onnx_type=self.onnx_type,
            domain=self.onnx_domain,
        )

    def write(self, root: Path) -> list[Path]:
        """Writes the files into a checkout, all of them or none.

        Returns:
            Their paths in the checkout.

        Raises:
            UsageError: a name is not acceptable; see `check`.
            OutputError: a file cannot be written.
        """
        self.check(root)
        if self.onnx_domain:
            raise UsageError(
                f"--onnx: found {self.onnx!r}; of another operator set only with "
                "--custom_ops, as MACE itself imports ONNX's own"
            )
        return self._write(root, self.files(), _OPS / self.room)

    def write_custom(self, root: Path, folder: Path) -> list[Path]:
        """Writes the files into a folder of the user's own, all of them or none.

        Args:
            root: the checkout, whose names are not free.
            folder: made if it is not there.

        Returns:
            Their paths in the folder.

        Raises:
            UsageError: a name is not acceptable, or there is something else.
            OutputError: a file cannot be written.
        """
        self.check(root)
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"--custom_ops: {folder} is no folder")
        if folder.is_dir() and any(folder.iterdir()):
            # A mistyped path would be found out later.
            problems = folder_problems(folder)
            if problems:
                raise UsageError("\n".join(problems))
            with_custom(load_catalogue(root / _OPS), [folder])
        texts = dict(self.custom_files())
        if not (folder / MANIFEST).exists():
            texts[Path(MANIFEST)] = (
                "# Operators for MACE; the number says for which of its interfaces.\n"
                f"interface: {INTERFACE}\n"
            )
            texts[Path("conftest.py")] = self._render("conftest.py")
        made = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--custom_ops: {folder}: {error.strerror}") from error
        try:
            return self._write(folder, texts, Path(self.room))
        except BaseException:
            if made:
                folder.rmdir()
            raise

    def _write(self, root: Path, texts: Mapping[Path, str], room: Path) -> list[Path]:
        for path in (room, *texts):
            if (root / path).exists():
                raise UsageError(
                    f"NAME: found {self.op_type!r}; there is {path} already"
                )
        written: list[Path] = []
        (root / room).mkdir()
        try:
            for path, text in texts.items():
                with atomic_write(root / path, "w") as stream:
                    stream.write(_formatted(path, text))
                written.append(path)
        except BaseException:
            for path in written:
                (root / path).unlink()
            (root / room).rmdir()
            raise
        return written


def _formatted(path: Path, text: str) -> str:
    """Source text in the form that tools/check.py asks for.

    How lines break depends on the length of the name. As it is if the program that
    knows the form is not installed; tools/check.py then says that it is missing.
    """
    # The name decides whose settings hold: MACE's, in folders of others too.
    name = str(ROOT / path)
    command = {
        ".cc": ["clang-format-19", f"--assume-filename={name}"],
        ".py": ["ruff", "format", f"--stdin-filename={name}", "-"],
    }.get(path.suffix)
    if command is None:
        return text
    beside = Path(sys.executable).with_name(command[0])
    program = str(beside) if beside.is_file() else shutil.which(command[0])
    if program is None:
        return text
    run = [program, *command[1:]]
    found = subprocess.run(run, input=text, text=True, capture_output=True, check=False)
    return text if found.returncode else found.stdout


def _bazel_targets(root: Path) -> set[str]:
    """Names of targets in the package mace/ops that do not belong to operators."""
    names: set[str] = set()
    for file in ("BUILD.bazel", "rooms.bzl"):
        text = (root / _OPS / file).read_text(encoding="utf-8")
        names.update(re.findall(r'\bname = "(\w+)"', text))
    return names


# The command `new-op`.
#
# python tools/converter.py new-op NAME [--onnx TYPE] [--custom_ops DIR]


ROOT = Path(__file__).resolve().parents[4]

_NEXT = """
{op} builds, and multiplies by a factor. Now say in these files what it computes,
beginning with the declaration; docs/development/adding_an_op.md goes through them.
What holds is shown by

  bazel test //mace/ops:{room}_test //mace/ops/testing:all_ops_test
  python -m pytest mace/ops{handlers}
"""


_NEXT_CUSTOM = """
{op} builds, and multiplies by a factor. Now say in these files what it computes,
beginning with the declaration; docs/development/adding_an_op.md goes through them.
What holds is shown, in the folder of MACE, by

  export MACE_CUSTOM_OPS={folder}
  bazel test @mace_custom_ops//:{room}_test //mace/ops/testing:all_ops_test
{pytest}
Deployment files use it with the key custom_ops.
"""
_PYTEST = """\
  python -m pytest {folder}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `new-op`."""
    parser.add_argument(
        "name", metavar="NAME", help="the operator's name in models, as in OneHot"
    )
    parser.add_argument(
        "--onnx",
        default="",
        metavar="TYPE",
        help="also write the file that imports this operator of ONNX; "
        "DOMAIN.TYPE of another operator set",
    )
    parser.add_argument(
        "--custom_ops",
        type=Path,
        metavar="DIR",
        help="write into this folder of your own, outside of MACE, which is made if it "
        "is not there",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the files and says what to do with them; 0."""
    op = NewOp(args.name, args.onnx)
    if args.custom_ops is not None:
        folder = args.custom_ops.absolute()
        written = op.write_custom(ROOT, folder)
        sys.stdout.write(f"Written into {folder}:\n")
        sys.stdout.writelines(f"  {path}\n" for path in written)
        pytest = _PYTEST.format(folder=folder) if op.onnx else ""
        words = {"op": op.op_type, "room": op.room, "folder": folder}
        sys.stdout.write(_NEXT_CUSTOM.format(**words, pytest=pytest))
        return 0
    written = op.write(ROOT)
    sys.stdout.write(f"Written into {ROOT}:\n")
    sys.stdout.writelines(f"  {path}\n" for path in written)
    handlers = " mace/python/tools/importers/standard/handlers" if op.onnx else ""
    sys.stdout.write(_NEXT.format(op=op.op_type, room=op.room, handlers=handlers))
    return 0
