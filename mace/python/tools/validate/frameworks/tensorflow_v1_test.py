# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""SavedModels as references; `launch_test.py` runs frozen graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.validate.frameworks import FrameworkError, ReferenceRequest

X = np.array([[-1, 0, 1], [2, -3, 4]], dtype=np.float32)


def test_names_of_the_signature_and_of_the_graph(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    from mace.python.tools.validate.frameworks.tensorflow_v1 import run

    module = tf.Module()
    module.w = tf.Variable(3.0)
    function = tf.function(lambda x: {"y": x * module.w})
    concrete = function.get_concrete_function(tf.TensorSpec([2, 3], name="x"))
    tf.saved_model.save(module, str(tmp_path), signatures=concrete)
    for name in ("y", "StatefulPartitionedCall:0"):
        request = ReferenceRequest("tensorflow", tmp_path, {"x": X}, (name,), ("no",))
        assert set(run(request).tensors) == {name}
        np.testing.assert_array_equal(run(request).tensors[name], X * 3)
    with pytest.raises(FrameworkError, match="no tensor 'yy' \\(near: 'y'"):
        run(ReferenceRequest("tensorflow", tmp_path, {"x": X}, ("yy",)))
    (tmp_path / "saved_model.pb").write_bytes(b"\xff")
    with pytest.raises(FrameworkError, match="no readable"):
        run(ReferenceRequest("tensorflow", tmp_path, {"x": X}, ("y",)))
