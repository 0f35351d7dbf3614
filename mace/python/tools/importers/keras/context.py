# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a handler, and the tables in which handlers and variables register.

Handlers know only channels last: a layer on images with channels first is converted
between transposes (`call_handler`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.known import STATIC_HINT, KnownShapes
from mace.python.tools.importers.keras.network import (
    CHANNELS_FIRST,
    CHANNELS_LAST,
    DATA_FORMAT,
    Layer,
    nested_items,
    nested_map,
)
from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import (
    to_channels_first,
    to_channels_last,
)

_LOST_MASK = "it gets a mask that a layer in front of it does not keep, or several"
_MASK_HINT = "build the model without masks"
# Below it, a tensor has no channels beside batch and elements.
_LEAST_RANK = 3


# Converts a model that a layer wraps, called by a name with arguments; None if a layer
# of it cannot be converted, which is in the table of those already.
Networks = Callable[[Layer, str, "Sequence[Value]"], "list[Value] | None"]


@dataclass(eq=False)
class Context(KnownShapes):
    """One call of a layer under conversion.

    Attributes:
        layer: the layer.
        builder: where its operators go.
        name: of the call, for operators.
        arguments: positional ones, with values for tensors.
        keywords: the others.
        masked: an input has a mask that says which steps count.
        mask: this mask, [batch, steps] of bool; None: not known.
        masks: of tensors by identity, None for one that is not known.
        networks: converts models that the layer wraps.
        results: its outputs, filled by handlers.
        gives_mask: the mask of its output; False: it has none; None: as the input, if
            the layer keeps it.
        before_activation: what the activation of the layer is applied to, if it has
            one.
    """

    layer: Layer
    builder: GraphBuilder
    name: str
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    masked: bool = False
    mask: Value | None = None
    masks: Mapping[int, Value | None] = field(default_factory=dict)
    networks: Networks | None = None
    results: dict[int, Value] = field(default_factory=dict, init=False)
    gives_mask: Value | bool | None = field(default=None, init=False)
    before_activation: Value | None = field(default=None, init=False)
    _made: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        given = self.keyword("mask")
        self.mask = self.mask if given is None else given
        self.masked = self.masked or self.mask is not None

    @property
    def inputs(self) -> list[Value]:
        """All tensors among the positional arguments."""
        return list(nested_items(Value, self.arguments))

    def input(self, index: int = 0) -> Value:
        """A tensor that must be there."""
        inputs = self.inputs
        if index >= len(inputs):
            raise UnsupportedNodeError(f"input {index} is missing")
        return inputs[index]

    def floats(self, index: int = 0) -> Value:
        """An input as float32."""
        return self.as_floats(self.input(index))

    def as_floats(self, value: Value) -> Value:
        """A value as float32."""
        if value.dtype is DataType.FLOAT32:
            return value
        return self.step("Cast", [value], "floats", to="FLOAT32")

    def keyword(self, name: str) -> Value | None:
        """A tensor that is given by name."""
        value = self.keywords.get(name)
        return value if isinstance(value, Value) else None

    def no_keywords(self, *names: str) -> None:
        """Refuses arguments that would have an effect."""
        for name in names:
            if self.keywords.get(name) not in (None, False):
                raise UnsupportedNodeError(f"it is called with {name}")

    def refuse_training(self) -> None:
        """For layers that compute something else in training."""
        # The call of a model of Keras 3 overrides this, that of Keras 2 does not.
        if self.layer.keras < 3 and self.keywords.get("training") is True:
            raise UnsupportedNodeError("it is called with training=True")

    def refuse_mask(self) -> None:
        """For layers that compute something else with a mask."""
        if self.masked:
            reason = "it gets a mask, from mask_zero or a layer Masking"
            raise UnsupportedNodeError(reason, _MASK_HINT)

    def mask_of(self, value: Value) -> Value | None:
        """The mask of an input, None if it has none.

        Raises:
            UnsupportedNodeError: it is not known.
        """
        mask = self.masks.get(id(value))
        if mask is None and id(value) in self.masks:
            raise UnsupportedNodeError(_LOST_MASK, _MASK_HINT)
        return mask

    def known_mask(self) -> Value:
        """The mask of a layer that is masked."""
        if self.mask is None:
            raise UnsupportedNodeError(_LOST_MASK, _MASK_HINT)
        return self.mask

    def variable(self, index: int, shape: Sequence[int | None] = ()) -> Array:
        """A variable of the layer, in float32.

        Args:
            index: in Keras' order.
            shape: that it must have; None where any number will do.
        """
        if index >= len(self.layer.readers):
            raise UnsupportedNodeError("the file has no variables for this layer")
        array = self.layer.readers[index]().astype(np.float32)
        fits = len(array.shape) == len(shape) and all(
            wanted is None or own == wanted for own, wanted in zip(array.shape, shape)
        )
        if shape and not fits:
            shown = ["?" if dim is None else dim for dim in shape]
            raise UnsupportedNodeError(
                f"variable {index} has the shape {list(array.shape)}, not {shown}"
            )
        return array

    def rank(self, value: Value) -> int:
        """The rank of a value."""
        return len(self.shape(value))

    def check_rank(self, value: Value, rank: int) -> None:
        """Raises unless an input has so many dimensions."""
        if self.rank(value) != rank:
            raise UnsupportedNodeError(
                f"the input has {self.rank(value)} dimensions, not {rank}"
            )

    def images(self) -> tuple[Value, int]:
        """The input as float32, for layers like Conv2D; and how many dimensions such a
        layer's name says that images have.
        """
        x, dims = self.floats(), int(self.layer.kind.removesuffix("Transpose")[-2])
        self.check_rank(x, dims + 2)
        return x, dims

    # Its name in handlers of earlier releases, too.
    fixed = KnownShapes.static_shape

    def batch(self, value: Value) -> int:
        """The first dimension for Reshape: -1 if it is open."""
        dim = self.shape(value)[0]
        return dim if isinstance(dim, int) else -1

    def dims(self, value: Value) -> list[int]:
        """The dimensions for Reshape: -1 for one that is open.

        Raises:
            UnsupportedNodeError: several are.
        """
        dims = [dim if isinstance(dim, int) else -1 for dim in self.shape(value)]
        if dims.count(-1) > 1:
            reason = f"several dimensions of {value.name} are not known before the run"
            raise UnsupportedNodeError(reason, STATIC_HINT)
        return dims

    def axis(self, axis: int, value: Value) -> int:
        """An axis counted from the first one."""
        rank = self.rank(value)
        if not -rank <= axis < rank:
            raise UnsupportedNodeError(f"axis {axis} of {rank} dimensions")
        return axis % rank

    def axes(self, value: Value, key: str = "axis") -> list[int]:
        """Axes of the configuration, counted from the first one."""
        return [self.axis(axis, value) for axis in self.layer.axes(key)]

    def step(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        suffix: str = "",
        **attrs: Any,
    ) -> Value:
        """Adds an operator."""
        name = f"{self.name}/{suffix or op_type.lower()}"
        value = self.builder.one(op_type, inputs, None, attrs, name)
        self._made.add(id(value))
        return value

    def make(
        self, op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        """The same, for code that makes operators of any framework."""
        return self.step(op_type, inputs, **attrs)

    def eltwise(self, mode: str, *operands: Value | Array | float) -> Value:
        """Adds arithmetic on values and numbers, which are float32 beside floats."""
        return self.step("Eltwise", self._values(operands), mode.lower(), mode=mode)

    def emit_eltwise(self, mode: str, *operands: Value | Array | float) -> None:
        """Adds arithmetic that gives the result of the layer."""
        self.give(self.eltwise(mode, *operands))

    def _values(self, operands: Sequence[Value | Array | float]) -> list[Value]:
        dtype = next(item.dtype for item in operands if isinstance(item, Value))
        return [
            item
            if isinstance(item, Value)
            else self.constant(np.asarray(item, dtype.numpy))
            for item in operands
        ]

    def reduce(
        self, mode: str, x: Value, axes: Sequence[int], keep: bool = True
    ) -> Value:
        """Adds a sum, a mean or the like over some axes."""
        attrs = {"mode": mode, "axes": list(axes), "keep_dims": keep}
        return self.step("Reduce", [x], mode.lower(), **attrs)

    def differs(self, x: Value, number: float) -> Value:
        """Whether elements are not a number."""
        return self.eltwise("NOT_EQUAL", x, number)

    def as_integers(self, value: Value) -> Value:
        """A value as int32."""
        if value.dtype is DataType.INT32:
            return value
        return self.step("Cast", [value], "integers", to="INT32")

    def steps(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        suffixes: Sequence[str],
        **attrs: Any,
    ) -> list[Value]:
        """Adds an operator with several outputs."""
        unique = self.builder.graph.unique_name
        names = [unique(f"{self.name}/{suffix}") for suffix in suffixes]
        name = f"{self.name}/{suffixes[0]}"
        values = self.builder.op(op_type, inputs, names, attrs, name, source=False)
        self.has_made(values)
        return values

    def constant(self, array: Array, suffix: str = "value") -> Value:
        """Adds a constant that belongs to this layer."""
        unique = self.builder.graph.unique_name
        return self.builder.constant(unique(f"{self.name}/{suffix}"), array)

    def transposed(self, array: Array, perm: Sequence[int], suffix: str) -> Value:
        """The same with axis perm[i] as axis i."""
        value = self.constant(array.transpose(perm), suffix)
        value.source_axes = tuple(perm)
        return value

    def scalar(self, number: float, suffix: str = "number") -> Value:
        """A constant of one number."""
        return self.constant(np.asarray(number, np.float32), suffix)

    def emit(self, op_type: str, inputs: Sequence[Value | None], **attrs: Any) -> None:
        """Adds the operator that gives the result of the layer."""
        self.give(self.step(op_type, inputs, **attrs))

    def give(self, value: Value, index: int = 0) -> None:
        """Makes a value a result of the layer."""
        name = f"{self.name}:{index}" if index else self.name
        graph = self.builder.graph
        is_free = name not in graph.values and value not in self.results.values()
        if id(value) in self._made and not value.is_constant and is_free:
            graph.rename_value(value, name)
            value.source = name
        else:
            unique = name if name not in graph.values else graph.unique_name(name)
            value = self.builder.alias(value, unique)
        self.results[index] = value

    def inside(
        self,
        layer: Layer,
        suffix: str,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
    ) -> Context:
        """The call of a layer that stands for this one, or for a part of it."""
        return replace(
            self,
            layer=layer,
            name=f"{self.name}/{suffix}",
            arguments=arguments,
            keywords=keywords,
        )

    def network_results(
        self, layer: Layer, suffix: str, arguments: Sequence[Value]
    ) -> list[Value]:
        """The results of a model inside of this layer.

        Raises:
            UnsupportedNodeError: a layer of it cannot be converted.
        """
        name = f"{self.name}/{suffix}"
        results = self.networks and self.networks(layer, name, arguments)
        if results is None:
            raise UnsupportedNodeError(f"it wraps {layer.name}, which is not supported")
        return results

    def give_all(self, values: Sequence[Value], first: int = 0) -> None:
        """Makes values results of the layer, from the `first` one on."""
        for index, value in enumerate(values, first):
            self.give(value, index)

    def has_made(self, values: Iterable[Value]) -> None:
        """These values come from this layer."""
        self._made.update(map(id, values))


Handler = Callable[[Context], None]
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.keras.handlers"
)

# The variables of a layer in Keras' order: where a `.keras` file has each, behind the
# folder of the layer, and whether it can be trained.
Variables = Callable[[Layer], "Iterable[tuple[str, bool]]"]
VARIABLES: dict[str, Variables] = {}


def has_variables(*kinds: str) -> Callable[[Variables], Variables]:
    """Decorator: this function says which variables layers of these classes have."""

    def add(find: Variables) -> Variables:
        for kind in kinds:
            if kind in VARIABLES:
                raise ValueError(f"the variables of {kind} are given twice")
            VARIABLES[kind] = find
        return find

    return add


def count_variables(
    *kinds: str, count: int | Callable[[Layer], int], folder: str = "vars"
) -> None:
    """Layers of these classes have so many variables, which all can be trained."""

    def find(layer: Layer) -> list[tuple[str, bool]]:
        own = count if isinstance(count, int) else count(layer)
        return [(f"{folder}/{index}", True) for index in range(own)]

    has_variables(*kinds)(find)


def with_bias(count: int) -> Callable[[Layer], int]:
    """So many variables, and one more for a layer with biases."""
    return lambda layer: count + layer.flag("use_bias", True)


def call_handler(handler: Handler, context: Context) -> None:
    """Converts a layer whose images may have any order."""
    layer = context.layer
    order = layer.text(DATA_FORMAT, CHANNELS_LAST)
    if order == CHANNELS_LAST:
        handler(context)
        return
    if order != CHANNELS_FIRST:
        raise UnsupportedNodeError(f"data_format is {order!r}")
    turned = context.inside(
        replace(layer, config={**layer.config, DATA_FORMAT: CHANNELS_LAST}),
        "channels_last",
        _turned(context, context.arguments),
        _turned(context, context.keywords),
    )
    rank = context.rank(context.input())
    handler(turned)
    context.gives_mask = turned.gives_mask
    for index, value in turned.results.items():
        # Without its last axes, it has no order any more.
        if value.rank == rank:
            perm = to_channels_first(rank)
            value = context.step("Transpose", [value], "channels_first", perm=perm)
        context.give(value, index)


def apply(
    context: Context,
    layer: Layer,
    arguments: Sequence[Any],
    suffix: str,
    keywords: Mapping[str, Any] | None = None,
) -> list[Value]:
    """The results of a layer inside of another one."""
    if layer.network is not None and not layer.custom:
        values = context.network_results(layer, suffix, arguments)
        context.has_made(values)
        return values
    handler = None if layer.custom else HANDLERS.find(layer.kind)
    if handler is None:
        raise UnsupportedNodeError(f"it wraps a layer {layer.kind}, not supported")
    inner = context.inside(layer, suffix, arguments, keywords or {})
    call_handler(handler, inner)
    values = [inner.results[index] for index in sorted(inner.results)]
    for value in values:
        value.source = ""
    context.has_made(values)
    return values


def _turned(context: Context, nested: Any) -> Any:
    """With images that have channels last."""

    def turned(value: Value) -> Value:
        rank = context.rank(value)
        if rank < _LEAST_RANK:
            return value
        perm = to_channels_last(rank)
        return context.step("Transpose", [value], "channels_last", perm=perm)

    return nested_map(Value, turned, nested)
