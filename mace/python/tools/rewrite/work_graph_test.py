# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewritten graphs compute the same in TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.testing import computed, rand
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.rewrite.transform_graph import (
    parse_transforms,
    transform_file,
)
from mace.python.tools.rewrite.work_graph import TransformError

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
tf1 = tf.compat.v1

# As the documentation of the original MACE has them.
_FOR_CPU = """strip_unused_nodes(type=float, shape="1,8,8,3")
    strip_unused_nodes(type=float, shape="1,8,8,3")
    remove_nodes(op=Identity, op=CheckNumerics)
    fold_constants(ignore_errors=true)
    flatten_atrous_conv
    fold_batch_norms
    fold_old_batch_norms
    strip_unused_nodes
    sort_by_execution_order"""
_FOR_DSP = """strip_unused_nodes(type=float, shape="1,8,8,3")
    remove_nodes(op=Identity, op=CheckNumerics)
    fold_constants(ignore_errors=true) \\
    fold_batch_norms fold_old_batch_norms
    backport_concatv2 quantize_weights(minimum_size=2)
    strip_unused_nodes sort_by_execution_order"""

_SHAPE = (1, 8, 8, 3)


def _normalised(y: Any, channels: int, **attributes: Any) -> Any:
    parts = [rand(channels, low=0.5), rand(channels), rand(channels)]
    return tf1.nn.fused_batch_norm(
        y,
        *parts,
        rand(channels, low=0.2),
        epsilon=1e-3,
        is_training=False,
        **attributes,
    )[0]


def _blocks(y: Any, crop: int, between: Callable[[Any], Any]) -> Any:
    y = tf.space_to_batch(y, [2, 2], [[2, 2 + crop], [2, 2 + crop]])
    return tf.batch_to_space(between(y), [2, 2], [[0, crop], [0, crop]])


def _model(x: Any) -> Any:
    """Everything that the rewrites look for."""
    x = tf.debugging.check_numerics(x, "of the input")
    tf.identity(x, name="nobody_reads_this")
    y = tf.nn.conv2d(x, rand(3, 3, 3, 4), 1, "SAME")
    y = tf.nn.relu(tf.add(y * (tf.sqrt(rand(4, low=0.5)) + 1.0), rand(4)))
    y = tf.identity(y)
    y = _normalised(tf.nn.depthwise_conv2d(y, rand(3, 3, 4, 2), [1] * 4, "SAME"), 8)
    y = _normalised(
        _blocks(y, 0, lambda z: tf.nn.conv2d(z, rand(3, 3, 8, 4), 1, "VALID")), 4
    )
    y = tf.concat([y, tf.nn.relu6(y)], 3)
    y = _blocks(
        y, 0, lambda z: tf.nn.depthwise_conv2d(z, rand(3, 3, 8, 1), [1] * 4, "VALID")
    )
    parts = tf.split(tf.constant(rand(24, 3)), 3)
    y = tf.matmul(tf.reduce_mean(y, [1, 2]), parts[1] + parts[2]) * rand(1, 3)
    return tf.identity(y, name="last")


class _Files:
    """A model in a file, its rewritten copy, and what both compute."""

    def __init__(self, folder: Path, function: Callable[[Any], Any]) -> None:
        self.source, self.target = folder / "model.pb", folder / "out.pb"
        self.x = rand(*_SHAPE)
        with tf.Graph().as_default() as graph:
            function(tf1.placeholder(tf.float32, [None, 8, 8, 3], "x"))
        self.before = graph.as_graph_def()
        self.source.write_bytes(self.before.SerializeToString())

    def after(self, transforms: str, outputs: str = "last", inputs: str = "x") -> Any:
        transform_file(
            self.source,
            self.target,
            inputs.split(","),
            outputs.split(","),
            parse_transforms(transforms),
        )
        definition = tf1.GraphDef()
        definition.ParseFromString(self.target.read_bytes())
        return definition

    def run(self, definition: Any, output: str = "last:0", fed: str = "x:0") -> Array:
        whole = tf1.wrap_function(
            lambda: tf.import_graph_def(definition, name=""), signature=[]
        )
        graph = whole.graph
        part = whole.prune(
            graph.get_tensor_by_name(fed), graph.get_tensor_by_name(output)
        )
        return np.asarray(computed(part, tf.constant(self.x)))

    def same(self, transforms: str, tolerance: float = 1e-5) -> Any:
        """The rewritten graph, which computes the same in TensorFlow and in MACE."""
        after = self.after(transforms)
        wanted = self.run(self.before)
        np.testing.assert_allclose(self.run(after), wanted, tolerance, tolerance)
        request = ImportRequest(
            "m", self.target, (InputSpec("x", _SHAPE),), (OutputSpec("last"),)
        )
        got = run_graph(import_model(request), {"x": self.x})["last"]
        np.testing.assert_allclose(got, wanted, tolerance, tolerance)
        return after


def _types(definition: Any) -> list[str]:
    return [node.op for node in definition.node]


def test_the_usual_rewrites(tmp_path: Path) -> None:
    after = _Files(tmp_path, _model).same(_FOR_CPU, 1e-4)
    # No node of what a convolution takes in is left.
    found = set(_types(after))
    assert not found & {
        *("CheckNumerics", "Sqrt", "Split", "FusedBatchNormV3", "Mul"),
        *("SpaceToBatchND", "BatchToSpaceND"),
    }
    assert _types(after).count("Identity") == 1  # the output, whose name stays
    assert "nobody_reads_this" not in {node.name for node in after.node}
    place = {node.name: index for index, node in enumerate(after.node)}
    for node in after.node:
        assert all(place[name] < place[node.name] for name in node.input)
    dilated = [
        n for n in after.node if list(n.attr["dilations"].list.i) == [1, 2, 2, 1]
    ]
    assert [n.attr["padding"].s for n in dilated] == [b"SAME", b"SAME"]


def test_the_rewrites_for_eight_bits(tmp_path: Path) -> None:
    files = _Files(tmp_path, _model)
    after = files.after(_FOR_DSP)
    assert {"Concat", "Dequantize"} <= set(_types(after))
    # The weights of a rewritten graph are rounded: MACE reads the same numbers.
    wanted = files.run(after)
    exact = files.run(files.before)
    assert 1e-5 < np.abs(wanted - exact).max() / np.abs(exact).max() < 0.02
    request = ImportRequest(
        "m", files.target, (InputSpec("x", _SHAPE),), (OutputSpec("last"),)
    )
    got = run_graph(import_model(request), {"x": files.x})["last"]
    np.testing.assert_allclose(got, wanted, 1e-4, 1e-4)
    assert os.path.getsize(files.target) < os.path.getsize(files.source)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_dilated_convolutions_with_crops(padding: str, tmp_path: Path) -> None:
    """An odd number of pixels, which blocks make even."""

    def model(x: Any) -> Any:
        x = x[:, :7, :7]
        edge = 2 if padding == "SAME" else 0
        y = tf.space_to_batch(x, [2, 2], [[edge, edge + 1]] * 2)
        y = tf.nn.conv2d(y, rand(3, 3, 3, 2), 1, "VALID")
        return tf.batch_to_space(y, [2, 2], [[0, 1]] * 2, name="last")

    files = _Files(tmp_path, model)
    after = files.after("flatten_atrous_conv")
    np.testing.assert_allclose(files.run(after), files.run(files.before), 1e-5, 1e-5)
    (conv,) = (node for node in after.node if node.op == "Conv2D")
    assert conv.attr["padding"].s == padding.encode()


def test_what_does_not_fit_a_rewrite_stays(tmp_path: Path) -> None:
    """Convolutions that two nodes read, other paddings, statistics that are used."""

    def model(x: Any) -> Any:
        y = tf.nn.conv2d(x, rand(3, 3, 3, 4), 1, "SAME")
        z = y * rand(4)
        odd = tf.space_to_batch(y + z, [2, 2], [[0, 2], [2, 0]])
        odd = tf.nn.conv2d(odd, rand(2, 2, 4, 4), 1, "VALID")
        odd = tf.batch_to_space(odd, [2, 2], [[0, 0], [0, 0]])
        return tf.identity(odd * rand(8, 4), name="last")

    after = _Files(tmp_path, model).same(
        "flatten_atrous_conv fold_batch_norms fold_old_batch_norms"
    )
    assert _types(after).count("Mul") == 2
    assert "BatchToSpaceND" in _types(after)


def test_old_normalisation(tmp_path: Path) -> None:
    """BatchNormWithGlobalNormalization, which TensorFlow itself no longer runs."""
    parts = [rand(4), rand(4, low=0.2), rand(4) + 1, rand(4) - 1]

    def convolved(x: Any) -> Any:
        return tf.nn.conv2d(x, rand(3, 3, 3, 4), 1, "SAME")

    files = _Files(tmp_path, lambda x: tf.identity(convolved(x), name="last"))
    last = files.before.node[-1]
    last.op = "BatchNormWithGlobalNormalization"
    last.attr["variance_epsilon"].f = 1e-3
    last.attr["scale_after_normalization"].b = True
    for name, array in zip("mvbg", parts):
        node = files.before.node.add(name=name, op="Const")
        node.attr["dtype"].type = 1
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(array))
        last.input.append(name)
    files.source.write_bytes(files.before.SerializeToString())
    after = files.after("fold_old_batch_norms sort_by_execution_order")
    assert set(_types(after)) == {"Placeholder", "Const", "Conv2D", "BiasAdd"}
    wanted = tf.nn.batch_normalization(convolved(files.x), *parts, 1e-3)
    np.testing.assert_allclose(files.run(after), wanted, 1e-4, 1e-4)


def test_an_inner_tensor_becomes_the_input(tmp_path: Path) -> None:
    files = _Files(tmp_path, lambda x: tf.nn.relu(tf.exp(x, name="cut"), name="last"))
    after = files.after(
        'strip_unused_nodes(name=cut, type_for_name=float, shape_for_name="1,8,8,3")',
        inputs="cut",
    )
    assert [node.op for node in after.node] == ["Placeholder", "Relu"]
    shape = after.node[0].attr["shape"].shape
    assert [dim.size for dim in shape.dim] == list(_SHAPE)
    got = files.run(after, fed="cut:0")
    np.testing.assert_array_equal(got, np.maximum(files.x, 0))


def test_rounded_and_renamed(tmp_path: Path) -> None:
    files = _Files(tmp_path, _model)
    after = files.same(
        "merge_duplicate_nodes remove_device set_device(device=/cpu:0) obfuscate_names"
    )
    names = {node.name for node in after.node} - {"x", "last"}
    assert all(len(name) < 5 for name in names)
    assert {node.device for node in after.node} == {"/cpu:0"}
    after = files.after("round_weights(num_steps=4)")
    weights = [
        tf.make_ndarray(node.attr["value"].tensor)
        for node in after.node
        if node.op == "Const" and node.attr["dtype"].type == 1
    ]
    assert {len(np.unique(w)) for w in weights if w.size >= 15} == {4}


def test_places_of_removed_nodes_are_forgotten(tmp_path: Path) -> None:
    files = _Files(tmp_path, lambda x: tf.nn.relu(tf.identity(x, "gone"), name="last"))
    files.before.node[2].attr["_class"].list.s.append(b"loc:@gone")
    files.source.write_bytes(files.before.SerializeToString())
    after = files.same("remove_nodes(op=Identity)")
    assert "_class" not in after.node[-1].attr


def test_text_files(tmp_path: Path) -> None:
    """As TensorFlow writes them; nothing is lost on the way."""
    files = _Files(tmp_path, _model)
    tf.io.write_graph(files.before, str(tmp_path), "model.pbtxt", as_text=True)
    transform_file(
        tmp_path / "model.pbtxt",
        tmp_path / "out.pbtxt",
        ["x"],
        ["last"],
        parse_transforms("sort_by_execution_order"),
    )
    files.source, binary = tmp_path / "out.pbtxt", files.source
    assert files.after("sort_by_execution_order").versions == files.before.versions
    files.source = binary
    with_text = files.target.read_bytes()
    files.after("sort_by_execution_order")
    assert files.target.read_bytes() == with_text


def test_nothing_waits_for_constants(tmp_path: Path) -> None:
    """As in graphs that TensorFlow 2 freezes: all outputs wait for all weights."""

    def model(x: Any) -> Any:
        weights = tf.constant(rand(8, 8, 3))
        with tf.control_dependencies([tf.identity(weights)]):
            waiting = tf.no_op()
        with tf.control_dependencies([waiting]):
            tf.identity(x * rand(3), name="last")

    after = _Files(tmp_path, model).same("fold_constants")
    assert sorted(_types(after)) == ["Const", "Identity", "Mul", "Placeholder"]


def test_errors_are_ignored_if_asked(tmp_path: Path) -> None:
    def model(x: Any) -> Any:
        long = tf.reduce_sum(tf.constant([[1, 2**40], [3, 4]], tf.int64), 0)
        return tf.add(x, tf.cast(long, tf.float32)[0], name="last")

    files = _Files(tmp_path, model)
    with pytest.raises(TransformError, match=r"int64; fold_constants\(ignore_errors"):
        files.after("fold_constants")
    assert not files.target.exists()
    after = files.after("fold_constants(ignore_errors=true)")
    assert "Sum" in _types(after)
    np.testing.assert_array_equal(files.run(after), files.run(files.before))
