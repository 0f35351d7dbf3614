# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading converted models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.export.model_file import ModelFileError, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.run.testing.tiny_model import write_dense_model


def test_reads_what_was_written(tmp_path: Path) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3)), np.ones((2, 4))])
    assert [t.name for t in model.inputs] == ["x"]
    output = model.output("y")
    assert output is not None
    assert (output.shape, output.data_type) == ((1, 2), "float32")
    assert model.output("h0") is None
    first, second = model.operators
    assert (first.name, first.type, first.inputs) == (
        "fc0",
        "FullyConnected",
        ("x", "w0"),
    )
    assert first.outputs[0].source == "source/h0"
    assert second.outputs[0].is_static


def test_errors_name_the_file_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"m\.pb does not exist: convert"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
    (tmp_path / "m.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ModelFileError, match=r"m\.data does not exist"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
    (tmp_path / "m.data").write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"m\.pb is no readable MACE model"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
