# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier of this folder and writes what the demo uses.

    python mace/examples/digits/train.py

Data: the 1,797 test images of the UCI "Optical Recognition of Handwritten
Digits" set, 8 x 8 pixels with values 0 to 16, as scikit-learn ships them
(`sklearn.datasets.load_digits`). Every fifth image (360) is held out and never
trained on; the accuracy on them is printed and kept in `accuracy.json`.

Writes beside itself: `digits.onnx` (input `image` [N, 1, 8, 8] in [0, 1],
output `probability` [N, 10]), `accuracy.json`, and in `images/` held-out
samples as 8 x 8 PNG files named `<index>_is_<digit>.png`.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
HERE = Path(__file__).resolve().parent
SEED = 20261121
EPOCHS = 60
SAMPLES_PER_DIGIT = 4
log = logging.getLogger("digits")


def load() -> tuple[Array, Array, Array, Array]:
    """Returns training images and labels, then held-out ones."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]  # NCHW
    held_out = np.arange(len(images)) % 5 == 0
    return (
        images[~held_out],
        digits.target[~held_out],
        images[held_out],
        digits.target[held_out],
    )


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """Moves each image by up to one pixel, the only augmentation."""
    moved = np.zeros_like(images)
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (len(images), 2))):
        moved[i] = padded[i, :, dy : dy + 8, dx : dx + 8]
    return moved


def train(images: Array, labels: Array) -> Any:
    """Fits three convolutions and a dense layer with Keras."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(SEED)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", use_bias=False),
            layers.BatchNormalization(epsilon=1e-3),
            layers.ReLU(),
            layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(epsilon=1e-3),
            layers.ReLU(),
            layers.Conv2D(48, 3, padding="same", use_bias=False),
            layers.BatchNormalization(epsilon=1e-3),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
    )
    rng = np.random.default_rng(SEED)
    for epoch in range(EPOCHS):
        batch = shifted(images, rng).transpose(0, 2, 3, 1)
        model.optimizer.learning_rate.assign(2e-3 * 0.95**epoch)
        history = model.fit(batch, labels, batch_size=32, epochs=1, verbose=0)
        log.info("epoch %2d loss %.4f", epoch, history.history["loss"][-1])
    return model


def to_onnx(model: Any) -> onnx.ModelProto:
    """Writes the trained layers as an ONNX graph of opset 17."""
    nodes: list[onnx.NodeProto] = []
    constants: list[onnx.TensorProto] = []
    current = "image"

    def constant(name: str, value: Array) -> str:
        constants.append(
            numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name)
        )
        return name

    def node(kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    for layer in model.layers:
        kind, name = type(layer).__name__, layer.name
        weights = layer.get_weights()
        if kind == "Conv2D":
            kernel = constant(f"{name}.w", weights[0].transpose(3, 2, 0, 1))
            current = node(
                "Conv",
                [current, kernel],
                name,
                kernel_shape=[3, 3],
                strides=list(layer.strides),
                auto_pad="SAME_UPPER",
            )
        elif kind == "BatchNormalization":
            parts = [
                constant(f"{name}.{key}", value)
                for key, value in zip(("scale", "b", "mean", "var"), weights)
            ]
            current = node(
                "BatchNormalization",
                [current, *parts],
                name,
                epsilon=layer.epsilon,
            )
        elif kind == "ReLU":
            current = node("Relu", [current], name)
        elif kind == "GlobalAveragePooling2D":
            current = node("GlobalAveragePool", [current], name)
            current = node("Flatten", [current], "flatten")
        elif kind == "Dense":
            dense = [
                constant("dense.w", weights[0]),
                constant("dense.b", weights[1]),
            ]
            current = node("Gemm", [current, *dense], "logits")
            current = node("Softmax", [current], "probability", axis=1)
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["N", 10])],
        constants,
    )
    result = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 17)],
        producer_name="mace/examples/digits/train.py",
        ir_version=8,
    )
    onnx.checker.check_model(result, full_check=True)
    return result


def main() -> None:
    import onnxruntime
    from PIL import Image

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=HERE)
    out: Path = parser.parse_args().out
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    images, labels, test_images, test_labels = load()
    model = to_onnx(train(images, labels))
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    probability = session.run(None, {"image": test_images})[0]
    correct = int((probability.argmax(1) == test_labels).sum())
    (out / "images").mkdir(parents=True, exist_ok=True)
    onnx.save(model, out / "digits.onnx")
    accuracy = {
        "held_out_images": len(test_labels),
        "correct": correct,
        "accuracy": round(correct / len(test_labels), 4),
        "training_images": len(labels),
        "seed": SEED,
    }
    (out / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n")
    log.info("held out: %d of %d right", correct, len(test_labels))
    for digit in range(10):
        for i in np.flatnonzero(test_labels == digit)[:SAMPLES_PER_DIGIT]:
            pixels = np.rint(test_images[i, 0] * 255).astype(np.uint8)
            name = f"{5 * i:04d}_is_{digit}.png"
            Image.fromarray(pixels).save(out / "images" / name)


if __name__ == "__main__":
    main()
