# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of Keras with random weights, in floats and in 8-bit integers, against
TensorFlow Lite.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    converted,
    import_file,
    interpreted,
    operator_steps,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.passes.manager import optimize

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_SHAPE = (1, 32, 32, 3)
_NETWORKS = {"MobileNetV2": {"alpha": 0.35}, "MobileNetV3Small": {"alpha": 0.75}}


def _constants(name: str, scale: float) -> Any:
    """The network as a function without variables, for images of that scale."""
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    tf.keras.utils.set_random_seed(7)
    model = getattr(tf.keras.applications, name)(
        weights=None,
        input_shape=_SHAPE[1:],
        classes=20,
        classifier_activation=None,
        **_NETWORKS[name],
    )
    # Without statistics of some batch, the numbers become smaller with each layer,
    # until all integers of the result are the same.
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.0
    model(scale * rand(16, *_SHAPE[1:]), training=True)
    function = tf.function(lambda x: model(x, training=False))
    return convert_variables_to_constants_v2(
        function.get_concrete_function(tf.TensorSpec(_SHAPE, tf.float32))
    )


@pytest.mark.parametrize("name", _NETWORKS)
def test_network(name: str, tmp_path: Path) -> None:
    # MobileNetV3 takes pixels.
    scale = np.float32(60 if name == "MobileNetV3Small" else 1)
    network, path = _constants(name, scale), tmp_path / "m.tflite"
    x = rand(*_SHAPE) * scale

    def called(x: Any) -> Any:
        return network(x)[0]

    data = converted(called, [x])
    (found,), (wanted,) = run_file(data, [x], path), interpreted(data, [x])
    np.testing.assert_allclose(found, wanted, 0, 1e-4 * np.abs(wanted).max())
    data = converted(called, [x], "int8")
    rng = np.random.default_rng(5)
    integers = rng.integers(-128, 128, _SHAPE).astype(np.int8)
    assert np.ptp(interpreted(data, [integers])[0].astype(int)) > 50
    steps = operator_steps(data, [integers], path)
    assert {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD"} <= steps.keys()
    assert max(steps.values()) <= 1
    graph = import_file(path)
    optimize(graph)
    assert all(op.output.dtype is DataType.INT8 for op in graph.ops)
