# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors, in which loops collect results, and whose lengths are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
    TensorList,
)
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# More would be a damaged file: each is an operator of its own.
_MOST_ELEMENTS = 100_000


@HANDLERS.register("TensorListReserve")
def reserve(context: Context) -> None:
    """A list of some length, without elements."""
    count = context.ints(1, "num_elements")[0]
    context.results[0] = _empty(context, count)


@HANDLERS.register("EmptyTensorList")
def empty(context: Context) -> None:
    """A list that grows."""
    context.results[0] = _empty(context, 0)


@HANDLERS.register("TensorListFromTensor")
def from_tensor(context: Context) -> None:
    """The slices of a tensor along axis 0."""
    value = context.input(0)
    shape = static(value.shape)
    if shape is None or not shape:
        raise UnsupportedNodeError(
            f"the shape of {value.name} is not known", "give all input_shapes"
        )
    _check_count(shape[0])
    context.results[0] = TensorList(
        (None,) * shape[0], value, shape[1:], _dtype(context)
    )


@HANDLERS.register("TensorListGetItem")
def get_item(context: Context) -> None:
    """One element."""
    items, index = context.tensor_list(0), _index(context)
    element = _element(context, items, index)
    context.results[0] = context.builder.alias(element, context.output_name())


@HANDLERS.register("TensorListSetItem")
def set_item(context: Context) -> None:
    """The list with another element."""
    items, index = _elements(context), _index(context)
    changed = list(items.elements)
    changed[index] = context.input(2)
    context.results[0] = replace(items, elements=tuple(changed))


@HANDLERS.register("TensorListPushBack")
def push_back(context: Context) -> None:
    """The list with one more element."""
    items = _elements(context)
    _check_count(len(items.elements) + 1)
    context.results[0] = replace(items, elements=(*items.elements, context.input(1)))


@HANDLERS.register("TensorListPopBack")
def pop_back(context: Context) -> None:
    """The list without its last element, and that element."""
    items = _elements(context)
    if not items.elements:
        raise UnsupportedNodeError("the list is empty")
    last = _element(context, items, len(items.elements) - 1)
    context.results[0] = replace(items, elements=items.elements[:-1])
    context.results[1] = context.builder.alias(last, context.output_name(1))


@HANDLERS.register("TensorListLength")
def length(context: Context) -> None:
    """The number of elements."""
    count = len(context.tensor_list(0).elements)
    context.results[0] = context.builder.constant(
        context.output_name(), np.asarray(count, np.int32)
    )


@HANDLERS.register("TensorListResize")
def resize(context: Context) -> None:
    """The list with another length; new elements are not set."""
    items, count = _elements(context), context.ints(1, "size")[0]
    _check_count(count)
    kept = items.elements[:count]
    missing = (None,) * (count - len(kept))
    context.results[0] = replace(items, elements=(*kept, *missing))


@HANDLERS.register("TensorListStack")
def stack(context: Context) -> None:
    """All elements, along a new axis 0."""
    items = context.tensor_list(0)
    if items.stacked is not None:
        context.results[0] = context.builder.alias(items.stacked, context.output_name())
        return
    if not items.elements:
        raise UnsupportedNodeError("the list is empty")
    elements = [_element(context, items, i) for i in range(len(items.elements))]
    context.emit("Stack", elements, axis=0)


@HANDLERS.register("TensorListGather")
def gather(context: Context) -> None:
    """Some elements, along a new axis 0."""
    items = context.tensor_list(0)
    indices = context.ints(1, "indices")
    if not indices:
        raise UnsupportedNodeError("no elements are gathered")
    elements = [_element(context, items, index) for index in indices]
    context.emit("Stack", elements, axis=0)


@HANDLERS.register("TensorListConcatV2")
def concat(context: Context) -> None:
    """All elements, along their own axis 0, and their lengths."""
    items = context.tensor_list(0)
    if not items.elements:
        raise UnsupportedNodeError("the list is empty")
    elements = [_element(context, items, i) for i in range(len(items.elements))]
    shapes = [static(element.shape) for element in elements]
    if any(not shape for shape in shapes):
        raise UnsupportedNodeError("the shapes of its elements are not known")
    context.emit("Concat", elements, axis=0)
    lengths = np.asarray([shape[0] for shape in shapes if shape], np.int64)
    context.results[1] = context.builder.constant(context.output_name(1), lengths)


def _empty(context: Context, count: int) -> TensorList:
    _check_count(count)
    shape: tuple[int, ...] | None = None
    value = context.input(0)
    if value.is_constant:
        array = np.asarray(value.numpy())
        shape = tuple(int(dim) for dim in array) if array.ndim == 1 else None
    return TensorList((None,) * count, None, shape, _dtype(context))


def _dtype(context: Context) -> int:
    number = context.node.integer("element_dtype", 1)
    if number not in ELEMENT_TYPES:
        raise UnsupportedNodeError(f"a list of {type_name(number)}")
    return number


def _check_count(count: int) -> None:
    if not 0 <= count <= _MOST_ELEMENTS:
        raise UnsupportedNodeError(f"a list of {count} tensors")


def _index(context: Context) -> int:
    index = context.ints(1, "index")[0]
    count = len(context.tensor_list(0).elements)
    if not 0 <= index < count:
        raise UnsupportedNodeError(f"element {index} of a list of {count}")
    return index


def _elements(context: Context) -> TensorList:
    """The list at input 0, each of whose elements is a tensor of its own."""
    items = context.tensor_list(0)
    if items.stacked is None:
        return items
    elements = tuple(
        _element(context, items, index) for index in range(len(items.elements))
    )
    return replace(items, elements=elements, stacked=None)


def _element(context: Context, items: TensorList, index: int) -> Value:
    if not 0 <= index < len(items.elements):
        raise UnsupportedNodeError(
            f"element {index} of a list of {len(items.elements)}"
        )
    if items.stacked is not None:
        place = context.constant(np.asarray(index, np.int32), "index")
        return context.step("Gather", [items.stacked, place], f"item{index}", axis=0)
    element = items.elements[index]
    if element is not None:
        return element
    # TensorFlow gives zeros for an element that was never set.
    shape = items.shape
    if shape is None or -1 in shape:
        known = [static(other.shape) for other in items.elements if other is not None]
        if not known or known[0] is None:
            raise UnsupportedNodeError(f"element {index} of the list was never set")
        shape = known[0]
    zeros = np.zeros(shape, ELEMENT_TYPES[items.dtype].numpy)
    return context.constant(zeros, f"zeros{index}")
