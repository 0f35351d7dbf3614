# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Archives of both layouts; files that are no exported programs."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.testing import request_for
from mace.python.tools.importers.pytorch import import_model
from mace.python.tools.importers.pytorch.model import ScriptFileError, read_model
from mace.python.tools.importers.pytorch.tensors import BadTensorError, StoredTensor
from mace.python.tools.importers.pytorch.testing import (
    Spec,
    linear,
    meta,
    new_entries,
    normal,
    old_entries,
    saved_tensors,
    write_archive,
)

Entries = dict[str, bytes]


@pytest.mark.parametrize("entries", [new_entries, old_entries])
def test_both_layouts(entries: Callable[[Spec], Entries], tmp_path: Path) -> None:
    path, spec = tmp_path / "net.pt2", linear()
    write_archive(path, entries(spec))
    model = read_model(path)
    assert model.program.inputs == ("x",)
    assert model.program.outputs == ("relu",)
    assert model.names == {"scores": "relu"}
    for name, array in (
        ("p_fc_weight", spec.weights["fc.weight"]),
        ("p_fc_bias", spec.weights["fc.bias"]),
    ):
        np.testing.assert_array_equal(model.tensors[name].array(), array)


def test_weights_as_a_pickle_in_the_newer_layout(tmp_path: Path) -> None:
    spec = linear()
    entries = new_entries(spec)
    del entries["net/data/weights/model_weights_config.json"]
    entries["net/data/weights/model.pt"] = saved_tensors(spec.weights)
    write_archive(tmp_path / "net.pt2", entries)
    found = read_model(tmp_path / "net.pt2").tensors["p_fc_weight"].array()
    np.testing.assert_array_equal(found, spec.weights["fc.weight"])


def test_compressed_archives(tmp_path: Path) -> None:
    spec, path = linear(), tmp_path / "net.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in new_entries(spec).items():
            archive.writestr(name, content)
    found = read_model(path).tensors["p_fc_bias"].array()
    np.testing.assert_array_equal(found, spec.weights["fc.bias"])


def test_views_of_one_storage(tmp_path: Path) -> None:
    spec = linear()
    entries = new_entries(spec)
    index = "net/data/weights/model_weights_config.json"
    config = json.loads(entries[index])
    turned = normal(3, 4)
    entries["net/data/weights/weight_0"] = turned.tobytes()
    config["config"]["fc.weight"]["tensor_meta"] = meta(turned.T, (1, 4))
    last = meta(turned[2])
    last["storage_offset"] = {"as_int": 8}
    config["config"]["fc.bias"] = {
        **config["config"]["fc.weight"],
        "tensor_meta": last,
    }
    entries[index] = json.dumps(config).encode()
    write_archive(tmp_path / "net.pt2", entries)
    tensors = read_model(tmp_path / "net.pt2").tensors
    np.testing.assert_array_equal(tensors["p_fc_weight"].array(), turned.T)
    np.testing.assert_array_equal(tensors["p_fc_bias"].array(), turned[2])


def _refusal(path: Path) -> str:
    with pytest.raises(ImportModelError) as caught:
        read_model(path)
    return str(caught.value)


def test_weights_without_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "net.pth"
    path.write_bytes(saved_tensors({"fc.weight": normal(2, 3)}))
    assert "state_dict" in _refusal(path)
    assert "torch.export.save" in _refusal(path)


def _saved(obj: object) -> bytes:
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w") as archive:
        archive.writestr("net/data.pkl", pickle.dumps(obj, 2))
    return result.getvalue()


def test_no_code_of_a_pickle_runs(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "was_here",))

    path = tmp_path / "net.pth"
    path.write_bytes(_saved(Evil()))
    assert "a pickled object" in _refusal(path)
    entries = {**old_entries(linear()), "serialized_state_dict.pt": _saved(Evil())}
    write_archive(path, entries)
    assert "holds objects of" in _refusal(path)
    assert not (tmp_path / "was_here").exists()


def test_a_pickled_module_names_its_class(tmp_path: Path) -> None:
    path = tmp_path / "net.pth"
    path.write_bytes(_saved(Spec({}, [], [])))
    assert "testing.Spec" in _refusal(path)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    path.write_bytes(pickle.dumps([1, 2], 2))
    assert "a pickle of PyTorch, which holds no graph" in _refusal(path)
    path.write_bytes(b"")
    assert "no file of PyTorch" in _refusal(path)
    path.write_bytes(b"\x08\x01text")
    assert "no file of PyTorch" in _refusal(path)
    write_archive(path, {"a.txt": b"x"})
    assert "no exported program" in _refusal(path)
    assert "cannot read" in _refusal(tmp_path / "absent.pt2")
    assert "cannot read" in _refusal(tmp_path)


def test_torchscript_needs_pytorch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.pt"
    write_archive(path, {"net/data.pkl": b"", "net/code/__torch__.py": b""})
    with pytest.raises(ScriptFileError):
        read_model(path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportModelError, match="TorchScript.*pip install torch"):
        import_model(request_for(path, {"x": normal(1)}, ["y"]))


def test_several_programs(tmp_path: Path) -> None:
    entries = new_entries(linear())
    entries["net/models/other.json"] = entries["net/models/model.json"]
    write_archive(tmp_path / "net.pt2", entries)
    assert "several programs (model.json, other.json)" in _refusal(tmp_path / "net.pt2")


def test_a_newer_format(tmp_path: Path) -> None:
    spec = linear()
    spec.more = {"schema_version": {"major": 99, "minor": 0}}
    write_archive(tmp_path / "net.pt2", new_entries(spec))
    assert "99 of its format is newer" in _refusal(tmp_path / "net.pt2")


def test_a_wrong_checksum(tmp_path: Path) -> None:
    path, spec = tmp_path / "net.pt2", linear()
    write_archive(path, new_entries(spec))
    data = bytearray(path.read_bytes())
    at = data.find(spec.weights["fc.weight"].tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert "checksum of net/data/weights/weight_0" in _refusal(path)


def test_weights_that_are_missing_or_short(tmp_path: Path) -> None:
    path, spec = tmp_path / "net.pt2", linear()
    entries = new_entries(spec)
    missing = dict(entries)
    del missing["net/data/weights/weight_1"]
    write_archive(path, missing)
    assert "weight_1 is missing" in _refusal(path)
    entries["net/data/weights/weight_0"] = b"\0" * 40
    write_archive(path, entries)
    with pytest.raises(ImportModelError, match=r"fc.weight: .* 12 elements, of .* 10"):
        import_model(request_for(path, spec.inputs, spec.outputs))


@pytest.mark.parametrize("number", [6, 7, 8, 13])
def test_floats_of_all_widths(number: int) -> None:
    kinds = {6: np.float16, 7: np.float32, 8: np.float64, 13: ml_dtypes.bfloat16}
    array = np.array([0.5, -3, 1.25], kinds[number])
    stored = StoredTensor(number, memoryview(array.tobytes()), 1, (2,), (1,))
    found = stored.constant("w")
    assert found.numpy().dtype == np.float32
    np.testing.assert_array_equal(found.numpy(), [-3, 1.25])
    large = np.arange(5000).astype(kinds[number])
    stored = StoredTensor(number, memoryview(large.tobytes()), 0, (5000,), (1,))
    wanted = large.astype(np.float32)
    np.testing.assert_array_equal(stored.constant("w").numpy(), wanted)


def test_tensors_that_do_not_fit_their_bytes() -> None:
    data = memoryview(bytes(16))
    for shape, strides, offset in (
        ((5,), (1,), 0),
        ((2,), (4,), 0),
        ((4,), (1,), 1),
        ((2,), (-1,), 3),
        ((-1,), (1,), 0),
        ((2,), (1, 1), 0),
    ):
        with pytest.raises(BadTensorError):
            StoredTensor(7, data, offset, shape, strides).array()
    with pytest.raises(UnsupportedNodeError, match="complex32"):
        StoredTensor(9, data, 0, (1,), (1,)).array()
