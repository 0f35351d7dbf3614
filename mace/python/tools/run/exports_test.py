# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of other exporters through `convert FILE` and `run FILE --validate`.

No deployment file and no flags: names, shapes, types and the order of dimensions are
what the files say.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from mace.python.tools.cli.main import main
from mace.python.tools.run import checking
from mace.python.tools.run.testing.exports import EXPORTS
from mace.python.tools.validate.frameworks import worker


def _scalars() -> onnx.ModelProto:
    """A number that scales a matrix, and the sum of the result."""
    kind = onnx.TensorProto.FLOAT
    ports = {"x": [2, 3], "scale": [], "sum": [], "scaled": [2, 3]}
    infos = [onnx.helper.make_tensor_value_info(n, kind, s) for n, s in ports.items()]
    nodes = [
        onnx.helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        onnx.helper.make_node("ReduceSum", ["scaled"], ["sum"], keepdims=0),
    ]
    graph = onnx.helper.make_graph(nodes, "scalars", infos[:2], infos[2:])
    opsets = [onnx.helper.make_opsetid("", 13)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


EXPORTS = {**EXPORTS, "scalars": _scalars}


@pytest.mark.parametrize("name", EXPORTS)
def test_a_file_converts_and_validates(
    name: str,
    build_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("onnxruntime", reason="it computes the expected outputs")
    # Without the start of a process.
    monkeypatch.setattr(checking, "run_reference", worker.answer)
    model = EXPORTS[name]()
    onnx.checker.check_model(model, full_check=True)
    path = tmp_path / f"{name}.onnx"
    onnx.save(model, path)
    assert main(["convert", str(path), f"--build_dir={build_dir}"]) == 0
    command = ["run", str(path), "--validate", "--layers=:"]
    status = main([*command, f"--build_dir={build_dir}"])
    shown = capsys.readouterr()
    assert status == 0, shown.out + shown.err
    for output in model.graph.output:
        assert f"{name}: {output.name}: cosine similarity " in shown.out
    assert "NOT DECIDED" not in shown.out
    assert "validated, similarity 0.99" in shown.out or (
        "validated, similarity 1.0" in shown.out
    )


def test_the_framework_gets_the_constants(
    build_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The converted model has no such input, the framework's has it. Another value
    is another model.
    """
    pytest.importorskip("onnxruntime", reason="it computes the expected outputs")
    monkeypatch.setattr(checking, "run_reference", worker.answer)
    path = tmp_path / "fixed.onnx"
    onnx.save(_scalars(), path)
    command = ["run", str(path), "--validate", f"--build_dir={build_dir}"]
    for value, why in (("3", "not converted yet"), ("4", "scale = 4, were others")):
        status = main([*command, f"--set=scale={value}"])
        shown = capsys.readouterr()
        assert status == 0, shown.out + shown.err
        assert why in shown.err
        assert "fixed: scaled: cosine similarity " in shown.out
    assert main(["inspect", str(build_dir / "fixed/model/fixed.pb")]) == 0
    assert "(onnx, with scale = 4)" in capsys.readouterr().out
    assert main(["inspect", str(path), "--set=scale=4"]) == 0
    assert "constant  scale   float32  [] = 4" in capsys.readouterr().out
