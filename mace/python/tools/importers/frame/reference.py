# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the operators of a framework that can be converted, for the docs.

python -m mace.python.tools.importers.frame.reference --framework onnx --output FILE
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.catalogue.proofs import handler_test, shared_test
from mace.python.tools.custom_ops import PACKAGE, RARE_PACKAGE, add_custom_ops_flag
from mace.python.tools.importers.frame.opened import available_importers
from mace.python.tools.reference_page import table

_ROOT = Path(__file__).resolve().parents[5]


def operators(framework: str) -> list[str]:
    """The operator types that are converted, sorted."""
    importer = importlib.import_module(f"mace.python.tools.importers.{framework}")
    # Besides those that have a handler.
    others: tuple[str, ...] = getattr(importer, "STRUCTURES", ())
    return sorted([*importer.HANDLERS.types(), *others])


def operators_by_test(framework: str) -> dict[str, list[str]]:
    """By the test that compares them with the framework, the operators.

    Those without a handler are tested beside the importer.
    """
    table = importlib.import_module(f"mace.python.tools.importers.{framework}").HANDLERS
    found: dict[str, list[str]] = {}
    for name in operators(framework):
        handler = table.find(name)
        if handler is None:
            test = _structure_test(framework, name)
        elif handler.__module__.startswith((f"{PACKAGE}.", f"{RARE_PACKAGE}.")):
            own = Path(str(sys.modules[handler.__module__].__file__))
            test = handler_test(framework, str(own.with_suffix("")))
        else:
            file = handler.__module__.rpartition(".")[2]
            test = handler_test(framework, file)
            shared = shared_test(framework)
            if shared and not _names(test, name):
                test = shared
        found.setdefault(test, []).append(name)
    return dict(sorted(found.items()))


def _structure_test(framework: str, name: str) -> str:
    """The test beside the importer that names an operator; '' if none does."""
    folder = Path(__file__).parents[1] / framework
    tests = sorted(folder.glob("*_test.py"))
    paths = [path.relative_to(_ROOT).as_posix() for path in tests]
    return next((path for path in paths if _names(path, name)), "")


def _names(test: str, name: str) -> bool:
    return f'"{name}"' in (_ROOT / test).read_text(encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--framework", choices=available_importers(), required=True)
    parser.add_argument("--output", type=Path, required=True)
    add_custom_ops_flag(parser)
    args = parser.parse_args(argv)
    rows = [
        (", ".join(f"`{name}`" for name in names), f"`{test}`")
        for test, names in operators_by_test(args.framework).items()
    ]
    lines = table(("operators", "compared with the framework by"), rows)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(args.output) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
