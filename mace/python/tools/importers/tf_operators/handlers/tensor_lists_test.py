# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors compared with TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("tensor_lists")


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


def test_elements_are_set_read_and_stacked(tmp_path: Path) -> None:
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

    _FAMILY.check(tmp_path, function, rand(2, 4))


def test_slices_of_a_tensor_are_elements(tmp_path: Path) -> None:
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

    _FAMILY.check(tmp_path, function, rand(3, 4))


def test_lists_grow_and_shrink(tmp_path: Path) -> None:
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

    _FAMILY.check(tmp_path, function, rand(3, 4))


def test_an_element_that_is_not_there_is_named(tmp_path: Path) -> None:
    def function(x: Any) -> Any:
        return _stack(_set(_reserve(2, [4]), 5, x), [4])

    with pytest.raises(UnsupportedNodesError, match="element 5 of a list of 2"):
        _FAMILY.check(tmp_path, function, rand(4))


def test_a_shape_that_is_not_known_is_named(tmp_path: Path) -> None:
    def function(x: Any) -> Any:
        items = tf.raw_ops.TensorListReserve(
            element_shape=tf.constant(-1, tf.int32),
            num_elements=2,
            element_dtype=tf.float32,
        )
        return _stack(items, [4]) + x

    with pytest.raises(UnsupportedNodesError, match="element 0 of the list was never"):
        _FAMILY.check(tmp_path, function, np.zeros(4, np.float32))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
