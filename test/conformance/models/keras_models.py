# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Real TensorFlow networks with weights that mean something.

The architectures are those of `tf.keras.applications`, and further ones of
`keras_networks`. Weights come from a fixed seed; batch-normalisation statistics
are those of one random batch, so that activations keep their scale through the
depth, and classifiers are scaled up so that the classes differ. Each is frozen
to a GraphDef file.

    python -m test.conformance.models.keras_models MobileNetV2 --out DIR
"""

from __future__ import annotations

import argparse
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mace.python.tools.atomic import atomic_write
from test.conformance.models import keras_networks

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


# Class of `tf.keras.applications` -> height and width of its input.
ARCHITECTURES: dict[str, int] = {
    "MobileNet": 224,
    "MobileNetV2": 224,
    "ResNet50": 224,
    "InceptionV3": 96,
    "MobileNetV3Large": 96,
    "EfficientNetB0": 96,
}
# These scale their input themselves.
PIXELS = ("MobileNetV3Large", "EfficientNetB0")
# The same of functions of `keras_networks`.
NETWORKS: dict[str, int] = {
    "detector": 96,
    "deeplab": 96,
    "vision_transformer": 96,
    "style_transfer": 64,
    "super_resolution": 48,
}


def random_images(
    name: str, shape: tuple[int, ...], seed: int = SEED
) -> NDArray[np.float32]:
    """Noise in the range that a network expects."""
    low, high = (0, 255) if name in PIXELS else (-1, 1)
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def make_keras_model(name: str, directory: Path) -> KerasModel:
    """Builds and freezes one architecture, or finds it built in `directory`.

    Raises KeyError for a name that is in neither ARCHITECTURES nor NETWORKS.
    """
    size = {**ARCHITECTURES, **NETWORKS}[name]
    path = directory / f"{name}_{size}_{SEED}.pb"
    if not path.exists():
        with atomic_write(path) as stream:
            stream.write(_frozen_graph(name, size))
    return KerasModel(name, path, "input:0", (1, size, size, 3), "Identity:0")


def _frozen_graph(name: str, size: int) -> bytes:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    tf.keras.utils.set_random_seed(SEED)
    if name in NETWORKS:
        model = getattr(keras_networks, name)(size)
    else:
        model = getattr(tf.keras.applications, name)(
            weights=None, input_shape=(size, size, 3)
        )
    _use_statistics_of(model, random_images(name, (4, size, size, 3)))
    if name in ARCHITECTURES:
        _scale_up_classifier(model)
    function = tf.function(lambda x: model(x, training=False))
    concrete = function.get_concrete_function(
        tf.TensorSpec([1, size, size, 3], tf.float32, name="input")
    )
    graph = convert_variables_to_constants_v2(concrete).graph.as_graph_def()
    return bytes(graph.SerializeToString())


def _use_statistics_of(model: Any, batch: NDArray[np.float32]) -> None:
    normalisations = [
        layer for layer in model.layers if type(layer).__name__ == "BatchNormalization"
    ]
    if not normalisations:
        return
    for layer in normalisations:
        layer.momentum = 0.0  # one step makes the moving ones the batch's
    model(batch, training=True)


def _scale_up_classifier(model: Any) -> None:
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
    parser.add_argument("names", nargs="+", choices=[*ARCHITECTURES, *NETWORKS])
    parser.add_argument("--out", type=Path, default=Path("build/models"))
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in args.names:
        log.info("%s", make_keras_model(name, args.out))


if __name__ == "__main__":
    main()
