# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of both tools, and the flags that they share."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Mapping
from pathlib import Path

from mace.python.installation import install
from mace.python.tools.command_line import flags
from mace.python.tools.errors import MaceError, MissingToolError, UsageError

EXIT_STATUS = """
exit status: 0 done; 1 a defect of MACE; 2 something to mend.
"""

_LARGEST_SIDE = 1 << 16


class ImageError(MaceError):
    """A file cannot be converted."""


def make_parser(prog: str, what: str, example: str) -> argparse.ArgumentParser:
    """The flags of both tools.

    Args:
        what: their input is.
        example: the arguments of a command line.
    """
    parser = flags.FlagParser(
        prog=prog,
        description=f"Converts {what}.",
        epilog=f"example:\n  python tools/image/{prog} {example}\n{EXIT_STATUS}",
    )
    parser.add_argument(
        "--input",
        type=flags.path,
        required=True,
        metavar="PATH",
        help="a file, or a folder of such files",
    )
    parser.add_argument(
        "--output_dir",
        type=flags.path,
        default=Path(),
        metavar="DIR",
        help="where results go (default: the working directory)",
    )
    parser.add_argument(
        "--image_shape",
        type=_image_shape,
        required=True,
        metavar="HEIGHT,WIDTH,CHANNELS",
        help="of the tensor, such as 224,224,3",
    )
    return parser


def _image_shape(text: str) -> tuple[int, int, int]:
    numbers = [flags.int_or_none(part) for part in text.split(",")]
    sizes = [n for n in numbers if n is not None and 0 < n <= _LARGEST_SIDE]
    if len(numbers) != 3 or len(sizes) != 3:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: HEIGHT,WIDTH,CHANNELS, such as 224,224,3"
        )
    return sizes[0], sizes[1], sizes[2]


def find_files(source: Path, target: Path, suffix: str) -> Mapping[Path, Path]:
    """By each file, where its result goes.

    Args:
        source: a file, or a folder; its hidden files and folders are left out.
        target: the folder of results.
        suffix: of the results.

    Raises:
        UsageError: nothing is there, or two files have the same result.
    """
    if source.is_dir():
        found = sorted(
            path
            for path in source.iterdir()
            if path.is_file() and not path.name.startswith(".")
        )
        if not found:
            raise UsageError(f"--input={source}: the folder has no files")
    elif source.exists():
        found = [source]
    else:
        raise UsageError(f"--input={source}: no such file or folder")
    results: dict[Path, Path] = {}
    for path in found:
        result = target / f"{path.stem}{suffix}"
        other = next((p for p, r in results.items() if r == result), None)
        if other is not None:
            raise UsageError(
                f"--input: {other.name} and {path.name} would both become "
                f"{result.name}: rename one"
            )
        results[path] = result
    return results


def require_pillow() -> None:
    """Checks that Pillow is installed.

    Raises:
        MissingToolError: it is not.
    """
    if importlib.util.find_spec("PIL") is None:
        raise MissingToolError(
            "the Python package pillow",
            "reading and writing images",
            install("validate"),
        )
