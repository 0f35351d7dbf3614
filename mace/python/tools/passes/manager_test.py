# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Order, checks and dumps of the pass manager."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.ir import (
    DataFormat,
    DataType,
    Graph,
    GraphBuilder,
    GraphError,
)
from mace.python.tools.passes import Pass, PassManager, all_passes
from mace.python.tools.passes.manager import choose, order


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


def test_every_pass_is_named_after_its_file_and_documented() -> None:
    folder = Path(__file__).parent
    for item in all_passes():
        assert (folder / f"{item.name}.py").exists()
        assert item.__doc__
    files = {p.stem for p in folder.glob("*.py") if "(Pass)" in p.read_text("utf-8")}
    assert {p.name for p in all_passes()} == {f for f in files if "_test" not in f}


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
    assert files == ["000_imported.txt", "002_remove_no_ops.txt"]
    first, second = ((tmp_path / "dump" / f).read_text("utf-8") for f in files)
    assert "Identity" in first
    assert "Identity" not in second
