# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports small networks of many families with both of PyTorch's ONNX exporters.

    build/exports-venv/bin/python benchmarks/torch_exports/families.py FOLDER [NAME ...]

For each family and exporter it writes `NAME.EXPORTER.onnx`, and the inputs and outputs
of PyTorch as `NAME.EXPORTER.inputN.npy` and `.outputN.npy`, or `NAME.EXPORTER.failed`
with the reason why PyTorch could not export the network. With `--dynamic`, it does so
for the families that have lengths to compare, with open dimensions, and writes inputs
for each of the lengths as `NAME.EXPORTER.inputN.npy`, `.inputN.1.npy` and
`.inputN.2.npy`. Weights are random from a fixed seed. The program runs in the
environment that setup.sh creates, and imports nothing from MACE; `--list` prints the
names.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import pkgutil
import sys
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from operators import declare_torchvision

EXPORTERS = ("torchscript", "dynamo")


def load_families() -> dict[str, Any]:
    """The makers of all families, by name."""
    import kinds
    from kinds.family import FAMILIES

    for module in pkgutil.iter_modules(kinds.__path__):
        importlib.import_module(f"kinds.{module.name}")
    return FAMILIES


def _of_length(example: Any, place: int) -> list[torch.Tensor]:
    """The inputs for one of the lengths, made of those of the example."""
    results = []
    for value, axes in zip(example.inputs, example.open):
        for axis, name in axes.items():
            wanted = torch.arange(example.lengths[name][place])
            value = value.index_select(axis, wanted % value.shape[axis])
        results.append(value)
    return results


def _export(make: Any, exporter: str, path: Path, dynamic: bool) -> None:
    from export import spread

    torch.manual_seed(0)
    example = make()
    network = example.network.eval()
    spread(network)
    inputs = tuple(example.inputs)
    if dynamic:
        example = replace(example, open=example.open or example.dynamic)
        inputs = tuple(_of_length(example, 0))
    names = [f"input{index}" for index in range(len(inputs))]
    options: dict[str, Any] = {"input_names": names}
    if exporter == "torchscript":
        options["dynamo"] = False
        if example.open:
            options["dynamic_axes"] = dict(zip(names, example.open))
    else:
        options["dynamo"], options["external_data"] = True, False
        if example.open:
            axes = [
                dict.fromkeys(found, torch.export.Dim.DYNAMIC) for found in example.open
            ]
            import kinds.family

            varargs = isinstance(network, kinds.family.Call)
            options["dynamic_shapes"] = (tuple(axes),) if varargs else tuple(axes)
    network.requires_grad_(False)
    with torch.no_grad():
        results = torch.utils._pytree.tree_leaves(network(*inputs))
        torch.onnx.export(network, inputs, str(path), **options)
    named = [*zip(names, inputs)]
    for place in (1, 2) if dynamic else ():
        named += [
            (f"{name}.{place}", value)
            for name, value in zip(names, _of_length(example, place))
        ]
    named += [(f"output{index}", value) for index, value in enumerate(results)]
    for name, value in named:
        np.save(path.with_suffix(f".{name}.npy"), value.numpy())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dynamic", action="store_true", help="of several lengths")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--exporters", nargs="+", choices=EXPORTERS, default=EXPORTERS)
    args = parser.parse_args()
    declare_torchvision()
    warnings.simplefilter("ignore")
    # Otherwise PyTorch's own transformer layers call operators for inference alone.
    torch.backends.mha.set_fastpath_enabled(False)
    families = load_families()
    if args.list:
        print("\n".join(families))
        return 0
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or families:
        for exporter in args.exporters:
            path = args.folder / f"{name}.{exporter}.onnx"
            failed = path.with_suffix(".failed")
            failed.unlink(missing_ok=True)
            begin, log = time.monotonic(), io.StringIO()
            partial = path.with_suffix(".tmp")
            result = "exported"
            try:
                with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                    _export(families[name], exporter, path, args.dynamic)
            except Exception:  # whatever PyTorch and its libraries raise
                failed.write_text(traceback.format_exc(), encoding="utf-8")
                path.unlink(missing_ok=True)
                result = traceback.format_exc().strip().splitlines()[-1]
            partial.unlink(missing_ok=True)
            seconds = time.monotonic() - begin
            print(f"{name} {exporter}: {result[:150]} ({seconds:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
