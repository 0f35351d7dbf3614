# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the passes, orders them, runs them and checks after each."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import pkgutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_origin

from mace.python.tools.atomic import atomic_dir
from mace.python.tools.ir import DataFormat, Graph, GraphError, Value
from mace.python.tools.ir.graph import to_text
from mace.python.tools.ir.quantized_ops import computes_integers
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, compatible, permute
from mace.python.tools.ir.verify import verify
from mace.python.tools.passes.base import INVARIANTS, Pass

_LOG = logging.getLogger(__name__)
_PACKAGE = "mace.python.tools.passes"

# A rewrite can enable another one. Each round must shrink or simplify the graph, so a
# few rounds are enough; with this limit, two passes that undo each other cause an error
# instead of an endless loop.
_MAX_ROUNDS = 10


@dataclass(frozen=True)
class PassReport:
    """The result of one run of a pass."""

    name: str
    rewrites: int
    seconds: float
    ops_after: int


@functools.lru_cache(maxsize=1)
def all_passes() -> tuple[Pass, ...]:
    """Every pass of this package, in an order that respects `requires`."""
    package = importlib.import_module(_PACKAGE)
    found: list[Pass] = []
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.endswith(("_test", "testing", "conftest")):
            continue
        module = importlib.import_module(f"{_PACKAGE}.{info.name}")
        found += [
            item()
            for item in vars(module).values()
            if inspect.isclass(item)
            # Before Python 3.11, list[int] is reported to be a class.
            and get_origin(item) is None
            and issubclass(item, Pass)
            and not inspect.isabstract(item)
            and item.__module__ == module.__name__
        ]
    return tuple(order(found))


def order(passes: Iterable[Pass]) -> list[Pass]:
    """Sorts passes so that each comes after those it requires.

    Passes that are free to swap are ordered by name.

    Raises:
        GraphError: a required pass does not exist, or they wait in a circle.
    """
    waiting = {p.name: p for p in passes}
    unknown = {
        f"{p.name} requires {name}"
        for p in waiting.values()
        for name in p.requires
        if name not in waiting
    }
    if unknown:
        raise GraphError("unknown passes: " + ", ".join(sorted(unknown)))
    ordered: list[Pass] = []
    while waiting:
        ready = [p for p in waiting.values() if not set(p.requires) & waiting.keys()]
        if not ready:
            raise GraphError("passes wait in a circle: " + ", ".join(sorted(waiting)))
        first = min(ready, key=lambda p: p.name)
        ordered.append(waiting.pop(first.name))
    return ordered


class PassManager:
    """Runs passes over a graph until nothing changes.

    Args:
        passes: in order; None for all.
        dump_dir: where to write the graph after every pass that changed it.
        quantize: puts Quantize and Dequantize around operators when the passes have
            come to rest; those for floats only run afterwards. Returns how many.
    """

    def __init__(
        self,
        passes: Sequence[Pass] | None = None,
        dump_dir: Path | None = None,
        quantize: Callable[[Graph], int] | None = None,
    ) -> None:
        self._passes = all_passes() if passes is None else tuple(passes)
        self._dump_dir = dump_dir
        self._quantize = quantize

    def run(self, graph: Graph) -> list[PassReport]:
        """Rewrites `graph` in place.

        Raises:
            GraphError: a pass left the graph inconsistent: a defect of it.
        """
        if self._dump_dir is None:
            return self._run(graph, None)
        with atomic_dir(self._dump_dir) as folder:
            return self._run(graph, folder)

    def _run(self, graph: Graph, folder: Path | None) -> list[PassReport]:
        reports: list[PassReport] = []
        held: set[str] = set()
        border = _border(graph)
        graph.prune()
        graph.sort()
        verify(graph)
        _dump(graph, folder, 0, "imported")

        def apply(name: str, rewrite: Callable[[Graph], int]) -> int:
            start = time.perf_counter()
            count = rewrite(graph)
            if count:
                graph.prune()
                graph.sort()
                _check(graph, name, held, border)
                _dump(graph, folder, len(reports) + 1, name)
            seconds = time.perf_counter() - start
            reports.append(PassReport(name, count, seconds, len(graph.ops)))
            _LOG.debug("%s: %d rewrites, %.3f s", name, count, seconds)
            return count

        def run(item: Pass) -> int:
            held.update(item.provides)
            return apply(item.name, item.run)

        first = [item for item in self._passes if not item.last]
        if self._quantize is not None:
            _run_to_rest([item for item in first if not item.floats_only], run)
            apply("quantize", self._quantize)
            _run_to_rest([item for item in first if item.floats_only], run)
        elif not any(computes_integers(op) for op in graph.ops):
            _run_to_rest(first, run)
        for item in self._passes:
            if item.last:
                run(item)
        return reports


def _run_to_rest(passes: Sequence[Pass], run: Callable[[Pass], int]) -> None:
    for _ in range(_MAX_ROUNDS):
        if not sum(run(item) for item in passes):
            return
    raise GraphError("the passes do not come to rest")


def optimize(
    graph: Graph,
    dump_dir: Path | None = None,
    chosen: Sequence[str] = (),
    quantize: Callable[[Graph], int] | None = None,
) -> list[PassReport]:
    """Runs all passes over `graph`, or only the selected and the required ones.

    Args:
        quantize: as in PassManager.
    """
    passes = choose(chosen) if chosen else None
    return PassManager(passes, dump_dir, quantize).run(graph)


def run_last_passes(graph: Graph) -> None:
    """Runs only the passes that come after all others."""
    for item in all_passes():
        if item.last:
            item.run(graph)
            graph.prune()
            graph.sort()


def choose(names: Iterable[str]) -> list[Pass]:
    """The named passes, those without which a graph is no MACE model, and all
    that these require.

    Raises:
        KeyError: there is no pass of that name.
    """
    by_name = {item.name: item for item in all_passes()}
    wanted = [*names, *(item.name for item in all_passes() if item.provides)]
    chosen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in chosen:
            chosen.add(name)
            wanted += by_name[name].requires
    return [item for item in all_passes() if item.name in chosen]


def _check(graph: Graph, name: str, held: set[str], border: dict[str, object]) -> None:
    turned = "channels_last" in held
    where = f"after pass {name}{', where images are NHWC' if turned else ''}"
    try:
        verify(graph)
    except GraphError as error:
        raise GraphError(f"{where}: {error}") from error
    problems = [p for known in sorted(held) for p in INVARIANTS[known](graph)]
    after = _border(graph)
    for tensor, before in border.items():
        if tensor not in after:
            problems.append(f"{tensor} is gone from the model's border")
        elif not _same(before, after[tensor]):
            problems.append(f"{tensor} changed from {before} to {after[tensor]}")
    if problems:
        raise GraphError(f"{where}: " + "; ".join(problems))


def _border(graph: Graph) -> dict[str, object]:
    """Type and shape (NHWC) of inputs and outputs."""

    def described(value: Value) -> object:
        shape = value.shape
        if shape and graph.formats[value.name] is DataFormat.NCHW:
            shape = permute(shape, NCHW_TO_NHWC)
        return value.dtype, shape

    return {v.name: described(v) for v in (*graph.inputs, *graph.outputs)}


def _same(before: object, after: object) -> bool:
    assert isinstance(before, tuple) and isinstance(after, tuple)
    return before[0] is after[0] and compatible(before[1], after[1])


def _dump(graph: Graph, folder: Path | None, index: int, name: str) -> None:
    if folder is not None:
        path = folder / f"{index:03}_{name}.txt"
        path.write_text(to_text(graph), encoding="utf-8")
