# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Names, shapes, changes in place and refusals; operators: test/conformance/pytorch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.journal import Outcome
from mace.python.tools.importers.frame.request import InputSpec, OutputSpec
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.pytorch import FRAMEWORK, import_model
from mace.python.tools.importers.pytorch.testing import (
    Json,
    Spec,
    import_spec,
    linear,
    meta,
    new_entries,
    node,
    normal,
    program_json,
    run_spec,
    tensor,
    write_archive,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat

_X = normal(2, 3)


def _spec(*nodes: Json, outputs: list[str], **results: Any) -> Spec:
    return Spec({"x": _X}, list(nodes), outputs, results=results)


def _add(output: str, a: str, number: float = 1.0, target: str = "add") -> Json:
    other = {"as_float": number}
    name = f"aten.{target}.Tensor"
    return node(name, [output], self=tensor(a), other=other)


def test_results_have_the_names_of_nodes_or_keys(tmp_path: Path) -> None:
    spec = linear()
    (found,) = run_spec(spec, tmp_path)
    np.testing.assert_allclose(found, spec.results["relu"], rtol=1e-5, atol=1e-6)
    path = tmp_path / "net.pt2"
    for name in ("relu", "scores", "linear"):
        graph = import_model(request_for(path, spec.inputs, [name]))
        assert [value.name for value in graph.outputs] == [name]


def test_wrong_names_list_the_models(tmp_path: Path) -> None:
    import_spec(linear(), tmp_path)
    path, x = tmp_path / "net.pt2", {"x": _X}
    for inputs, outputs, message in (
        (x, ["rlu"], "output_tensors: .* near names: relu"),
        (x, ["rlu"], r"inputs of the model: x; outputs: relu \(or scores\)"),
        ({"y": _X}, ["relu"], "input_tensors: .* no tensor 'y'"),
        ({"p_fc_weight": _X}, ["relu"], "no tensor 'p_fc_weight'"),
        ({}, ["relu"], "the outputs also need x"),
        (x, ["relu", "relu"], "'relu' is listed twice"),
        (x, ["x"], "'x' is an input too"),
    ):
        with pytest.raises(ImportModelError, match=message):
            import_model(request_for(path, inputs, outputs))


def test_an_inner_tensor_as_input(tmp_path: Path) -> None:
    import_spec(linear(), tmp_path)
    graph = import_model(
        request_for(tmp_path / "net.pt2", {"linear": normal(2, 4)}, ["relu"])
    )
    assert [op.type for op in graph.ops] == ["Activation"]


def test_shapes_that_contradict_the_program(tmp_path: Path) -> None:
    image = normal(1, 2, 3, 4)
    spec = Spec({"x": image}, [_add("y", "x")], ["y"], results={"y": image})
    path = tmp_path / "net.pt2"
    write_archive(path, new_entries(spec))
    asked = request_for(path, spec.inputs, spec.outputs)
    for shape, order, message in (
        ((1, 2, 3, 5), DataFormat.NCHW, r"\[1, 2, 3, 4\]"),
        ((1, 2, 3, 4), DataFormat.NHWC, r"give \[1, 3, 4, 2\]"),
        ((1, 2, 3), DataFormat.NONE, r"has \[1, 2, 3, 4\]"),
    ):
        given = (InputSpec("x", shape, data_format=order),)
        with pytest.raises(ImportModelError, match=message):
            import_model(replace(asked, inputs=given))
    graph = import_model(replace(asked, inputs=(InputSpec("x", (1, 3, 4, 2)),)))
    assert graph.formats["x"] is DataFormat.NCHW


def test_open_dimensions_take_the_shapes_of_the_deployment(tmp_path: Path) -> None:
    open_x: Json = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 2}}}
    spec = _spec(
        node("aten.sym_size.int", ["n"], self=tensor("x"), dim={"as_int": 0}),
        node("_operator.mul", ["size"], a={"as_sym_int": {"as_name": "n"}},
             b={"as_int": 3}),
        node("aten.view.default", ["y"], self=tensor("x"),
             size={"as_sym_ints": [{"as_name": "size"}]}),
        outputs=["y"],
    )  # fmt: skip
    for entry in spec.nodes[:2]:
        entry["outputs"] = [{"as_sym_int": {"as_name": entry["name"]}}]

    program = program_json(spec)
    values = program["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][0] = open_x
    spec.more = program
    x = normal(5, 3)
    import_spec(spec, tmp_path)
    graph = import_model(request_for(tmp_path / "net.pt2", {"x": x}, ["y"]))
    assert graph.outputs[0].shape == (15,)


def test_a_change_in_place_changes_every_name_of_the_tensor(tmp_path: Path) -> None:
    spec = _spec(
        _add("a", "x"),
        _add("b", "a", 2.0, "mul_"),
        _add("c", "a"),
        outputs=["c", "a"],
    )
    c, a = run_spec(spec, tmp_path)
    np.testing.assert_allclose(a, (_X + 1) * 2, rtol=1e-6)
    np.testing.assert_allclose(c, (_X + 1) * 2 + 1, rtol=1e-6)


def _part(target: str, source: str) -> list[Json]:
    zero = {"as_int": 0}
    part = node("aten.select.int", ["part"], self=tensor(source), dim=zero, index=zero)
    one = {"as_int": 1}
    inner = node(
        "aten.slice.Tensor", ["inner"], self=tensor("part"), dim=zero, start=one
    )
    return [_add("a", "x"), part, inner, _add("b", "inner", 2.0, target)]


def test_a_change_of_a_part_changes_the_whole(tmp_path: Path) -> None:
    again = node("aten.select.int", ["again"], self=tensor("a"), dim={"as_int": 0},
                 index={"as_int": 0})  # fmt: skip
    more = [_add("c", "a"), again, _add("d", "part", 0.0), _add("e", "again", 0.0)]
    spec = _spec(*_part("mul_", "a"), *more, outputs=["b", "c", "a", "d", "e"])
    b, c, a, d, e = run_spec(spec, tmp_path)
    wanted = _X + 1
    wanted[0, 1:] *= 2
    np.testing.assert_allclose(b, wanted[0, 1:], rtol=1e-6)
    np.testing.assert_allclose(c, wanted + 1, rtol=1e-6)
    np.testing.assert_allclose(a, wanted, rtol=1e-6)
    np.testing.assert_allclose(d, wanted[0], rtol=1e-6)
    np.testing.assert_allclose(e, wanted[0], rtol=1e-6)


@pytest.mark.parametrize("kind", ["alias", "detach"])
def test_a_change_under_another_name(kind: str, tmp_path: Path) -> None:
    """A part that is the whole is exported as an alias of it."""
    nodes = [
        _add("a", "x"),
        node(f"aten.{kind}.default", ["other"], self=tensor("a")),
        _add("b", "other", 2.0, "mul_"),
        _add("c", "a"),
        _add("d", "other"),
    ]
    for found in run_spec(_spec(*nodes, outputs=["c", "d"]), tmp_path):
        np.testing.assert_allclose(found, (_X + 1) * 2 + 1, rtol=1e-6)


@pytest.mark.parametrize("reader", ["a", "other"])
def test_a_change_that_cannot_be_followed_is_refused(
    reader: str, tmp_path: Path
) -> None:
    # Whoever reads the memory is refused, even if nobody reads the result.
    size = {"as_ints": [3, 2]}
    nodes = [
        _add("a", "x"),
        node("aten.view.default", ["other"], self=tensor("a"), size=size),
        node("aten.t.default", ["turned"], self=tensor("a")),
        _add("b", "turned", 2.0, "mul_"),
        _add("c", reader),
    ]
    spec = _spec(*nodes, outputs=["c"])
    with pytest.raises(UnsupportedNodesError, match="part of a in place") as caught:
        import_spec(spec, tmp_path)
    assert "run_decompositions" in str(caught.value)
    (b,) = run_spec(_spec(*nodes[:4], outputs=["b"]), tmp_path)
    np.testing.assert_allclose(b, (_X.T + 1) * 2, rtol=1e-6)


def test_an_argument_that_is_written_is_refused(tmp_path: Path) -> None:
    write = _add("b", "x")
    write["inputs"].append({"name": "out", "arg": tensor("a"), "kind": 2})
    spec = _spec(_add("a", "x"), write, _add("c", "a"), outputs=["c"])
    with pytest.raises(UnsupportedNodesError, match="writes into an argument"):
        import_spec(spec, tmp_path)


def test_a_change_of_a_weight_is_refused(tmp_path: Path) -> None:
    spec = replace(
        _spec(_add("b", "p_w", 2.0, "mul_"), _add("c", "x"), outputs=["b", "c"]),
        weights={"w": _X},
    )
    with pytest.raises(UnsupportedNodesError, match="keeps from run to run"):
        import_spec(spec, tmp_path)


def test_states_are_refused(tmp_path: Path) -> None:
    spec = _spec(_add("y", "x"), outputs=["y"])

    program = program_json(spec)
    program["graph_module"]["signature"]["output_specs"].insert(
        0, {"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "cache"}}
    )
    spec.more = program
    with pytest.raises(ImportModelError, match=r"each run changes cache; .*eval"):
        import_spec(spec, tmp_path)


def test_graphs_inside_of_others_are_inlined(tmp_path: Path) -> None:
    inner = {
        "inputs": [tensor("p")],
        "outputs": [tensor("q")],
        "nodes": [_add("a", "p"), _add("q", "a", 2.0, "mul")],
        "tensor_values": {},
    }
    wrapped = node("higher_order.wrap_with_set_grad_enabled", ["w"])
    wrapped["inputs"] = [
        {"name": "", "arg": argument, "kind": 1}
        for argument in (
            {"as_bool": False},
            {"as_graph": {"name": "inner", "graph": inner}},
            tensor("x"),
        )
    ]
    spec = _spec(wrapped, _add("a", "w"), outputs=["a"])
    (found,) = run_spec(spec, tmp_path)
    np.testing.assert_allclose(found, (_X + 1) * 2 + 1, rtol=1e-6)


@pytest.mark.parametrize("limit", [-100.0, 40.0, 300.0])
def test_a_loop_whose_steps_each_run_counts(limit: float, tmp_path: Path) -> None:
    """while sum(s) < limit: s = 2 s + w, for what is handed on, and what is not."""

    def graph(name: str, result: str, *nodes: Json) -> Json:
        inner = {
            "inputs": [tensor("s"), tensor("w")],
            "outputs": [tensor(result)],
            "nodes": list(nodes),
            "tensor_values": {"t": meta(np.float32(0)[...])},
        }
        return {"as_graph": {"name": name, "graph": inner}}

    total = node("aten.sum.default", ["t"], self=tensor("s"))
    below = node("aten.lt.Scalar", ["go"], self=tensor("t"), other={"as_float": limit})
    more = node("aten.add.Tensor", ["m"], self=tensor("d"), other=tensor("w"))
    loop = node("higher_order.while_loop", ["y"])
    loop["inputs"] = [
        {"name": "", "arg": argument, "kind": 1}
        for argument in (
            graph("condition", "go", total, below),
            graph("body", "m", _add("d", "s", 2.0, "mul"), more),
            {"as_tensors": [{"name": "x"}]},
            {"as_tensors": [{"name": "v"}]},
        )
    ]
    first = node("aten.abs.default", ["v"], self=tensor("x"))
    spec = _spec(first, loop, outputs=["y"], v=_X, y=_X)
    wanted = _X
    while wanted.sum() < limit:
        wanted = wanted * 2 + np.abs(_X)
    (found,) = run_spec(spec, tmp_path)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_all_refused_nodes_are_listed(tmp_path: Path) -> None:
    spec = _spec(
        node("aten.nonsense.default", ["a"], self=tensor("x")),
        node("torchvision.nms.default", ["b"], dets=tensor("x")),
        node("aten.linalg_svd.default", ["i"], A=tensor("x")),
        node("aten.relu_backward.default", ["j"], self=tensor("x")),
        node("higher_order.cond", ["d"], pred=tensor("x")),
        node("aten.softmax.int", ["e"], self=tensor("x"), dim={"as_int": 7}),
        node("aten.relu.default", ["f"], self=tensor("x"), wild={"as_int": 7}),
        node("aten.item.default", ["g"], self=tensor("x")),
        _add("h", "a"),
        outputs=["a", "b", "d", "e", "f", "g", "h", "i", "j"],
    )
    with pytest.raises(UnsupportedNodesError) as caught:
        import_spec(spec, tmp_path)
    text = str(caught.value)
    for part in (
        "8 nodes",
        "singular values",
        "it computes gradients",
        "operator not supported",
        "an operator of a library",
        "control flow",
        "axis 7 is outside a rank of 2",
        "wild is 7",
        "a number of a tensor of 6",
    ):
        assert part in text
    asked = request_for(tmp_path / "net.pt2", spec.inputs, spec.outputs)
    with pytest.raises(UnsupportedNodesError):
        import_model(asked)
    found = {entry.name: entry.outcome for entry in asked.journal.entries}
    assert found["a"] is Outcome.REFUSED
    assert found["h"] is Outcome.NOT_REACHED


def test_refused_nodes_do_not_hide_what_follows(tmp_path: Path) -> None:
    spec = _spec(
        node("aten.nonsense.default", ["a"], self=tensor("x")),
        _add("h", "a"),
        outputs=["h"],
        a=_X,
    )
    path = tmp_path / "net.pt2"
    write_archive(path, new_entries(spec))
    asked = replace(request_for(path, spec.inputs, spec.outputs), check_all=True)
    with pytest.raises(UnsupportedNodesError):
        import_model(asked)
    assert [e.outcome for e in asked.journal.entries] == [
        Outcome.REFUSED,
        Outcome.CONVERTED,
    ]


@pytest.mark.parametrize("wrong", [_X.astype(np.int64), normal(3, 2)])
def test_a_result_of_another_type_or_shape_is_refused(
    wrong: Any, tmp_path: Path
) -> None:
    spec = _spec(_add("y", "x"), outputs=["y"], y=wrong)
    with pytest.raises(UnsupportedNodesError, match="but"):
        import_spec(spec, tmp_path)


def test_an_output_that_is_a_number(tmp_path: Path) -> None:
    size = node("aten.sym_size.int", ["n"], self=tensor("x"), dim={"as_int": 0})
    spec = _spec(size, outputs=["n"])
    with pytest.raises(MaceError, match="'n' is 2, not a tensor"):
        import_spec(spec, tmp_path)


def test_an_output_of_the_deployment_keeps_its_order(tmp_path: Path) -> None:
    image = normal(1, 2, 3, 4)
    spec = Spec({"x": image}, [_add("y", "x")], ["y"], results={"y": image})
    path = tmp_path / "net.pt2"
    write_archive(path, new_entries(spec))
    asked = request_for(path, spec.inputs, spec.outputs)
    graph = import_model(replace(asked, outputs=(OutputSpec("y"),)))
    assert graph.formats["y"] is DataFormat.NCHW


def test_a_description_has_what_the_deployment_file_needs(tmp_path: Path) -> None:
    import_spec(linear(), tmp_path)
    found = FRAMEWORK.open(tmp_path / "net.pt2").describe()
    assert found.framework == "PyTorch 2.13.0, exported program"
    assert [(t.name, t.shape, t.dtype) for t in (*found.inputs, *found.outputs)] == [
        ("x", (2, 3), DataType.FLOAT32),
        ("scores", (2, 4), DataType.FLOAT32),
    ]
    assert found.operators == {"aten.linear": 1, "aten.relu": 1}
    script = tmp_path / "net.pt"
    write_archive(script, {"net/data.pkl": b"", "net/code/__torch__.py": b""})
    with pytest.raises(ImportModelError, match="TorchScript.*deployment file"):
        FRAMEWORK.open(script).describe()


def test_open_dimensions_have_names(tmp_path: Path) -> None:
    program = program_json(_spec(_add("y", "x"), outputs=["y"], y=_X))
    values = program["graph_module"]["graph"]["tensor_values"]
    open_x = {"expr_str": "Symbol('s77', positive=True, integer=True)", "hint": None}
    values["x"]["sizes"][0] = {"as_expr": open_x}
    values["y"]["sizes"] = [{"as_expr": {"expr_str": "s77"}}] * 2
    values["y"]["sizes"][1] = {"as_expr": {"expr_str": "2*s77"}}
    import_spec(_spec(_add("y", "x"), outputs=["y"]), tmp_path)
    spec = Spec({}, [], [], more=program)
    write_archive(tmp_path / "net.pt2", new_entries(spec))
    found = FRAMEWORK.open(tmp_path / "net.pt2").describe()
    assert found.inputs[0].shape == ("s77", 3)
    assert found.outputs[0].shape == ("s77", None)


def test_results_that_are_not_computed(tmp_path: Path) -> None:
    image = normal(1, 1, 4, 4)
    pool = node(
        "aten.adaptive_max_pool2d.default",
        ["y", "places"],
        self=tensor("x"),
        output_size={"as_ints": [2, 2]},
    )
    small = image[:, :, :2, :2]
    spec = Spec({"x": image}, [pool, _add("z", "places")], ["y"], results={"y": small})
    import_spec(spec, tmp_path)
    for name, kind in (("z", UnsupportedNodesError), ("places", ImportModelError)):
        with pytest.raises(kind, match="places, which MACE does not compute"):
            import_model(request_for(tmp_path / "net.pt2", spec.inputs, [name]))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_of_64_bits_do_not_wrap_around(dtype: Any, tmp_path: Path) -> None:
    x = np.array([5, 46341], dtype)
    square = node("aten.mul.Tensor", ["mul"], self=tensor("x"), other=tensor("x"))
    spec = Spec({"x": x}, [square], ["mul"], results={"mul": x})
    if dtype is np.int32:
        np.testing.assert_array_equal(run_spec(spec, tmp_path)[0], x * x)
        return
    with pytest.raises(OverflowError, match="exceeds 32 bits"):
        run_spec(spec, tmp_path)
    fits = replace(spec, inputs={"x": x - 1})
    np.testing.assert_array_equal(run_spec(fits, tmp_path)[0], (x - 1) ** 2)
