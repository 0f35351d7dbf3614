# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch exports and computes, for tests where it is not installed.

    build/exports-venv/bin/python test/conformance/pytorch/record.py

writes `recorded.zip` beside this file: for each family of `families.py` its inputs and
results, and its program as torch.export gives it (training) and after decomposition
(core). `--output FILE` writes another file. Needs PyTorch, and nothing of MACE.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))

from families import families
from family import Family

RECORDED = Path(__file__).parent / "recorded.zip"


def _spread(module: torch.nn.Module) -> None:
    """Gives statistics of normalisations values of which none is neutral."""
    for inner in module.modules():
        if getattr(inner, "running_mean", None) is not None:
            inner.running_mean.normal_()
            inner.running_var.uniform_(0.5, 2)


def _without_traces(data: bytes) -> bytes:
    """An archive without what only people read: where nodes come from, examples."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        with zipfile.ZipFile(target, "w") as result:
            for info in source.infolist():
                content = source.read(info)
                if "/sample_inputs/" in info.filename:
                    continue
                if info.filename.endswith("/models/model.json"):
                    content = _plain(content)
                fixed = zipfile.ZipInfo(info.filename)
                result.writestr(fixed, content)
    return target.getvalue()


def _plain(content: bytes) -> bytes:
    program = json.loads(content)
    _strip(program)
    return json.dumps(program, separators=(",", ":")).encode()


def _strip(item: Any) -> None:
    if isinstance(item, dict):
        if isinstance(item.get("metadata"), dict):
            item["metadata"] = {}
        for value in item.values():
            _strip(value)
    elif isinstance(item, list):
        for value in item:
            _strip(value)


def _archive(program: Any) -> bytes:
    stream = io.BytesIO()
    torch.export.save(program, stream)
    return _without_traces(stream.getvalue())


def record(name: str, family: Family, result: zipfile.ZipFile) -> None:
    """Adds a family to the archive."""
    _spread(family.module)
    inputs = tuple(family.inputs)
    wanted = family.module(*inputs)
    program = torch.export.export(family.module, inputs, dynamic_shapes=family.dynamic)
    versions = {"training": program, "core": program.run_decompositions()}
    for kind, version in versions.items():
        _write(result, f"{name}_{kind}.pt2", _archive(version))
    arrays = {f"input_{i}": tensor.numpy() for i, tensor in enumerate(inputs)}
    arrays |= {f"output_{i}": tensor.numpy() for i, tensor in enumerate(wanted)}
    _write(result, f"{name}.npz", _arrays(arrays))
    for number, others in enumerate(family.others):
        arrays = {f"input_{i}": tensor.numpy() for i, tensor in enumerate(others)}
        computed = enumerate(family.module(*others))
        arrays |= {f"output_{i}": tensor.numpy() for i, tensor in computed}
        _write(result, f"{name}.other{number}", _arrays(arrays))
    keys = family.keys(inputs)
    if keys:
        _write(result, f"{name}.json", json.dumps(keys).encode())


def _arrays(arrays: Mapping[str, Any]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _write(result: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name)  # of 1980, so that the same content is the same file
    info.compress_type = zipfile.ZIP_DEFLATED
    result.writestr(info, content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", type=Path, default=RECORDED)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with torch.no_grad(), zipfile.ZipFile(args.output, "w") as result:
        for name, family in families().items():
            record(name, family, result)
        _write(result, "torch.txt", torch.__version__.encode())


if __name__ == "__main__":
    main()
