# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports small networks of many families with both of PyTorch's ONNX exporters.

    build/exports-venv/bin/python benchmarks/torch_exports/families.py FOLDER [NAME ...]

For each family and exporter it writes `NAME.EXPORTER.onnx`, and the inputs and outputs
of PyTorch as `NAME.EXPORTER.inputN.npy` and `.outputN.npy`, or `NAME.EXPORTER.failed`
with the reason why PyTorch could not export the network. With `--dynamic`, it does so
for the families that have lengths to compare, with open dimensions, and writes inputs
for each of the lengths as `NAME.EXPORTER.inputN.npy`, `.inputN.1.npy` and
`.inputN.2.npy`. With `--open`, PyTorch leaves every dimension open that it can, and
`NAME.program.pt2` and `NAME.program.onnx` are written, with inputs and outputs of up to
three sizes. An export that takes longer than `--seconds` has failed. Weights are random
from a fixed seed. The program runs in the environment that setup.sh creates, and
imports nothing from MACE; `--list` prints the names.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import pkgutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
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


def _export_open(make: Any, path: Path) -> None:
    """Writes a program, an ONNX file of it, and what it computes at other sizes."""
    torch.manual_seed(0)
    example = make()
    from export import spread

    network = example.network.eval()
    spread(network)
    network.requires_grad_(False)
    inputs, program = _open_program(network, tuple(example.inputs))
    torch.export.save(program, path)
    with torch.no_grad():
        for place, given in enumerate(_other_sizes(network, program, inputs)):
            results = torch.utils._pytree.tree_leaves(network(*given))
            suffix = f".{place}" if place else ""
            for side, values in (("input", given), ("output", results)):
                for index, value in enumerate(values):
                    name = f".{side}{index}{suffix}.npy"
                    np.save(path.with_suffix(name), value.numpy())
    onnx = path.with_suffix(".onnx")
    try:
        torch.onnx.export(program, f=str(onnx), dynamo=True, external_data=False)
    except Exception:  # whatever PyTorch raises
        onnx.unlink(missing_ok=True)
        failed = path.with_suffix(".onnx.failed")
        failed.write_text(traceback.format_exc(), encoding="utf-8")


def _open_program(
    network: Any, inputs: tuple[torch.Tensor, ...]
) -> tuple[tuple[torch.Tensor, ...], Any]:
    """The program with every dimension open that can be, and the inputs that it was
    made with. PyTorch takes a length of 1 for a constant, so that twice the batch is
    tried first.
    """
    twice = tuple(
        torch.cat([value, value]) if value.ndim else value for value in inputs
    )
    import kinds.family

    error: Exception | None = None
    for given in (twice, inputs):
        axes = tuple(
            dict.fromkeys(range(value.ndim), torch.export.Dim.AUTO) for value in given
        )
        varargs = isinstance(network, kinds.family.Call)
        try:
            with torch.no_grad():
                network(*given)
                program = torch.export.export(
                    network, given, dynamic_shapes=(axes,) if varargs else axes
                )
                program.module()(*given)
        except Exception as found:  # whatever PyTorch and its libraries raise
            error = found
            continue
        return given, program
    assert error is not None
    raise error


def _other_sizes(
    network: Any, program: Any, inputs: tuple[torch.Tensor, ...]
) -> Iterator[tuple[torch.Tensor, ...]]:
    """The inputs, and up to two others with which the network and its program run, in
    which each length differs that can.
    """
    yield inputs
    names = set(program.graph_signature.user_inputs)
    shapes = [
        node.meta["val"].shape
        for node in program.graph.nodes
        if node.op == "placeholder" and node.name in names
    ]
    known: dict[Any, int] = {}
    for shape in shapes:
        for dim in shape:
            if isinstance(dim, torch.SymInt):
                environment = dim.node.shape_env
                for symbol in dim.node.expr.free_symbols:
                    known[symbol] = int(environment.backed_var_to_val[symbol])
    both = (program.module(), network)
    for change in (_larger, _smaller):
        sizes = dict(known)
        for symbol, length in known.items():
            for wanted in change(length):
                tried = {**sizes, symbol: wanted}
                resized = _resized(inputs, shapes, tried)
                if all(_runs(module, resized) for module in both):
                    sizes = tried
                    break
        if sizes != known:
            yield _resized(inputs, shapes, sizes)


def _larger(length: int) -> Iterable[int]:
    return (length + 1, length + 2, length + 4, length + 8, length + 16, 2 * length)


def _smaller(length: int) -> Iterable[int]:
    found = (length - 1, length - 2, length - 4, length // 2)
    return [other for other in found if other > 1]


def _resized(
    inputs: tuple[torch.Tensor, ...], shapes: Sequence[Any], sizes: dict[Any, int]
) -> tuple[torch.Tensor, ...]:
    """The inputs at other lengths."""
    results = []
    for value, shape in zip(inputs, shapes):
        for axis, dim in enumerate(shape):
            if isinstance(dim, torch.SymInt):
                wanted = torch.arange(int(dim.node.expr.xreplace(sizes)))
                value = value.index_select(axis, wanted % value.shape[axis])
        results.append(value)
    return tuple(results)


def _runs(module: Any, inputs: tuple[torch.Tensor, ...]) -> bool:
    try:
        with torch.no_grad():
            module(*inputs)
    except Exception:  # whatever PyTorch and its libraries raise
        return False
    return True


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Ends what takes longer with a TimeoutError."""

    def end(*_: object) -> None:
        raise TimeoutError(f"the export takes more than {seconds} s")

    signal.signal(signal.SIGALRM, end)
    # Again and again: what is tried next takes as long.
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dynamic", action="store_true", help="of several lengths")
    parser.add_argument("--open", action="store_true", help="of every length")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--exporters", nargs="+", choices=EXPORTERS, default=EXPORTERS)
    parser.add_argument("--seconds", type=int, default=300, help="for each export")
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
    exporters = ("program",) if args.open else args.exporters
    for name in args.names or families:
        for exporter in exporters:
            suffix = "pt2" if args.open else "onnx"
            path = args.folder / f"{name}.{exporter}.{suffix}"
            failed = path.with_suffix(".failed")
            failed.unlink(missing_ok=True)
            begin, log = time.monotonic(), io.StringIO()
            partial = path.with_suffix(".tmp")
            result = "exported"
            try:
                with (
                    contextlib.redirect_stdout(log),
                    contextlib.redirect_stderr(log),
                    _at_most(args.seconds),
                ):
                    if args.open:
                        _export_open(families[name], path)
                    else:
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
