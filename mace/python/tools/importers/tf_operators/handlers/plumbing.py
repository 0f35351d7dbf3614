# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that hold tensors or pass them on: constants, variables, whose values a
SavedModel has, and lists of tensors, whose lengths are known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import (
    HANDLERS,
    Context,
    TensorList,
    Variable,
    variable_id,
)
from mace.python.tools.importers.tf_operators.node import ELEMENT_TYPES, type_name
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# More would be a damaged file: each is an operator of its own.
_MOST_ELEMENTS = 100_000


@HANDLERS.register("Const")
def const(context: Context) -> None:
    """A constant, as a view over the file's bytes."""
    value = context.builder.constant(context.output_name(), context.node.tensor())
    value.source = context.output_name()
    context.results[0] = value


@HANDLERS.register(
    "Identity",
    "Snapshot",
    "GuaranteeConst",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "PlaceholderWithDefault",
    "EnsureShape",
)
def identity(context: Context) -> None:
    """Has no effect in inference."""
    _pass_on(context, 0)


@HANDLERS.register("IdentityN")
def identity_n(context: Context) -> None:
    """Several identities at once."""
    for index in range(len(context.items)):
        _pass_on(context, index)


def _pass_on(context: Context, index: int) -> None:
    item = context.items[index]
    if isinstance(item, Value):
        context.pass_on(item, index)
    else:
        context.results[index] = item


@HANDLERS.register("NoOp")
def no_op(context: Context) -> None:
    """Only orders other nodes in training; it has no outputs."""


@HANDLERS.register("Fill")
def fill(context: Context) -> None:
    """A tensor of one value, in a shape that is known or that the run computes."""
    dims, value = context.input(0), context.input(1)
    if dims.constant is None or value.constant is None:
        context.pass_on(context.standard.op("Expand", value, dims))
        return
    shape = context.ints(0, "dims")
    check_made(*shape)
    context.give(np.full(shape, value.constant.numpy().reshape(())))


@HANDLERS.register("ZerosLike", "OnesLike")
def like(context: Context) -> None:
    """Zeros or ones in the shape of the input, which the run may have to compute."""
    x, is_ones = context.input(0), context.node.op == "OnesLike"
    dims = static(x.shape)
    if dims is None:
        standard = context.standard
        context.rank(0)
        element = context.constant(np.asarray(is_ones, x.dtype.numpy), "element")
        context.pass_on(standard.op("Expand", element, standard.op("Shape", x)))
        return
    check_made(*dims)
    context.give(np.full(dims, is_ones, x.dtype.numpy))


@HANDLERS.register("Range")
def arange(context: Context) -> None:
    """Evenly spaced numbers, which must be known."""
    start, limit, delta = (
        context.values(i, what).item()
        for i, what in enumerate(("start", "limit", "delta"))
    )
    if delta == 0:
        raise UnsupportedNodeError("delta is 0")
    check_made((limit - start) / delta)
    numbers = np.arange(start, limit, delta)
    context.give(numbers.astype(context.input(0).dtype.numpy))


def _value(context: Context) -> Variable:
    """In inference it is a constant."""
    array = context.variable()
    if array is None:
        raise UnsupportedNodeError(
            "a variable",
            "name the folder of a SavedModel as model_file_path, or freeze the model "
            "(variables to constants)",
        )
    value = context.builder.constant(context.output_name(), array)
    return Variable(value, variable_id(context.node))


@HANDLERS.register("VarHandleOp")
def handle(context: Context) -> None:
    """What other nodes read the variable by."""
    context.results[0] = _value(context)


@HANDLERS.register("VariableV2", "Variable")
def variable(context: Context) -> None:
    """A variable of TensorFlow 1, which is read without a node."""
    found = _value(context)
    context.reads.add(found.name)
    context.results[0] = found.value


@HANDLERS.register("ReadVariableOp")
def read(context: Context) -> None:
    """The value."""
    context.results[0] = context.read_variable(0)


@HANDLERS.register("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(context: Context) -> None:
    """True: there are no others here."""
    if context.node.op == "VarIsInitializedOp":
        context.expect_variable(0)
    context.give(np.asarray(True))


@HANDLERS.register("ResourceGather")
def gather_of_variable(context: Context) -> None:
    """Slices of a variable along axis 0, as an embedding reads them."""
    if context.node.integer("batch_dims"):
        raise UnsupportedNodeError("batch_dims is not 0")
    context.emit("Gather", [context.read_variable(0), context.input(1)], axis=0)


@HANDLERS.register("ResourceGatherNd")
def gather_nd_of_variable(context: Context) -> None:
    """Elements or slices of a variable."""
    context.emit("GatherNd", [context.read_variable(0), context.input(1)])


@HANDLERS.register("TensorListReserve", "EmptyTensorList")
def reserve(context: Context) -> None:
    """A list of some length, without elements, or one that grows."""
    is_empty = context.node.op == "EmptyTensorList"
    count = 0 if is_empty else context.integer(1, "num_elements")
    _check_count(count)
    value, shape = context.input(0), None
    if value.is_constant and value.rank == 1:
        shape = tuple(context.ints(0, "element_shape"))
    context.results[0] = TensorList((None,) * count, None, shape, _dtype(context))


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
    context.pass_on(_element(context, items, index))


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
    context.pass_on(last, 1)


@HANDLERS.register("TensorListLength")
def length(context: Context) -> None:
    """The number of elements."""
    count = len(context.tensor_list(0).elements)
    context.give(np.asarray(count, np.int32))


@HANDLERS.register("TensorListResize")
def resize(context: Context) -> None:
    """The list with another length; new elements are not set."""
    items, count = _elements(context), context.integer(1, "size")
    _check_count(count)
    kept = items.elements[:count]
    missing = (None,) * (count - len(kept))
    context.results[0] = replace(items, elements=(*kept, *missing))


@HANDLERS.register("TensorListStack")
def stack(context: Context) -> None:
    """All elements, along a new axis 0."""
    items = context.tensor_list(0)
    if items.stacked is not None:
        context.pass_on(items.stacked)
        return
    context.emit("Stack", _all_elements(context, items), axis=0)


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
    elements = _all_elements(context, context.tensor_list(0))
    shapes = [static(element.shape) for element in elements]
    if any(not shape for shape in shapes):
        raise UnsupportedNodeError("the shapes of its elements are not known")
    context.emit("Concat", elements, axis=0)
    context.give(np.asarray([shape[0] for shape in shapes if shape], np.int64), 1)


def _all_elements(context: Context, items: TensorList) -> list[Value]:
    if not items.elements:
        raise UnsupportedNodeError("the list is empty")
    return [_element(context, items, i) for i in range(len(items.elements))]


def _dtype(context: Context) -> int:
    number = context.node.integer("element_dtype", 1)
    if number not in ELEMENT_TYPES:
        raise UnsupportedNodeError(f"a list of {type_name(number)}")
    return number


def _check_count(count: int) -> None:
    if not 0 <= count <= _MOST_ELEMENTS:
        raise UnsupportedNodeError(f"a list of {count} tensors")


def _index(context: Context) -> int:
    index = context.integer(1, "index")
    count = len(context.tensor_list(0).elements)
    if not 0 <= index < count:
        raise UnsupportedNodeError(f"element {index} of a list of {count}")
    return index


def _elements(context: Context) -> TensorList:
    """The list at input 0, each of whose elements is a tensor of its own."""
    items = context.tensor_list(0)
    if items.stacked is None or not items.elements:
        return items
    elements = tuple(_all_elements(context, items))
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
