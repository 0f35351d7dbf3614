# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the operators of a framework that can be converted, for the docs.

python -m mace.python.tools.importers.reference --framework onnx --output FILE
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.importers.base import available_importers


def operators(framework: str) -> list[str]:
    """The operator types that are converted, sorted."""
    importer = importlib.import_module(f"mace.python.tools.importers.{framework}")
    # Besides those that have a handler.
    others: tuple[str, ...] = getattr(importer, "STRUCTURES", ())
    return sorted([*importer.HANDLERS.types(), *others])


def main(argv: Sequence[str] | None = None) -> int:
    """Writes one line of Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--framework", choices=available_importers(), required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args(argv)
    names = ", ".join(f"`{name}`" for name in operators(args.framework))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(args.output) as file:
        file.write(f"{names}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
