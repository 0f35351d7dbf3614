# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the samples of a folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.errors import UsageError
from mace.python.tools.export.model_file import TensorInfo
from mace.python.tools.run.inputs import InputDataError
from mace.python.tools.run.samples import find_samples
from mace.python.tools.run.testing.tiny_model import write_dense_model


@pytest.mark.parametrize("names", [("x", "x2"), ("x2", "x"), ("in:0", "in:0:x")])
def test_names_may_start_alike(tmp_path: Path, names: tuple[str, str]) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    inputs = tuple(TensorInfo(name, (1, 3), "float32") for name in names)
    model = dataclasses.replace(model, inputs=inputs)
    folder = tmp_path / "samples"
    folder.mkdir()
    with pytest.raises(UsageError, match="holds no file"):
        find_samples(folder, model)
    for name in names:
        for suffix in ("_a", "_b"):
            file = folder / (name.replace(":", "_") + suffix)
            np.zeros(3, np.float32).tofile(file)
    assert find_samples(folder, model) == ("_a", "_b")
    (folder / (names[1].replace(":", "_") + "_b")).unlink()
    with pytest.raises(InputDataError, match="1 of 2 samples' files"):
        find_samples(folder, model)
