# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws graphs of ONNX: operators one after the other, on tensors that are there.

ONNX's reference evaluator computes each operator when it is added. So its result's
shape is known, and an operator that the evaluator refuses is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from mace.python.tools.ir.dtypes import Array

OPSET = 21
_IR = 10
# Around the widths of vectors, with all remainders of them.
_LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 31, 33)
_MOST_ELEMENTS = 20_000
_TRIES = 8


@dataclass
class Draw:
    """A graph that grows.

    Attributes:
        rng: of this graph.
        smooth: whether results follow small changes of operands, which the rounding of
            weights to 16 bits asks for.
        values: of all tensors, by name.
        inputs: names of the model's inputs.
        weights: names of constants.
    """

    rng: np.random.Generator
    smooth: bool
    values: dict[str, Array] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    # Choices ----------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        """True in this share of the draws."""
        return bool(self.rng.random() < share)

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def length(self) -> int:
        """A dimension, now and then an empty one."""
        return 0 if self.chance(0.01) else int(self.choose(_LENGTHS))

    def shape(self, rank: int) -> tuple[int, ...]:
        """Dimensions of a tensor that is not too large."""
        dims = [self.length() for _ in range(rank)]
        while np.prod([max(dim, 1) for dim in dims]) > _MOST_ELEMENTS:
            dims[int(np.argmax(dims))] = int(self.choose(_LENGTHS[:5]))
        return tuple(dims)

    # Tensors ----------------------------------------------------------------------

    def floats(self, *shape: int) -> Array:
        """Numbers around 0."""
        return self.rng.standard_normal(shape).astype(np.float32)

    def special(self, array: Array) -> Array:
        """The array, now and then with infinities, zeros, small and large numbers."""
        if not self.smooth and array.size and self.chance(0.15):
            special = (np.inf, -np.inf, 0.0, -0.0, 1e-7, 1e30)
            for _ in range(self.integer(1, 3)):
                place = self.integer(0, array.size - 1)
                array.reshape(-1)[place] = self.choose(special)
        return array

    def input(self, array: Array) -> str:
        """A new input of the model; a constant if it is empty, which no input is."""
        if array.size == 0:
            return self.weight(array)
        return self._named(self.inputs, "x", array)

    def weight(self, array: Any) -> str:
        """A new constant."""
        return self._named(self.weights, "w", np.asarray(array))

    def _named(self, names: list[str], letter: str, array: Array) -> str:
        name = f"{letter}{len(names)}"
        names.append(name)
        self.values[name] = array
        return name

    def tensor(self, *ranks: int, dtype: Any = np.float32) -> str:
        """A tensor that is there, of one of the ranks, or a new input."""
        found = [
            name
            for name, array in self.values.items()
            if array.dtype == dtype
            and array.ndim in ranks
            and name not in self.weights
            and array.size <= _MOST_ELEMENTS
        ]
        if found and not self.chance(0.2):
            return str(self.choose(found[-6:]))
        shape = self.shape(self.choose(ranks))
        if np.dtype(dtype).kind == "f":
            return self.input(self.special(self.floats(*shape)))
        return self.input(self.rng.integers(-9, 10, shape).astype(dtype))

    def partner(self, name: str) -> str:
        """A tensor that broadcasts with another one."""
        like = self.values[name]
        dims = [1 if self.chance(0.3) else dim for dim in like.shape]
        dims = dims[self.integer(0, len(dims)) if self.chance(0.3) else 0 :]
        array = self.floats(*dims)
        if like.dtype.kind != "f":
            array = self.rng.integers(1, 9, dims).astype(like.dtype)
        return self.weight(array) if self.chance(0.5) else self.input(array)

    # Operators --------------------------------------------------------------------

    def add(
        self, op_type: str, inputs: Sequence[str], count: int = 1, **attrs: Any
    ) -> list[str]:
        """A node, and the names of its results.

        Raises:
            Exception: the evaluator refuses the node.
        """
        names = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        node = helper.make_node(op_type, list(inputs), names, **attrs)
        feeds = {name: self.values[name] for name in inputs if name}
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(_model([node], feeds, names)).run(None, feeds)
        arrays = [np.asarray(result) for result in results]
        if any(array.size > 4 * _MOST_ELEMENTS for array in arrays):
            raise ValueError("too large")
        self.nodes.append(node)
        self.values.update(zip(names, arrays))
        return names

    def model(self) -> onnx.ModelProto:
        """The graph, whose outputs are the results that nothing reads."""
        read = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output]
        ends = [name for name in made if name not in read]
        # Applications get no empty tensors.
        outputs = [name for name in ends if self.values[name].size]
        given = {n: self.values[n] for n in self.inputs if n in read}
        model = _model(self.nodes, given, outputs)
        kept = [name for name in self.weights if name in read]
        model.graph.initializer.extend(
            numpy_helper.from_array(self.values[name], name) for name in kept
        )
        for output in model.graph.output:
            array = self.values[output.name]
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            output.CopyFrom(helper.make_tensor_value_info(output.name, kind, None))
        return model


def _model(
    nodes: Sequence[onnx.NodeProto], given: dict[str, Array], outputs: Sequence[str]
) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in given.items()
    ]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(list(nodes), "random", inputs, results)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR)


Operator = Callable[[Draw], Any]


def draw_graph(
    seed: Sequence[int], operators: Sequence[Operator], smooth: bool
) -> Draw:
    """A graph of up to eight operators."""
    draw = Draw(np.random.default_rng(list(seed)), smooth)
    wanted = draw.integer(1, 8)
    for _ in range(wanted * _TRIES):
        if len(draw.nodes) >= wanted:
            break
        operator = draw.choose(operators)
        inputs, weights = len(draw.inputs), len(draw.weights)
        try:
            operator(draw)
        except Exception:  # the evaluator's own; the operator is left out
            for name in (*draw.inputs[inputs:], *draw.weights[weights:]):
                del draw.values[name]
            del draw.inputs[inputs:], draw.weights[weights:]
    return draw
