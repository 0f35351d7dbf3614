# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of users' own operators: what is known of good ones, and what is said of bad
ones.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml

from mace.python.tools.catalogue import CatalogueError, default_catalogue
from mace.python.tools.catalogue.table import operator_table
from mace.python.tools.custom_ops import (
    INTERFACE,
    PACKAGE,
    RARE_OPS,
    RARE_PACKAGE,
    CustomOpsError,
    custom_folders,
    folder_problems,
    rare_modules,
    use_custom_ops,
)
from mace.python.tools.export.selection import SelectionError, select_rooms
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.opened import available_importers
from mace.python.tools.importers.frame.reference import operators_by_test
from mace.python.tools.importers.onnx.node import HANDLERS
from mace.python.tools.importers.onnx.testing import make_model, normal, run_mace
from mace.python.tools.ir.op_rules import rules_of

_ROOT = Path(__file__).resolve().parents[3]
_EXAMPLE = _ROOT / "mace" / "examples" / "custom_op" / "operators"
_IMPORTERS = "mace.python.tools.importers"
_X = normal(1, 2, 3, 4)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of the example's folder, which a test may spoil."""
    before = custom_folders()
    copied = tmp_path / "operators"
    shutil.copytree(_EXAMPLE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    yield copied
    use_custom_ops(before)


def _model(**attributes: int) -> onnx.ModelProto:
    node = onnx.helper.make_node(
        "MMCVCornerPool", ["x"], ["y"], domain="mmcv", **attributes
    )
    return make_model([node], {"x": _X}, ["y"])


def _change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("module", "name", "table"),
    [
        ("onnx.node", "Node", "standard.node"),
        ("tensorflow.context", "Context", "tf_operators.context"),
    ],
)
def test_handlers_of_earlier_releases_find_what_they_import(
    module: str, name: str, table: str
) -> None:
    old, new = (import_module(f"{_IMPORTERS}.{place}") for place in (module, table))
    assert old.HANDLERS is new.HANDLERS
    assert getattr(old, name) is getattr(new, name)
    base = import_module(f"{_IMPORTERS}.base")
    errors = import_module(f"{_IMPORTERS}.frame.errors")
    assert base.UnsupportedNodeError is errors.UnsupportedNodeError
    assert base.UnsupportedNodesError is errors.UnsupportedNodesError


def test_bazel_and_the_tools_agree_on_the_interface() -> None:
    rule = (_ROOT / "mace" / "ops" / "custom_repository.bzl").read_text("utf-8")
    assert re.findall(r"^INTERFACE = (\d+)$", rule, re.MULTILINE) == [str(INTERFACE)]


def test_handlers_alone(folder: Path) -> None:
    shutil.rmtree(folder / "corner_pool")
    (folder / "mine").mkdir()
    for framework in available_importers():
        handlers = folder / "mine" / f"mine_{framework}.py"
        handlers.write_text("")
        assert not folder_problems(folder)
        handlers.unlink()
    assert folder_problems(folder)


def test_all_tools_know_the_operators(folder: Path, tmp_path: Path) -> None:
    assert "CornerPool" not in default_catalogue()
    use_custom_ops([folder])
    assert default_catalogue().devices["CornerPool"] == ("CPU",)
    assert type(rules_of("CornerPool")).__name__ == "CornerPool"
    assert "mmcv.MMCVCornerPool" in HANDLERS.types()
    table = operator_table(default_catalogue())
    row = next(line for line in table.splitlines() if "[CornerPool]" in line)
    assert row.endswith("| ONNX |")
    handlers_test = str(folder / "corner_pool/corner_pool_onnx_test.py")
    assert handlers_test in table
    assert operators_by_test("onnx")[handlers_test] == ["mmcv.MMCVCornerPool"]
    assert select_rooms(["CornerPool", "Conv2D"]) == ("conv2d", "corner_pool")
    (y,) = run_mace(_model(mode=3), {"x": _X}, tmp_path)
    np.testing.assert_array_equal(y, np.maximum.accumulate(_X, 3))


def test_folders_that_are_left_are_forgotten(folder: Path, tmp_path: Path) -> None:
    use_custom_ops([folder])
    run_mace(_model(mode=0), {"x": _X}, tmp_path)
    use_custom_ops([])
    assert "CornerPool" not in default_catalogue()
    with pytest.raises(SelectionError, match="CornerPool"):
        select_rooms(["CornerPool"])
    with pytest.raises(UnsupportedNodesError, match="custom_ops"):
        run_mace(_model(mode=0), {"x": _X}, tmp_path)
    # Its files are read again, as they are now.
    _change(folder / "corner_pool/corner_pool.py", "np.maximum", "np.minimum")
    use_custom_ops([folder])
    (y,) = run_mace(_model(mode=3), {"x": _X}, tmp_path)
    np.testing.assert_array_equal(y, np.minimum.accumulate(_X, 3))


def test_rare_operators_are_in_such_a_folder() -> None:
    """Each of its modules has handlers, and names their types between quotes."""
    assert not folder_problems(RARE_OPS)
    for framework in available_importers():
        table = import_module(f"{_IMPORTERS}.{framework}").HANDLERS
        sources = {
            name: path.read_text("utf-8") for name, path in rare_modules(framework)
        }
        used = set()
        for op_type in table.types():
            module = table.find(op_type).__module__
            if module.startswith(f"{RARE_PACKAGE}."):
                assert f'"{op_type}"' in sources[module]
                used.add(module)
        assert used == set(sources)


def test_rare_operators_are_imported_when_a_model_has_them() -> None:
    """Neither for one that the importer has nor for one that nobody has."""
    script = f"""
import sys
from {_IMPORTERS}.standard.node import HANDLERS
def rare():
    return [name for name in sys.modules if name.startswith("{RARE_PACKAGE}.kaldi.")]
assert HANDLERS.find("Relu") and not HANDLERS.find("Foo") and not rare()
assert HANDLERS.find("kaldi.Splice")
assert rare() == ["{RARE_PACKAGE}.kaldi.kaldi_onnx"], rare()
"""
    subprocess.run([sys.executable, "-c", script], cwd=_ROOT, check=True)


def test_handlers_of_users_replace_rare_ones(folder: Path) -> None:
    handlers = folder / "corner_pool/corner_pool_onnx.py"
    _change(handlers, '"mmcv.MMCVCornerPool"', '"kaldi.Splice"')
    use_custom_ops([folder])
    assert _package_of("kaldi.Splice") == PACKAGE
    assert HANDLERS.types().count("kaldi.Splice") == 1
    assert _package_of("kaldi.Append") == "mace"
    use_custom_ops([])
    assert _package_of("kaldi.Splice") == "mace"


def _package_of(op_type: str) -> str:
    return str(getattr(HANDLERS.find(op_type), "__module__", "")).split(".")[0]


def test_rare_handlers_replace_none() -> None:
    def handler(node: object) -> None:
        """Nothing."""

    handler.__module__ = f"{RARE_PACKAGE}.conv.conv_onnx"
    with pytest.raises(CustomOpsError, match="MACE itself converts Conv of onnx"):
        HANDLERS.register("Conv")(handler)


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (shutil.rmtree, "is no folder"),
        (_remove("custom_ops.yaml"), "has no custom_ops.yaml; write 'interface: 1'"),
        (_write("custom_ops.yaml", ""), "needs 'interface: 1', and nothing else"),
        (_write("custom_ops.yaml", "interface: 2"), "found interface 2; this release"),
        (_write("custom_ops.yaml", "interface: yes"), "found interface True; this"),
        (_write("custom_ops.yaml", "interface: 1\na: 1"), "and nothing else"),
        (_write("custom_ops.yaml", "{"), "custom_ops.yaml cannot be read: while"),
        (_write("BUILD", ""), "remove .*BUILD; the targets of rooms"),
        (_write("corner_pool/BUILD.bazel", ""), "remove .*BUILD.bazel"),
        (_remove("corner_pool/corner_pool.py"), "there is no corner_pool.py"),
        (_remove("corner_pool/corner_pool.cc"), "there is no corner_pool.cc"),
        (_remove("corner_pool/corner_pool_cpu.cc"), "there is no corner_pool_cpu.cc"),
        (_remove("corner_pool/corner_pool_test.cc"), "no corner_pool_test.cc"),
        (_write("corner_pool/a.op.yaml", ""), "must be called corner_pool.op.yaml"),
        (lambda f: (f / "corner_pool").rename(f / "Corner"), "lower-case letters"),
        (lambda f: shutil.rmtree(f / "corner_pool"), "has no operator"),
    ],
)
def test_bad_folders(
    spoil: Callable[[Path], object], reason: str, folder: Path
) -> None:
    assert not folder_problems(folder)
    spoil(folder)
    with pytest.raises(CustomOpsError, match=reason) as caught:
        use_custom_ops([folder])
    assert str(folder) in str(caught.value)
    # Nothing has changed.
    assert "CornerPool" not in default_catalogue()


def test_names_that_mace_has(folder: Path, tmp_path: Path) -> None:
    declaration = folder / "corner_pool/corner_pool.op.yaml"
    _change(declaration, "op: CornerPool", "op: Conv2D")
    use_custom_ops([folder])
    with pytest.raises(
        CatalogueError, match=r"MACE itself has an operator Conv2D \(ma"
    ):
        default_catalogue()
    _change(declaration, "op: Conv2D", "op: CornerPool")
    copied = tmp_path / "other"
    shutil.copytree(folder, copied)
    use_custom_ops([folder, copied])
    with pytest.raises(CatalogueError, match=r"corner_pool declares CornerPool, too"):
        default_catalogue()
    _change(copied / "corner_pool/corner_pool.op.yaml", "op: Cor", "op: AnotherCor")
    use_custom_ops([folder, copied])
    with pytest.raises(CatalogueError, match="is a room of the same name"):
        default_catalogue()
    for old, new in (("corner_pool", "testing"), ("testing", "softmax")):
        (copied / old).rename(copied / new)
        for path in sorted((copied / new).glob(f"{old}*")):
            path.rename(path.with_name(path.name.replace(old, new)))
        use_custom_ops([copied])
        with pytest.raises(CatalogueError, match=f"MACE itself has mace/ops/{new}"):
            default_catalogue()


@pytest.mark.parametrize("name", ["custom_ops.yaml", "corner_pool/corner_pool.op.yaml"])
def test_damaged_files(name: str, folder: Path) -> None:
    path = folder / name
    text = path.read_bytes()
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(60):
        data = bytearray(text)
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(256)
        path.write_bytes(bytes(data))
        try:
            use_custom_ops([folder])
            default_catalogue()
        except (CatalogueError, CustomOpsError) as error:
            refused += 1
            assert path.name in str(error)
    assert refused


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("inputs", "3"),
        ("inputs", "[a]"),
        ("inputs", "[{name: a, types: 3}]"),
        ("outputs", "{a: b}"),
        ("outputs", "[{name: a, types: [[]]}]"),
        ("attributes", "[]"),
        ("attributes", "{a: 3}"),
        ("attributes", "{a: {type: int, default: []}}"),
        ("signatures", "{cpu: [{floats: 3}]}"),
    ],
)
def test_values_of_the_wrong_kind(key: str, value: str, folder: Path) -> None:
    path = folder / "corner_pool/corner_pool.op.yaml"
    raw = {**yaml.safe_load(path.read_text()), key: yaml.safe_load(value)}
    path.write_text(yaml.safe_dump(raw))
    use_custom_ops([folder])
    with pytest.raises(CatalogueError, match=r"corner_pool\.op\.yaml: "):
        default_catalogue()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("_MODES = {", "_MODES = {{", r"onnx.py, line \d+: '{' was never closed"),
        (
            "import Any",
            "import Nothing",
            r"onnx.py, line 7: ImportError: cannot import",
        ),
        ("_MODES = {", "1 / 0\n_MODES = {", r"line \d+: ZeroDivisionError: division"),
        (
            '"mmcv.MMCVCornerPool"',
            '"Conv"',
            r"line \d+: MACE itself converts Conv of o",
        ),
        ("@HANDLERS", "# @HANDLERS", "registers no handler for onnx: @HANDLERS.regist"),
    ],
)
def test_bad_handlers(old: str, new: str, reason: str, folder: Path) -> None:
    _change(folder / "corner_pool/corner_pool_onnx.py", old, new)
    use_custom_ops([folder])
    with pytest.raises(CustomOpsError, match=reason) as caught:
        HANDLERS.find("Conv")
    assert len(str(caught.value).splitlines()) == 1


def test_a_mistake_in_a_handler_is_told_with_its_line(
    folder: Path, tmp_path: Path
) -> None:
    path = folder / "corner_pool/corner_pool_onnx.py"
    _change(path, "axis, reverse = _MODES[mode]", "axis, reverse = _MODES[mode + 9]")
    use_custom_ops([folder])
    with pytest.raises(UnsupportedNodesError) as caught:
        run_mace(_model(mode=0), {"x": _X}, tmp_path)
    (node,) = caught.value.nodes
    assert node.reason == "KeyError: 9"
    assert re.fullmatch(rf"see {re.escape(str(path))}, line \d+", node.hint)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "class CornerPool(OpRules)",
            "class CornerPool",
            "one class derived from OpRu",
        ),
        ("def evaluate", "def calculate", "one class derived from OpRules"),
        ("import numpy as np", "import numpi as np", "line 10: ModuleNotFoundError"),
    ],
)
def test_bad_rules(old: str, new: str, reason: str, folder: Path) -> None:
    _change(folder / "corner_pool/corner_pool.py", old, new)
    use_custom_ops([folder])
    with pytest.raises((CatalogueError, CustomOpsError), match=reason):
        rules_of("CornerPool")
