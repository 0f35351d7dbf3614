# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Order, checks and dumps of the pass manager."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.ir import (
    DataFormat,
    DataType,
    Graph,
    GraphBuilder,
    GraphError,
    Value,
)
from mace.python.tools.passes import Pass, PassManager, all_passes
from mace.python.tools.passes.manager import choose, order
from mace.python.tools.passes.testing import random, rewrite, types


def _pass(name: str, *requires: str) -> Pass:
    class Named(Pass):
        def run(self, graph: Graph) -> int:
            return 0

    Named.name, Named.requires = name, requires
    return Named()


def _graph() -> Graph:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (2, 3))
    y = builder.one("Activation", [x], "relu", {"activation": "RELU"})
    builder.output(builder.alias(y, "same"), "y")
    return builder.graph


def test_order_respects_requirements_and_then_names() -> None:
    passes = [_pass("c"), _pass("b", "d"), _pass("a", "b"), _pass("d")]
    assert [p.name for p in order(passes)] == ["c", "d", "b", "a"]


def test_circle_and_unknown_requirement_are_named() -> None:
    with pytest.raises(GraphError, match=r"circle: a, b"):
        order([_pass("a", "b"), _pass("b", "a")])
    with pytest.raises(GraphError, match="a requires nowhere"):
        order([_pass("a", "nowhere")])


def test_every_pass_is_named_after_its_class_and_documented() -> None:
    for item in all_passes():
        assert item.name == _snake_case(type(item).__name__)
        assert item.__doc__
    sources = (path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    names = re.findall(r"^    name = \"(\w+)\"", "\n".join(sources), re.M)
    assert {item.name for item in all_passes()} == set(names)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("MatMul", "Matmul")).lower()


def test_a_choice_brings_what_it_needs_and_what_every_model_needs() -> None:
    names = [item.name for item in choose(["clip_to_relux"])]
    everything = [item.name for item in all_passes()]
    assert [name for name in everything if name in names] == names
    assert {"clip_to_relux", "fold_constants", "channels_last"} < set(names)
    assert not {"fold_affine", "fuse_activation", "merge_equal_ops"} & set(names)
    with pytest.raises(KeyError, match="no_such_pass"):
        choose(["no_such_pass"])


def test_pass_that_breaks_the_graph_is_named() -> None:
    class Breaks(Pass):
        name = "breaks"

        def run(self, graph: Graph) -> int:
            graph.ops[0].output.shape = (9, 9)
            return 1

    with pytest.raises(GraphError, match="(?s)after pass breaks.*relu"):
        PassManager([Breaks()]).run(_graph())


def test_the_orders_of_images_are_told() -> None:
    class Breaks(Pass):
        name = "breaks"
        requires = ("channels_last",)

        def run(self, graph: Graph) -> int:
            (op,) = (op for op in graph.ops if op.type == "Pooling")
            op.output.shape = (1, 9, 9, 3)
            return 1

    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (1, 3, 4, 4), DataFormat.NCHW)
    pool = {"mode": "MAX", "kernels": [2, 2], "data_format": "NCHW"}
    builder.output(builder.one("Pooling", [x], "p", pool), "y", DataFormat.NCHW)
    known = [item for item in all_passes() if item.name == "channels_last"]
    says = (
        r"(?s)after pass breaks, where images are NHWC: .* has shape \[1, 9, 9, 3\] "
        r"\(\[1, 3, 9, 9\] in the framework\)"
    )
    with pytest.raises(GraphError, match=says):
        PassManager([*known, Breaks()]).run(builder.graph)


def test_pass_that_changes_the_border_is_named() -> None:
    class Renames(Pass):
        name = "renames"

        def run(self, graph: Graph) -> int:
            graph.rename_value(graph.outputs[0], "other")
            return 1

    with pytest.raises(GraphError, match="after pass renames: y is gone"):
        PassManager([Renames()]).run(_graph())


def test_passes_that_undo_each_other_are_an_error() -> None:
    class Toggles(Pass):
        name = "toggles"

        def run(self, graph: Graph) -> int:
            return 1

    with pytest.raises(GraphError, match="rest"):
        PassManager([Toggles()]).run(_graph())


def test_dump_shows_the_graph_after_each_change(tmp_path: Path) -> None:
    PassManager(dump_dir=tmp_path / "dump").run(_graph())
    files = sorted(p.name for p in (tmp_path / "dump").iterdir())
    # How many passes come before it may change.
    assert [name[3:] for name in files] == ["_imported.txt", "_remove_no_ops.txt"]
    assert [name[:3].isdigit() for name in files] == [True, True]
    first, second = ((tmp_path / "dump" / f).read_text("utf-8") for f in files)
    assert "Identity" in first
    assert "Identity" not in second


def _image(builder: GraphBuilder, shape: tuple[int | None, ...]) -> Value:
    return builder.input("x", DataType.FLOAT32, shape, DataFormat.NCHW)


def _conv(
    builder: GraphBuilder,
    rng: np.random.Generator,
    x: Value,
    out: int,
    kernel: int,
    groups: int = 1,
) -> Value:
    assert x.shape is not None and isinstance(x.shape[1], int)
    weights = random(rng, out, x.shape[1] // groups, kernel, kernel)
    filters = builder.constant("w", weights.transpose(0, 2, 3, 1))
    inputs = [x, filters]
    if rng.random() < 0.5:
        inputs.append(builder.constant("b", random(rng, out)))
    attrs = {
        "padding": rng.choice(["SAME", "SAME_LOWER", "VALID"])
        if kernel == 1
        else "SAME",
        "groups": groups,
        "data_format": "NCHW",
    }
    return builder.one("Conv2D", inputs, None, attrs, "conv")


def _step(builder: GraphBuilder, rng: np.random.Generator, x: Value) -> Value:
    """One random layer that keeps rank 4 and the image size."""
    shape = x.shape
    assert shape is not None and isinstance(shape[1], int)
    channels = shape[1]
    nchw = {"data_format": "NCHW"}
    kind = rng.integers(14)
    if kind == 0:
        return _conv(
            builder, rng, x, int(rng.choice([4, 6, 8])), int(rng.choice([1, 3]))
        )
    if kind == 1:
        return _conv(builder, rng, x, channels, 3, groups=channels)
    if kind == 2:
        scale, offset = (builder.constant(n, random(rng, channels)) for n in "so")
        return builder.one("BatchNorm", [x, scale, offset], None, nchw, "bn")
    if kind in (3, 4):
        activation = str(rng.choice(["RELU", "SIGMOID", "RELUX", "TANH"]))
        attrs = {"activation": activation, "activation_limit": 6.0}
        return builder.one("Activation", [x], None, attrs, "act")
    if kind in (5, 6):
        shapes = [(channels, 1, 1), (1, channels, 1, 1), (1,), ()]
        constant = builder.constant("k", random(rng, *shapes[rng.integers(4)]))
        mode = str(rng.choice(["ADD", "MUL", "SUB"]))
        inputs = [x, constant] if rng.random() < 0.7 else [constant, x]
        return builder.one("Eltwise", inputs, None, {"mode": mode}, "elt")
    if kind == 7:
        other = _conv(builder, rng, x, channels, 3)
        return builder.one("Eltwise", [x, other], None, {"mode": "ADD"}, "sum")
    if kind == 8:
        other = _conv(builder, rng, x, 4, 1)
        return builder.one("Concat", [x, other], None, {"axis": 1}, "cat")
    if kind == 9:
        attrs = {"kernels": [3, 3], "padding": "SAME", **nchw}
        attrs["mode"] = str(rng.choice(["MAX", "AVG"]))
        return builder.one("Pooling", [x], None, attrs, "pool")
    if kind == 10:
        attrs = {"mode": "MEAN", "axes": [2, 3], "keep_dims": True}
        gate = builder.one("Reduce", [x], None, attrs, "squeeze")
        gate = builder.one("Activation", [gate], None, {"activation": "SIGMOID"}, "g")
        return builder.one("Eltwise", [x, gate], None, {"mode": "MUL"}, "se")
    if kind == 11:
        names = [builder.graph.unique_name(f"part{i}") for i in range(2)]
        builder.graph.name = "test"
        sizes = [channels // 2, channels - channels // 2]
        a, b = builder.op("Split", [x], names, {"axis": 1, "sizes": sizes})
        return builder.one("Concat", [b, a], None, {"axis": 1}, "swap")
    if kind == 12:
        return builder.one("Softmax", [x], None, {"axis": 1}, "softmax")
    # A padding that the next layer may or may not take in, undone by a cut.
    pads = [0, 0, 0, 0, 1, 1, 2, 1]
    x = builder.one("Pad", [x], None, {"pads": pads}, "pad")
    attrs = {"kernels": [3, 4], "data_format": "NCHW", "mode": "MAX"}
    return builder.one("Pooling", [x], None, attrs, "pool")


@pytest.mark.parametrize("seed", range(60))
def test_random_network_keeps_its_outputs(seed: int) -> None:
    batch = None if seed % 3 == 0 else 2

    def build(builder: GraphBuilder, rng: np.random.Generator) -> None:
        x = _image(builder, (batch, 3, 6, 5))
        for _ in range(rng.integers(2, 10)):
            x = _step(builder, rng, x)
        tail = rng.integers(3)
        if tail == 0:
            x = builder.one("Reshape", [x], None, {"shape": [0, -1]}, "flat")
            assert x.shape is not None
            weights = random(rng, int(x.shape[1] or 0), 5)
            w = builder.constant("fc", weights)
            x = builder.one("MatMul", [x, w], None, None, "fc")
            bias = builder.constant("fb", random(rng, 5))
            x = builder.one("Eltwise", [x, bias], None, {"mode": "ADD"}, "bias")
            x = builder.one("Softmax", [x], None, None, "prob")
        elif tail == 1:
            attrs = {"mode": "MEAN", "axes": [2, 3], "keep_dims": False}
            x = builder.one("Reduce", [x], None, attrs, "mean")
        builder.output(x, "out", DataFormat.NCHW)

    graph = rewrite(build, seed=seed)
    # Every layer above lets a transpose through, but for a flattening that
    # feeds something else than a fully connected layer.
    assert types(graph)["Transpose"] == 0
