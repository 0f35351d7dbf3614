# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs of nested loops and choices, in the engine and in ONNX Runtime.

    python -m test.conformance.random_graphs.control_flow --count 10000 [--seed 0]

The arithmetic is exact, so results must be equal to the bit. Some branches read a row
that is not there if `n` is 3: the engine must not fail where ONNX Runtime does not take
one. (Where it does, the engine fails only if an output depends on it.) A program that
differs is printed with its seed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import (
    InvalidArgument,
    RuntimeException,
)

import mace
from mace.python.tools.ir.dtypes import Array

_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
# Exact for numbers with few digits: these are multiples of 1/4 and stay below 2^20.
_BINARY = ("Add", "Sub", "Min", "Max")
_UNARY = ("Neg", "Relu", "Abs")
_LIMIT = 4096.0
_T = TypeVar("_T")


@dataclass
class _Scope:
    """Nodes of one graph, and the names that may be read there."""

    rng: np.random.Generator
    depth: int
    names: list[int] = field(default_factory=lambda: [0])
    floats: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def name(self, what: str) -> str:
        self.names[0] += 1
        return f"{what}{self.names[0]}"

    def inner(self) -> _Scope:
        return _Scope(
            self.rng, self.depth - 1, self.names, [*self.floats], [*self.integers]
        )

    def add(self, kind: str, inputs: Sequence[str], **attributes: object) -> str:
        name = self.name(kind.lower())
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, value: Array) -> str:
        name = self.name("constant")
        tensor = numpy_helper.from_array(value, name)
        self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def pick(self) -> str:
        return str(self.rng.choice(self.floats))

    def bounded(self, x: str) -> str:
        """The same, between limits, so that no digit is lost."""
        low = self.constant(np.array(-_LIMIT, np.float32))
        high = self.constant(np.array(_LIMIT, np.float32))
        return self.add("Max", [self.add("Min", [x, high]), low])

    def condition(self) -> str:
        """Whether the sum of some tensor is above a number."""
        total = self.add("ReduceSum", [self.pick()], keepdims=0)
        bound = np.array(self.rng.integers(-40, 40) / 4, np.float32)
        return self.add("Greater", [total, self.constant(bound)])

    def step(self) -> None:
        kind = self.rng.integers(10)
        if self.depth > 0 and kind < 2:
            self.loop()
        elif self.depth > 0 and kind == 2:
            self.choice()
        elif kind < 5:
            name = self.add(str(self.rng.choice(_UNARY)), [self.pick()])
            self.floats.append(name)
        else:
            kind_of_two = str(self.rng.choice(_BINARY))
            name = self.add(kind_of_two, [self.pick(), self.pick()])
            self.floats.append(self.bounded(name))

    def fill(self, most: int) -> None:
        for _ in range(self.rng.integers(1, most + 1)):
            self.step()

    def fault(self) -> None:
        """Reads a row whose number is too large, if `n` is 3. In a loop, the number
        depends on the step: what does not is computed before the first one.
        """
        three = self.constant(np.array(3, np.int64))
        is_three = self.add("Cast", [self.add("Equal", ["n", three])], to=_INT64)
        row = self.add("Mul", [is_three, self.constant(np.array(7, np.int64))])
        nothing = self.constant(np.array(0, np.int64))
        row = self.add("Add", [row, self.add("Min", [self.integers[-1], nothing])])
        found = self.add("Gather", [self.pick(), row], axis=0)
        self.floats.append(self.bounded(self.add("Add", [self.pick(), found])))

    def choice(self) -> None:
        branches = {}
        condition = self.condition()
        faulty = self.rng.integers(8)
        for index, name in enumerate(("then_branch", "else_branch")):
            scope = self.inner()
            scope.fill(3)
            if faulty == index:
                scope.fault()
            found = scope.floats[-1] if faulty == index else scope.pick()
            result = scope.add("Identity", [found])
            info = helper.make_tensor_value_info(result, _FLOAT, [2, 3])
            branches[name] = helper.make_graph(scope.nodes, name, [], [info])
        self.floats.append(self.add("If", [condition], **branches))

    def loop(self) -> None:
        count = int(self.rng.integers(1, 4))
        scope = self.inner()
        step, on = scope.name("step"), scope.name("on")
        states = [scope.name("state") for _ in range(count)]
        scope.floats += states
        scope.integers.append(step)
        scope.fill(4)
        limits = self.rng.integers(4)
        # Without a limit, a counter ends the loop.
        trips = ""
        if limits == 0:
            trips = self.constant(np.array(self.rng.integers(0, 5), np.int64))
        elif limits < 3:
            trips = str(self.rng.choice(self.integers))
        again = scope.add("Identity", [on])
        if limits == 3 or self.rng.integers(2):
            few = scope.constant(np.array(self.rng.integers(0, 6), np.int64))
            below = scope.add("Less", [step, few])
            again = scope.add("And", [below, scope.condition()])
        following = [
            scope.add("Identity", [str(self.rng.choice(scope.floats))]) for _ in states
        ]
        body = helper.make_graph(
            scope.nodes,
            "body",
            [
                helper.make_tensor_value_info(step, _INT64, []),
                helper.make_tensor_value_info(on, _BOOL, []),
                *(helper.make_tensor_value_info(s, _FLOAT, [2, 3]) for s in states),
            ],
            [
                helper.make_tensor_value_info(again, _BOOL, []),
                *(helper.make_tensor_value_info(s, _FLOAT, [2, 3]) for s in following),
            ],
        )
        go = self.condition() if self.rng.integers(2) else ""
        results = [self.name("result") for _ in states]
        inputs = [trips, go, *(self.pick() for _ in states)]
        self.nodes.append(helper.make_node("Loop", inputs, results, body=body))
        self.floats += results


def program(seed: int) -> onnx.ModelProto:
    """A program with the inputs x and z, float [2, 3], and n, int64 []."""
    scope = _Scope(np.random.default_rng(seed), depth=3)
    scope.floats += ["x", "z"]
    scope.integers.append("n")
    scope.fill(3)
    scope.loop()
    scope.fill(2)
    outputs = [scope.add("Identity", [name]) for name in scope.floats[-3:]]
    graph = helper.make_graph(
        scope.nodes,
        "program",
        [
            helper.make_tensor_value_info("x", _FLOAT, [2, 3]),
            helper.make_tensor_value_info("z", _FLOAT, [2, 3]),
            helper.make_tensor_value_info("n", _INT64, []),
        ],
        [helper.make_tensor_value_info(name, _FLOAT, [2, 3]) for name in outputs],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def _results(run: Callable[[], _T]) -> _T | None:
    """None if it fails."""
    try:
        return run()
    except (mace.MaceError, InvalidArgument, RuntimeException):
        return None


def difference(seed: int, folder: Path, counts: Counter[str]) -> str:
    """What the engine does otherwise than ONNX Runtime; '' if nothing.

    Args:
        counts: of runs that fail, to which those of the program are added.
    """
    model = program(seed)
    path = folder / f"program{seed}.onnx"
    path.write_bytes(model.SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4  # runs that fail are expected
    session = onnxruntime.InferenceSession(str(path), options)
    engine = mace.load(str(path))
    names = [value.name for value in model.graph.output]
    rng = np.random.default_rng(seed)
    for trips in (0, 1, 3):
        feeds = {
            "x": rng.integers(-20, 20, (2, 3)).astype(np.float32) / 4,
            "z": rng.integers(-20, 20, (2, 3)).astype(np.float32) / 4,
            "n": np.array(trips, np.int64),
        }
        wanted = _results(partial(session.run, names, feeds))
        found = _results(partial(engine.run, feeds))
        if wanted is None:
            counts["failed in ONNX Runtime"] += 1
            counts["failed in both"] += found is None
            continue
        if found is None:
            return f"only the engine fails with n = {trips}"
        for name, expected in zip(names, wanted):
            if not np.array_equal(found[name], expected):
                return (
                    f"{name} with n = {trips} is {found[name].tolist()}, "
                    f"not {expected.tolist()}"
                )
    path.unlink()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    args = parser.parse_args()
    wrong, counts = 0, Counter[str]()
    with TemporaryDirectory() as name:
        for seed in range(args.seed, args.seed + args.count):
            found = difference(seed, Path(name), counts)
            if found:
                wrong += 1
                print(f"seed {seed}: {found}", flush=True)
    failed = ", ".join(f"{count} runs {what}" for what, count in counts.items())
    print(f"{args.count} programs, {wrong} differ; {failed or 'no run failed'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
