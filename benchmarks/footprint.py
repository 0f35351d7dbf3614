# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of the libraries that run a model on this kind of computer, and how many of
ONNX's operators MACE converts.

    python -m benchmarks.footprint [--record NAME]

Other engines' libraries are those of the packages that benchmarks/setup.sh
installs. A package has more than a model needs: here are only those files that an
application needs to run one on the CPU. `ncnn` and `MNN` come as a Python module that
contains the library.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.library import LIBRARY, Library
from benchmarks.peers.engines import FLOAT_ENGINES, product
from benchmarks.peers.formats import VENV
from benchmarks.peers.scoreboard import versions
from benchmarks.tables import Table

# Of the folder of packages.
_FILES = {
    "ONNX Runtime": ("onnxruntime/capi/libonnxruntime.so.*",),
    "OpenVINO": (
        "openvino/libs/libopenvino.so.*",
        "openvino/libs/libopenvino_intel_cpu_plugin.so",
        "openvino/libs/libopenvino_onnx_frontend.so.*",
        "openvino/libs/libtbb.so.*",
    ),
    "LiteRT": ("ai_edge_litert/libLiteRt.so",),
    "ncnn": ("ncnn/ncnn.*.so",),
    "MNN": ("_mnncengine.*.so",),
}


def tables(data: Any) -> list[Table]:
    """The two tables of the page."""
    sizes = Table(
        "libraries",
        "MB of the library that runs a model on the CPU, x86-64",
        ("engine", "files", "MB", "MACE = 1"),
        2,
    )
    own = data["libraries"][0]["bytes"]
    for library in data["libraries"]:
        size = library["bytes"]
        files = ", ".join(library["files"])
        sizes.add(library["engine"], files, f"{size / 1e6:.1f}", f"{size / own:.1f}")
    onnx = data["onnx"]
    operators = Table(
        "operators", "ONNX's operators that MACE converts", ("converted", "of"), 0
    )
    operators.add(str(onnx["converted"]), str(onnx["standard"]))
    return [sizes, operators]


def measure() -> dict[str, Any]:
    """The figures. SystemExit if a library is missing."""
    libraries = [_library("MACE", [LIBRARY])]
    packages = next(iter(VENV.glob("lib/python*/site-packages")), VENV)
    for name, patterns in _FILES.items():
        found = [f for p in patterns for f in packages.glob(p)]
        if len(found) != len(patterns):
            raise SystemExit(f"{name} is missing: bash benchmarks/setup.sh peers")
        libraries.append(_library(name, found))
    return {"libraries": libraries, "onnx": _onnx_operators()}


def _library(engine: str, files: Iterable[Path]) -> dict[str, Any]:
    # A module of Python has Python's version in its name.
    sizes = {
        re.sub(r"\.cpython-.*\.so$", ".so", path.name): path.stat().st_size
        for path in files
    }
    return {"engine": engine, "files": list(sizes), "bytes": sum(sizes.values())}


def _onnx_operators() -> dict[str, int]:
    import onnx.defs

    from mace.python.tools.importers.frame.reference import operators

    schemas = onnx.defs.get_all_schemas()
    standard = {s.name for s in schemas if s.domain == "" and not s.deprecated}
    return {
        "converted": len(standard.intersection(operators("onnx"))),
        "standard": len(standard),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    record.add_arguments(parser)
    made = record.recorder("benchmarks.footprint", parser.parse_args())
    known = [name for name in FLOAT_ENGINES if product(name) in ("MACE", *_FILES)]
    made.finish(measure(), versions(Library(), known))


if __name__ == "__main__":
    main()
