# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What `tools/transform_graph.py` says, without TensorFlow."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.tensorflow.reader import new_graph
from mace.python.tools.rewrite.transform_graph import (
    main,
    parse_transforms,
    transform_file,
)
from mace.python.tools.rewrite.work_graph import entries


def _graph() -> Any:
    """x -> Identity -> Conv2D -> Mul -> last, and a constant that is computed."""
    graph = new_graph()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    for name, shape in (("w", (1, 1, 2, 2)), ("s", (2,))):
        node = graph.node.add(name=name, op="Const")
        node.attr["dtype"].type = node.attr["value"].tensor.dtype = 1
        node.attr["value"].tensor.float_val.extend([1.5, 2.5])
        for size in shape:
            node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    graph.node.add(name="same", op="Identity", input=["x"]).attr["T"].type = 1
    conv = graph.node.add(name="conv", op="Conv2D", input=["same", "w"])
    conv.attr["T"].type = 1
    conv.attr["padding"].s = b"SAME"
    conv.attr["strides"].list.i.extend([1, 1, 1, 1])
    graph.node.add(name="root", op="Sqrt", input=["s"]).attr["T"].type = 1
    last = graph.node.add(name="last", op="Mul", input=["conv", "root:0", "^same"])
    last.attr["T"].type = 1
    return graph


def _write(folder: Path, name: str = "in.pb") -> Path:
    path = folder / name
    path.write_bytes(_graph().SerializeToString())
    return path


def _main(folder: Path, transforms: str, **flags: str) -> int:
    given = {
        "in_graph": str(folder / "in.pb"),
        "out_graph": str(folder / "out.pb"),
        "inputs": "x:0",
        "outputs": "last",
        "transforms": transforms,
        **flags,
    }
    return main([f"--{name}={value}" for name, value in given.items()])


def test_a_graph_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(tmp_path)
    status = _main(
        tmp_path, "remove_nodes(op=Identity) fold_constants fold_batch_norms"
    )
    said = capsys.readouterr()
    assert (status, said.err) == (0, "")
    assert said.out == f"{tmp_path / 'out.pb'}: 3 nodes (were 7)\n"
    graph = new_graph()
    graph.ParseFromString((tmp_path / "out.pb").read_bytes())
    assert [node.op for node in graph.node] == ["Placeholder", "Const", "Conv2D"]
    assert list(graph.node[-1].input) == ["x", "conv/scaled_weights", "^x"]


@pytest.mark.parametrize(
    ("transforms", "said"),
    [
        ("", "names none; there are: backport_concatv2, "),
        ("fold_constant", "no 'fold_constant' (do you mean fold_constants?)"),
        ("fold_constants(", "found the end, accepted: key=value"),
        ("fold_constants(a=b c=d)", "found 'c=d)', accepted: , or )"),
        ("remove_nodes(op=Identity))", "found ')', accepted: the name"),
        ("remove_nodes", "remove_nodes needs op=..."),
        ("remove_nodes(type=Identity)", "remove_nodes does not take 'type'; it takes"),
        ("fold_constants(ignore_errors=perhaps)", "accepted: true or false"),
        ("round_weights(num_steps=1)", "found '1', accepted: a whole number, at least"),
        ("quantize_weights(minimum_size=x)", "found 'x', accepted: a whole number"),
        ("set_device(device=a, device=b)", "device is given twice"),
        ("strip_unused_nodes(type=flaot)", "found 'flaot', accepted: float, double"),
        ("quantize_weights quantize_nodes", "say `quantize: 1` in the deployment file"),
    ],
)
def test_what_is_wrong_is_said(
    transforms: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path)
    status = _main(tmp_path, transforms)
    error = capsys.readouterr().err
    assert status == 2
    assert error.startswith("error: --transforms: ") and error.count("\n") == 1
    assert said in error
    assert os.listdir(tmp_path) == ["in.pb"]


def test_names_and_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(tmp_path)
    for flags, said in (
        ({"inputs": "z"}, "--inputs: the graph has no node 'z'"),
        ({"outputs": "lost"}, "the graph has no node 'lost'; near names: last"),
        ({"in_graph": str(tmp_path / "missing")}, "--in_graph: "),
        ({"in_graph": str(tmp_path)}, "--in_graph: "),
        ({"out_graph": str(tmp_path / "in.pb" / "out")}, "cannot write"),
    ):
        assert _main(tmp_path, "remove_device", **flags) == 2
        assert said in capsys.readouterr().err
    assert main(["--in_graph=a", "--inputs=x"]) == 2
    assert "missing: --out_graph, --outputs, --transforms" in capsys.readouterr().err
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name}(" in listed for name in entries())


def test_a_text_with_unknown_fields_is_refused(tmp_path: Path) -> None:
    """They would be lost."""
    source = tmp_path / "in.pbtxt"
    source.write_text('node { name: "x" op: "Placeholder" colour: 3 }')
    with pytest.raises(MaceError, match="colour"):
        transform_file(
            source, tmp_path / "out.pb", ["x"], ["x"], parse_transforms("remove_device")
        )


def test_mutated_files_give_errors_not_crashes(tmp_path: Path) -> None:
    good = _graph().SerializeToString()
    steps = [
        f"{name}(ignore_errors=true)"
        for name, entry in entries().items()
        if len(entry.keys) == 1
    ]
    transforms = parse_transforms(
        " ".join([*steps, "quantize_weights(minimum_size=2)"])
    )
    rng = random.Random(20261127)
    refused = 0
    source, target = tmp_path / "in.pb", tmp_path / "out.pb"
    for _ in range(200):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.1:
            data = data[: rng.randrange(len(data))]
        source.write_bytes(data)
        try:
            transform_file(source, target, ["x"], ["last"], transforms)
        except MaceError:
            refused += 1
    assert 40 < refused < 200
