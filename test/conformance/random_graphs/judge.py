# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a random graph in MACE and in two references.

A result is wrong only if ONNX Runtime and ONNX's reference evaluator agree with each
other and not with MACE, and if ONNX Runtime's own result does not change as much when
inputs are moved by rounding.
"""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import mace
from mace.python.runtime.options import PrecisionName
from mace.python.tools.errors import MaceError
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.validate.frameworks.onnx_session import open_plain_session
from mace.python.tools.validate.metrics import moved_by_rounding
from test.conformance.random_graphs.graphs import draw_graph
from test.conformance.random_graphs.operators import ALL, SMOOTH

# Error relative to the largest element of an output. float32: sums of some hundred
# products, in another order, through eight operators. 16 bits: 8 operators of 2^-11
# and 2^-8 each, whose errors add.
_BOUNDS: dict[PrecisionName, float] = {
    "fp32_fp32": 1e-4,
    "fp16_fp32": 0.02,
    "bf16_fp32": 0.1,
    "bf16_bf16": 0.15,
}
# Of the graphs, this many in ten compute in float32.
_WHOLE = 6
# A share of the bound by which the references may differ and vary.
_DECIDED = 0.25
# ONNX Runtime's level of messages: its errors are results here.
_SILENT = 4


class Stage(enum.Enum):
    """Whose code computes a graph."""

    REFERENCES = "the references"
    MACE = "MACE"


# Hears of each stage before it begins.
Listener = Callable[[Stage], object]


class Verdict(enum.Enum):
    """What became of a graph."""

    EQUAL = "equal"
    REFUSED = "refused"
    NOT_DECIDED = "not decided"
    WRONG = "WRONG"


@dataclass(frozen=True)
class Result:
    """Of one graph.

    Attributes:
        seed: that draws it again.
        reason: of a verdict other than EQUAL.
        operators: of the graph, in order.
    """

    seed: tuple[int, int]
    precision: PrecisionName
    verdict: Verdict
    reason: str
    operators: tuple[str, ...]

    def line(self) -> str:
        """For people."""
        graph = ", ".join(self.operators)
        seed = f"--seed {self.seed[0]} --only {self.seed[1]}"
        return f"{seed}: {self.verdict.value}, {self.precision}: {graph}: {self.reason}"


def precision_of(number: int) -> PrecisionName:
    """In which the graph with this number is computed."""
    precisions = [*_BOUNDS]
    return precisions[0] if number % 10 < _WHOLE else precisions[1 + number % 3]


def judge(
    seed: tuple[int, int], keep: Path | None = None, listener: Listener = id
) -> Result:
    """Draws a graph and runs it.

    Args:
        seed: of the run, and the number of the graph.
        keep: where the model goes if MACE is wrong.
        listener: hears whose code runs, should it end this process.
    """
    listener(Stage.REFERENCES)
    number = seed[1]
    precision = precision_of(number)
    whole = precision == next(iter(_BOUNDS))
    draw = draw_graph(seed, ALL if whole else SMOOTH, smooth=not whole)
    operators = tuple(node.op_type for node in draw.nodes)
    model = draw.model()
    if not model.graph.output:
        return Result(seed, precision, Verdict.NOT_DECIDED, "no output", operators)
    feeds = {i.name: draw.values[i.name] for i in model.graph.input}
    verdict, reason = _verdict(model, feeds, precision, listener)
    if verdict is Verdict.WRONG and keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        onnx.save(model, keep / f"{seed[0]}_{number}.onnx")
        np.savez(keep / f"{seed[0]}_{number}.npz", **feeds)  # type: ignore[arg-type]
    return Result(seed, precision, verdict, reason, operators)


def _verdict(
    model: onnx.ModelProto,
    feeds: Mapping[str, Array],
    precision: PrecisionName,
    listener: Listener = id,
) -> tuple[Verdict, str]:
    if not feeds:
        return Verdict.NOT_DECIDED, "no inputs"
    bound = _BOUNDS[precision]
    names = [output.name for output in model.graph.output]
    moved = {name: moved_by_rounding(array) for name, array in feeds.items()}
    onnxruntime.set_default_logger_severity(_SILENT)
    try:
        session, _ = open_plain_session(model)
        first, varied = (session.run(names, dict(f)) for f in (feeds, moved))
        with np.errstate(all="ignore"):
            second = ReferenceEvaluator(model).run(names, dict(feeds))
    except Exception as error:  # of two packages, without a common base class
        return Verdict.NOT_DECIDED, f"a reference fails: {error}"
    listener(Stage.MACE)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.onnx"
            onnx.save(model, path)
            options = mace.RunOptions(precision=precision, threads=1)
            with mace.load(path, cache=False, options=options) as loaded:
                found = loaded.run(feeds)
    except MaceError as error:
        return Verdict.REFUSED, str(error).splitlines()[-1]
    except Exception as error:  # none of MACE's own: a defect, whatever it is
        return Verdict.WRONG, f"{type(error).__name__}: {error}"
    undecided = ""
    for name, value, other, near in zip(names, first, second, varied):
        others = [np.asarray(other), np.asarray(near)]
        if any(_error(np.asarray(value), x) > _DECIDED * bound for x in others):
            undecided = f"the references differ in {name}, or vary"
            continue
        away = _error(np.asarray(value), np.asarray(found[name]))
        if away > bound:
            return Verdict.WRONG, f"{name}: error {away:.3g}, bound {bound:g}"
    return (Verdict.NOT_DECIDED, undecided) if undecided else (Verdict.EQUAL, "")


def _error(wanted: Array, found: Array) -> float:
    """The largest difference relative to the largest element; infinite if shapes or
    places of infinities and NaN differ.
    """
    if wanted.shape != found.shape:
        return float("inf")
    a, b = wanted.astype(np.float64), found.astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(b[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    size = max(float(np.abs(a[finite]).max()), 1e-6)
    return float(np.abs(a[finite] - b[finite]).max()) / size
