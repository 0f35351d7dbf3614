# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds an operator as docs/development/adding_an_op.md says: by new files only. It is
added to a copy of the checkout, where it is built, converted and run. The command
writes the files, and the test changes the formula as a developer would.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.bazel_command import bazel_command
from mace.python.tools.new_op.room import NewOp

_ROOT = Path(__file__).resolve().parents[2]
_OP = NewOp("Asinh", onnx="Asinh")
_ROOM = Path("mace/ops/asinh")
_HANDLERS = Path("mace/python/tools/importers/onnx/handlers")
# Every elementwise operator of ONNX is imported, so the copy first unlearns this one.
_KNOWN = (_HANDLERS / "elementwise.py", '"Asinh", ')

# The changes of a developer to the files of `new-op`: file, before, after.
_CHANGES = (
    ("asinh.op.yaml", "input * factor", "asinh(input)"),
    (
        "asinh.op.yaml",
        "attributes:\n  factor: {type: float, default: 1.0, "
        'doc: "By what each element is multiplied."}\n',
        "attributes: {}\n",
    ),
    ("asinh.py", 'inputs[0] * op.attr("factor")', "np.arcsinh(inputs[0])"),
    ("asinh.py", "import Any\n", "import Any\n\nimport numpy as np\n"),
    ("asinh_cpu.cc", "\n\n#include", "\n\n#include <cmath>\n\n#include"),
    ("asinh_cpu.cc", "    const float factor = attributes_.factor;\n", ""),
    ("asinh_cpu.cc", "x[i] * factor", "std::asinh(x[i])"),
    ("asinh_test.cc", "#include <vector>", "#include <cmath>\n#include <vector>"),
    ("asinh_test.cc", "value * 2.5f", "std::asinh(double{value})"),
    ("asinh_test.cc", '.Float("factor", 2.5f)', ""),
    ("asinh_test.cc", "{0, 0});", "{1e-7, 1e-6});"),
    ("asinh_test.cc", '.String("factor", "two")', '.Float("factor", 2)'),
    ("asinh_benchmark.cc", '.Float("factor", 2.5f)', ""),
)

_DEPLOYMENT = """
library_name: added
target_abis: [host]
models:
  added:
    platform: onnx
    model_file_path: {model}
    subgraphs:
      - input_tensors: x
        input_shapes: 2,3,5
        input_data_formats: NONE
        output_tensors: y
        output_shapes: 2,3,5
        output_data_formats: NONE
    runtime: cpu
    data_type: fp32_fp32
"""


class _Checkout:
    """A copy of this checkout, without files that git ignores."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self._bazel = replace(
            bazel_command(),
            startup=(
                *bazel_command().startup,
                f"--output_base={folder / 'bazel'}",
                "--max_idle_secs=60",
            ),
        )
        for path in _tracked():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / path, target, follow_symlinks=False)
        known, name = _KNOWN
        text = (self.root / known).read_text("utf-8")
        assert text.count(name) == 1
        (self.root / known).write_text(text.replace(name, ""), "utf-8")

    def python(self, *arguments: str) -> str:
        """Runs Python in the copy; returns its output."""
        return self._run([sys.executable, *arguments])

    def bazel(self, command: str, *arguments: str) -> str:
        """Runs Bazel in the copy; returns its output."""
        return self._run(self._bazel.words(command, *arguments))

    def _run(self, command: list[str]) -> str:
        ended = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def digests(self) -> dict[Path, str]:
        """The checksum of each source file."""
        return {
            path.relative_to(self.root): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.root.rglob("*")
            if path.is_file()
            and not path.is_symlink()
            and not {"__pycache__", "build"} & {*path.relative_to(self.root).parts}
        }

    def close(self) -> None:
        """Ends the server of Bazel and removes the copy, which is large."""
        if (self.root.parent / "bazel").exists():
            self.bazel("shutdown")
            # Bazel removes write permissions from its outputs.
            subprocess.run(["chmod", "-R", "u+w", str(self.root.parent)], check=True)
        shutil.rmtree(self.root.parent)


def _tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = filter(None, listed.stdout.split("\0"))
    return [name for name in names if (_ROOT / name).is_file()]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Checkout]:
    if not (_ROOT / ".git").exists():
        pytest.skip("not a checkout of git, so nothing tells sources from outputs")
    checkout = _Checkout(tmp_path_factory.mktemp("added"))
    yield checkout
    checkout.close()


@pytest.fixture(scope="module")
def added(before: _Checkout) -> _Checkout:
    """The copy with the operator, added only by new files."""
    sources = before.digests()
    before.python("tools/converter.py", "new-op", _OP.op_type, f"--onnx={_OP.onnx}")
    for name, old, new in _CHANGES:
        path = before.root / _ROOM / name
        text = path.read_text("utf-8")
        assert old in text, f"the template of {name} has changed"
        path.write_text(text.replace(old, new), "utf-8")
    after = before.digests()
    assert {path: after[path] for path in sources} == sources
    assert after.keys() - sources.keys() == {
        *(_ROOM / f"asinh{end}" for end in (".op.yaml", ".py", ".cc", "_cpu.cc")),
        *(_ROOM / f"asinh{end}" for end in ("_test.cc", "_benchmark.cc")),
        *(_HANDLERS / f"asinh{end}" for end in (".py", "_test.py")),
    }
    return before


def _model(folder: Path) -> Path:
    info = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Asinh", ["x"], ["y"])],
        "graph",
        [info("x", kind, [2, 3, 5])],
        [info("y", kind, [2, 3, 5])],
    )
    path = folder / "added.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return path


@pytest.fixture(scope="module")
def converted(added: _Checkout) -> Path:
    """The folder with the converted model."""
    folder = added.root / "build"
    folder.mkdir(exist_ok=True)
    deployment = folder / "added.yml"
    deployment.write_text(_DEPLOYMENT.format(model=_model(folder)))
    added.python("tools/converter.py", "convert", f"--config={deployment}")
    return folder / "added" / "model"


def test_the_tests_of_the_tools_find_it(added: _Checkout) -> None:
    added.python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        str(_HANDLERS / "asinh_test.py"),
        "mace/ops",
        "mace/python/tools/catalogue",
        "mace/python/tools/ir/shapes_test.py::"
        "test_every_operator_has_its_rules_in_its_room",
    )


def test_the_documentation_lists_it(added: _Checkout) -> None:
    table = added.python("-m", "mace.python.tools.catalogue.table")
    assert "| [Asinh](#asinh) | asinh(input) |" in table
    out = added.root / "build" / "onnx.txt"
    arguments = ("--framework=onnx", f"--output={out}")
    added.python("-m", "mace.python.tools.importers.reference", *arguments)
    assert "`Asinh`" in out.read_text("utf-8")


def test_its_own_test_passes(added: _Checkout) -> None:
    _require_bazel()
    added.bazel("test", "//mace/ops:asinh_test")


def test_a_program_with_this_operator_alone_runs_the_model(
    added: _Checkout, converted: Path
) -> None:
    _require_bazel()
    model = converted / "added.pb"
    selection = "mace.python.tools.export.selection"
    rooms = added.python("-m", selection, f"--models={model}").strip()
    assert rooms == "asinh"
    added.bazel("build", f"--//mace/ops:only={rooms}", "//mace/tools:mace_run")
    x = np.linspace(-20, 20, 30, dtype=np.float32)
    x.tofile(converted / "in_x")
    subprocess.run(
        [
            str(added.root / "bazel-bin" / "mace" / "tools" / "mace_run"),
            f"--model_file={model}",
            f"--model_data_file={converted / 'added.data'}",
            f"--input_file={converted / 'in'}",
            f"--output_file={converted / 'out'}",
            *("--input_node=x", "--input_shape=2,3,5", "--input_data_format=NONE"),
            *("--output_node=y", "--output_shape=2,3,5", "--output_data_format=NONE"),
        ],
        check=True,
        capture_output=True,
    )
    y = np.fromfile(converted / "out_y", np.float32)
    np.testing.assert_allclose(y, np.arcsinh(x), rtol=1e-6)


def _require_bazel() -> None:
    if shutil.which(bazel_command().program) is None:
        pytest.skip(f"{bazel_command().program} is not installed")
