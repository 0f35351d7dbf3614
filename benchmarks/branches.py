# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A network with two branches, one of which each run takes.

    python -m benchmarks.branches [--seconds 10] [--require 0.6]

The network is built like the voice detectors of the Silero kind, with random weights:
the sampling rate, an input, chooses between two branches. Each has a spectrum by a
convolution, four convolutions, a step of an LSTM whose states are inputs and outputs,
and a probability. It is compared with ONNX Runtime, which runs one branch, too, and
with the branch alone. Outputs are compared. With `--require`, the exit status is 1 if
MACE takes more than that share of ONNX Runtime's time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import mace
from benchmarks.beside_onnxruntime import open_session
from benchmarks.timing import interleave

_FLOAT, _WIDTH = TensorProto.FLOAT, 128
_RATES = (16000, 8000)
# In a turn, so that few of them find the caches full of the other engine's weights.
_RUNS = 20


class _Branch:
    """The nodes and weights of the branch for a rate."""

    def __init__(self, rate: int) -> None:
        self._prefix, self._rng = f"r{rate}_", np.random.default_rng(rate)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.outputs = [self._prefix + name for name in ("y", "h", "c")]
        # 16 ms, in steps of 8 ms.
        self._build(rate * 16 // 1000, rate * 36 // 1000)

    def _weight(self, *shape: int) -> str:
        scale = np.sqrt(np.prod(shape[1:]))
        values = self._rng.standard_normal(shape) / scale
        return self._constant(values.astype(np.float32))

    def _constant(self, value: NDArray[Any]) -> str:
        name = f"{self._prefix}w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def _add(self, kind: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        name = to or f"{self._prefix}{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def _convolution(self, x: str, to: int, of: int, stride: int) -> str:
        sizes: dict[str, Any] = {"strides": [stride], "pads": [1, 1]}
        weights = self._weight(to, of, 3), self._weight(to)
        return self._add("Relu", self._add("Conv", x, *weights, **sizes))

    def _build(self, window: int, length: int) -> None:
        ends = (np.array([n]) for n in (0, length, 1))
        x = self._add("Slice", "x", *map(self._constant, ends))
        x = self._add("Unsqueeze", x, self._constant(np.array([1])))
        bins = window // 2 + 1
        spectrum = self._weight(2 * bins, 1, window)
        x = self._add("Conv", x, spectrum, strides=[window // 2])
        half, end, start = (np.array([n]) for n in (bins, 2 * bins, 0))
        parts = [
            self._add("Slice", x, *map(self._constant, (a, b, np.array([1]))))
            for a, b in ((start, half), (half, end))
        ]
        squares = [self._add("Mul", part, part) for part in parts]
        x = self._add("Sqrt", self._add("Add", *squares))
        channels = (bins, _WIDTH, 64, 64, _WIDTH)
        for of, to, stride in zip(channels, channels[1:], (1, 2, 2, 1)):
            x = self._convolution(x, to, of, stride)
        last = self._add("ReduceMean", x, axes=[2], keepdims=0)
        sequence = self._add("Unsqueeze", last, self._constant(np.array([0])))
        weights = [self._weight(1, 4 * _WIDTH, _WIDTH) for _ in range(2)]
        bias = self._weight(1, 8 * _WIDTH)
        all_steps = f"{self._prefix}all"
        self.nodes.append(
            helper.make_node(
                "LSTM",
                [sequence, *weights, bias, "", "h", "c"],
                [all_steps, *self.outputs[1:]],
                hidden_size=_WIDTH,
            )
        )
        found = self._add("Reshape", all_steps, self._constant(np.array([1, _WIDTH])))
        score = self._add("MatMul", found, self._weight(_WIDTH, 1))
        self._add("Sigmoid", score, to=self.outputs[0])

    def graph(self) -> onnx.GraphProto:
        return helper.make_graph(self.nodes, "branch", [], self._infos(), self.weights)

    def _infos(self) -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(name, _FLOAT, shape)
            for name, shape in zip(self.outputs, ([1, 1], *[[1, 1, _WIDTH]] * 2))
        ]


def network(alone: bool) -> onnx.ModelProto:
    """The network with both branches, or the first one alone."""
    inputs = [("x", _FLOAT, [1, 576]), ("h", _FLOAT, [1, 1, _WIDTH])]
    inputs.append(("c", _FLOAT, [1, 1, _WIDTH]))
    first, second = map(_Branch, _RATES)
    names = ["probability", "next_h", "next_c"]
    if alone:
        nodes = first.nodes + [
            helper.make_node("Identity", [name], [to])
            for name, to in zip(first.outputs, names)
        ]
        weights = first.weights
    else:
        inputs.append(("sr", TensorProto.INT64, []))
        weights = [numpy_helper.from_array(np.array(_RATES[0]), "rate")]
        nodes = [
            helper.make_node("Equal", ["sr", "rate"], ["is_first"]),
            helper.make_node(
                "If",
                ["is_first"],
                names,
                then_branch=first.graph(),
                else_branch=second.graph(),
            ),
        ]
    shapes = [[1, 1], *[[1, 1, _WIDTH]] * 2]
    graph = helper.make_graph(
        nodes,
        "detector",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(n, _FLOAT, s) for n, s in zip(names, shapes)],
        weights,
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def _turn(run: Callable[[], object]) -> None:
    for _ in range(_RUNS):
        run()


def measure(folder: Path, seconds: float) -> float:
    """Prints the times; returns the largest share of ONNX Runtime's."""
    rng = np.random.default_rng(1)
    feeds: dict[str, Any] = {
        "x": rng.standard_normal((1, 576)).astype(np.float32),
        "h": np.zeros((1, 1, _WIDTH), np.float32),
        "c": np.zeros((1, 1, _WIDTH), np.float32),
    }
    paths = folder / "both.onnx", folder / "alone.onnx"
    for path, alone in zip(paths, (False, True)):
        path.write_bytes(network(alone).SerializeToString())
    options = mace.RunOptions(threads=1)
    engine, single = (mace.load(str(path), options=options) for path in paths)
    session = open_session(paths[0], 1)
    largest = 0.0
    for rate in _RATES:
        given = {**feeds, "sr": np.array(rate)}
        wanted = session.run(None, given)
        found = engine.run(given)
        error = max(float(np.abs(a - b).max()) for a, b in zip(found.values(), wanted))
        sides: dict[str, Callable[[], object]] = {
            "MACE": partial(engine.run, given),
            "ONNX Runtime": partial(session.run, None, given),
        }
        if rate == _RATES[0]:
            sides["MACE, this branch alone"] = partial(single.run, feeds)
        turns = {name: partial(_turn, run) for name, run in sides.items()}
        times = interleave(turns, seconds / len(_RATES))
        ratio = times["MACE"].minimum / times["ONNX Runtime"].minimum
        medians = times["MACE"].median / times["ONNX Runtime"].median
        largest = max(largest, ratio)
        print(f"{rate} Hz: {ratio:.3f} ({medians:.3f}), difference {error:.1e}")
        for name, found_times in times.items():
            minimum, median = (
                milliseconds * 1e3 / _RUNS
                for milliseconds in (found_times.minimum, found_times.median)
            )
            print(f"  {name}: {minimum:.0f} ({median:.0f}) us")
    return largest


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--require", type=float, help="of ONNX Runtime's time, at most")
    args = parser.parse_args()
    with TemporaryDirectory() as name:
        largest = measure(Path(name), args.seconds)
    return 1 if args.require is not None and largest > args.require else 0


if __name__ == "__main__":
    raise SystemExit(main())
