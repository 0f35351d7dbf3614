# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Real TensorFlow networks with weights that mean something.

The architectures are those of `tf.keras.applications`. Weights come from a
fixed seed; batch-normalisation statistics are those of one random batch, so
that activations keep their scale through the depth, and the classifier is
scaled up so that the classes differ. Each is frozen to a GraphDef file.

    python -m test.conformance.models.keras_models MobileNetV2 --out DIR
"""

from __future__ import annotations

import argparse
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.atomic import atomic_write

SEED = 20261121
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KerasModel:
    """A frozen network: its file and the tensors at its border (NHWC)."""

    name: str
    path: Path
    input_name: str
    input_shape: tuple[int, ...]
    output_name: str
    output_shape: tuple[int, ...]


# Class of `tf.keras.applications` -> height and width of its input.
ARCHITECTURES: dict[str, int] = {
    "MobileNet": 224,
    "MobileNetV2": 224,
    "ResNet50": 224,
    "InceptionV3": 299,
}


def make_keras_model(name: str, directory: Path) -> KerasModel:
    """Builds and freezes one architecture, or finds it built in `directory`.

    Raises KeyError for a name that is not in ARCHITECTURES.
    """
    size = ARCHITECTURES[name]
    path = directory / f"{name}_{SEED}.pb"
    if not path.exists():
        with atomic_write(path) as stream:
            stream.write(_frozen_graph(name, size))
    return KerasModel(
        name,
        path,
        "input:0",
        (1, size, size, 3),
        "Identity:0",
        (1, 1000),
    )


def _frozen_graph(name: str, size: int) -> bytes:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    tf.keras.utils.set_random_seed(SEED)
    model = getattr(tf.keras.applications, name)(weights=None)
    _use_statistics_of_a_batch(model, size)
    function = tf.function(lambda x: model(x, training=False))
    concrete = function.get_concrete_function(
        tf.TensorSpec([1, size, size, 3], tf.float32, name="input")
    )
    graph = convert_variables_to_constants_v2(concrete).graph.as_graph_def()
    return bytes(graph.SerializeToString())


def _use_statistics_of_a_batch(model: Any, size: int) -> None:
    rng = np.random.default_rng(SEED)
    batch = rng.uniform(-1, 1, (4, size, size, 3)).astype(np.float32)
    normalisations = [
        layer for layer in model.layers if type(layer).__name__ == "BatchNormalization"
    ]
    for layer in normalisations:
        layer.momentum = 0.0  # one step makes the moving ones the batch's
    model(batch, training=True)
    classifier = model.layers[-1]
    if not classifier.get_weights():  # MobileNet ends in Reshape, Softmax
        classifier = next(
            layer for layer in reversed(model.layers) if layer.get_weights()
        )
    weights = classifier.get_weights()
    weights[0] = weights[0] * np.float32(4)
    classifier.set_weights(weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="+", choices=sorted(ARCHITECTURES))
    parser.add_argument("--out", type=Path, default=Path("build/models"))
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in args.names:
        log.info("%s", make_keras_model(name, args.out))


if __name__ == "__main__":
    main()
