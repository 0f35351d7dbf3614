# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants, variables and lists of tensors, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# Nothing has written the type Variable since TensorFlow 1.0, and TensorFlow's Python
# interface no longer makes the others.
_NOT_MADE = frozenset(
    {"PlaceholderWithDefault", "PreventGradient", "Snapshot", "Variable"}
)
_FAMILY = Family("plumbing", _NOT_MADE)
check = _FAMILY.check


def test_plumbing() -> None:
    check(
        lambda x: [
            tf.stop_gradient(tf.identity(x)) + 1,
            tf.raw_ops.GuaranteeConst(input=x) * 2,
            *tf.identity_n([x, x * 2]),
            tf.debugging.check_numerics(x, "finite"),
            tf.ensure_shape(x, [3]),
        ],
        rand(3),
    )


def test_constants_of_every_type() -> None:
    for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.int64, tf.uint8):
        held = tf.constant([1, 2, 3], dtype)
        check(_adds(held), rand(3))


def _adds(held: Any) -> Callable[[Any], Any]:
    return lambda x: x + tf.cast(held, tf.float32)


def test_filled_tensors() -> None:
    def filled(x: Any) -> list[Any]:
        return [
            x + tf.zeros_like(x) + tf.ones_like(x),
            x + tf.fill([tf.shape(x)[2]], 2.0),
            x + tf.cast(tf.range(0, tf.shape(x)[2] * 2, 2), tf.float32),
        ]

    check(filled, rand(2, 3, 4), dynamic=True)


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (5, 4)])
def test_filled_tensors_of_open_shapes(shape: tuple[int, int]) -> None:
    """The run computes the shape, and the value."""

    def filled(x: Any) -> list[Any]:
        whole = tf.cast(x, tf.int32)
        rows = tf.shape(x)[0]
        return [
            tf.zeros_like(x),
            tf.ones_like(x) + x,
            tf.zeros_like(whole),
            tf.ones_like(whole > 0),
            tf.fill(tf.shape(x), 2.5),
            tf.fill([rows, 3], 7),
            tf.fill([rows], tf.reduce_max(x)),
            tf.fill([rows * 2, 1], tf.reduce_max(x) > 0),
        ]

    check(filled, rand(*shape), open_shapes=True)


class _Module(tf.Module):  # type: ignore[misc, name-defined]
    """Variables of which two have the same name, and ways to read them."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(rand(3, 4), name="w")
        self.others = tf.Variable(rand(3, 4) + 1, name="w")
        self.count = tf.Variable(3, name="count")
        self.half = tf.Variable(tf.cast(rand(4), tf.bfloat16), name="half")
        self.never_read = tf.Variable(["text"])

    def read(self, x: Any, rows: Any) -> Any:
        raw = tf.raw_ops
        y = x @ self.weights + tf.cast(self.count, tf.float32)
        y = tf.where(raw.VarIsInitializedOp(resource=self.others.handle), y, 0.0)
        picked = raw.ResourceGather(
            resource=self.others.handle, indices=rows, dtype=tf.float32
        )
        places = tf.stack([rows, rows], axis=1)
        elements = raw.ResourceGatherNd(
            resource=self.weights.handle, indices=places, dtype=tf.float32
        )
        return {"y": y, "g": picked + tf.cast(self.half, tf.float32), "e": elements}


def test_variables_of_functions(tmp_path: Path) -> None:
    module, arrays = _Module(), (rand(2, 3), np.array([2, 0], np.int32))
    specs = [
        tf.TensorSpec([None, *a.shape[1:]], a.dtype, name=f"x{i}")
        for i, a in enumerate(arrays)
    ]
    function = tf.function(module.read).get_concrete_function(*specs)
    tf.saved_model.save(module, str(tmp_path), signatures=function)
    _FAMILY.check_saved(tmp_path, *arrays)


@pytest.mark.parametrize("resource", [False, True])
def test_variables_of_tensorflow_1(tmp_path: Path, resource: bool) -> None:
    tf1, array = tf.compat.v1, rand(2, 3)
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        x = tf1.placeholder(tf.float32, [None, 3], name="x0")
        with tf1.variable_scope("layer", use_resource=resource):
            w = tf1.get_variable("w", initializer=rand(3, 2))
        known = tf1.is_variable_initialized(w)
        y = tf.where(known, tf.matmul(x, w), 0.0)
        session.run(tf1.global_variables_initializer())
        folder = tmp_path / "model"
        tf1.saved_model.simple_save(session, str(folder), {"x0": x}, {"y": y})
    _FAMILY.check_saved(folder, array)


def _reserve(count: int, shape: list[int]) -> Any:
    return tf.raw_ops.TensorListReserve(
        element_shape=tf.constant(shape, tf.int32),
        num_elements=count,
        element_dtype=tf.float32,
    )


def _set(items: Any, index: int, item: Any) -> Any:
    return tf.raw_ops.TensorListSetItem(input_handle=items, index=index, item=item)


def _stack(items: Any, shape: list[int]) -> Any:
    return tf.raw_ops.TensorListStack(
        input_handle=items,
        element_shape=tf.constant(shape, tf.int32),
        element_dtype=tf.float32,
    )


def test_elements_are_set_read_and_stacked() -> None:
    def function(x: Any) -> Any:
        items = _set(_reserve(3, [4]), 2, x[0])
        items = _set(items, 0, x[1] * 2)
        read = tf.raw_ops.TensorListGetItem(
            input_handle=items,
            index=2,
            element_shape=tf.constant([4]),
            element_dtype=tf.float32,
        )
        # The second one was never set.
        return read, _stack(items, [4]), tf.raw_ops.TensorListLength(input_handle=items)

    check(function, rand(2, 4))


def test_slices_of_a_tensor_are_elements() -> None:
    def function(x: Any) -> Any:
        items = tf.raw_ops.TensorListFromTensor(
            tensor=x, element_shape=tf.constant([4])
        )
        read = tf.raw_ops.TensorListGetItem(
            input_handle=items,
            index=1,
            element_shape=tf.constant([4]),
            element_dtype=tf.float32,
        )
        some = tf.raw_ops.TensorListGather(
            input_handle=items,
            indices=tf.constant([2, 0]),
            element_shape=tf.constant([4]),
            element_dtype=tf.float32,
        )
        return read, some, _stack(items, [4]), _stack(_set(items, 0, x[2]), [4])

    check(function, rand(3, 4))


def test_lists_grow_and_shrink() -> None:
    def function(x: Any) -> Any:
        items = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([-1, 4]),
            max_num_elements=-1,
            element_dtype=tf.float32,
        )
        for part in (x[:1], x[1:], x * 3):
            items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=part)
        items, last = tf.raw_ops.TensorListPopBack(
            input_handle=items,
            element_shape=tf.constant([-1, 4]),
            element_dtype=tf.float32,
        )
        joined, lengths = tf.raw_ops.TensorListConcatV2(
            input_handle=items,
            element_shape=tf.constant([-1, 4]),
            leading_dims=tf.constant([], tf.int64),
            element_dtype=tf.float32,
        )
        one = tf.raw_ops.TensorListResize(input_handle=items, size=1)
        return last, joined, lengths, _stack(one, [-1, 4])

    check(function, rand(3, 4))


def test_an_element_that_is_not_there_is_named() -> None:
    def function(x: Any) -> Any:
        return _stack(_set(_reserve(2, [4]), 5, x), [4])

    with pytest.raises(UnsupportedNodesError, match="element 5 of a list of 2"):
        check(function, rand(4))


def test_a_shape_that_is_not_known_is_named() -> None:
    def function(x: Any) -> Any:
        items = tf.raw_ops.TensorListReserve(
            element_shape=tf.constant(-1, tf.int32),
            num_elements=2,
            element_dtype=tf.float32,
        )
        return _stack(items, [4]) + x

    with pytest.raises(UnsupportedNodesError, match="element 0 of the list was never"):
        check(function, np.zeros(4, np.float32))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
