# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes which operators of a framework can be converted, for the docs.

python -m mace.python.tools.importers.reference --framework onnx --output FILE
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write


def operators(framework: str) -> list[str]:
    """The operator types that have a handler, sorted.

    Raises:
        ValueError: there is no such importer.
    """
    if framework == "onnx":
        from mace.python.tools.importers.onnx.node import HANDLERS as ONNX

        return sorted(ONNX.types())
    if framework == "tensorflow":
        from mace.python.tools.importers.tensorflow.context import HANDLERS
        from mace.python.tools.importers.tensorflow.importer import load_handlers

        load_handlers()
        return HANDLERS.types()
    raise ValueError(f"no importer for {framework!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes one line of Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--framework", choices=("onnx", "tensorflow"), required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args(argv)
    names = ", ".join(f"`{name}`" for name in operators(args.framework))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(args.output) as file:
        file.write(f"{names}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
