# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier further for 8-bit integers (quantization-aware).

    python mace/examples/digits/train_qat.py

Starts from the weights of `digits.onnx`, with normalisations folded into convolutions.
TensorFlow's FakeQuant rounds every weight and every result as integers would, while
the training goes on. Writes `digits_qat.pb`, a frozen graph (input `image`
[N, 8, 8, 1] in [0, 1], output `probability` [N, 10]), and adds the accuracy on the
held-out images to `accuracy.json`.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tensorflow as tf
from onnx import numpy_helper
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2,
)
from train import HERE, SEED, Array, load, shifted

EPOCHS = 20
RATE = 2e-4
BATCH = 32
# How fast ranges follow the results; they stay as they are in the last quarter.
MOMENTUM = 0.05
log = logging.getLogger("digits")


def folded(path: Path) -> list[tuple[Array, Array]]:
    """Weights and bias of each layer of `digits.onnx`, as TensorFlow has them."""
    model = onnx.load(str(path))
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    layers: list[tuple[Array, Array]] = []
    for node in model.graph.node:
        parts = [constants[name] for name in node.input if name in constants]
        if node.op_type == "Conv":
            layers.append((parts[0].transpose(2, 3, 1, 0), np.zeros(len(parts[0]))))
        elif node.op_type == "BatchNormalization":
            (epsilon,) = (a.f for a in node.attribute if a.name == "epsilon")
            scale, offset, mean, variance = parts
            factor = scale / np.sqrt(variance + epsilon)
            weights, _ = layers.pop()
            layers.append((weights * factor, offset - mean * factor))
        elif node.op_type == "Gemm":
            layers.append((parts[0], parts[1]))
    return [(w.astype(np.float32), b.astype(np.float32)) for w, b in layers]


class Classifier(tf.Module):
    """The network of train.py with FakeQuant behind each weight and each result."""

    STRIDES = (1, 2, 1)

    def __init__(self, layers: list[tuple[Array, Array]]) -> None:
        super().__init__()
        self.weights = [tf.Variable(weights) for weights, _ in layers]
        self.biases = [tf.Variable(bias) for _, bias in layers]
        # Of the image, the convolutions, the mean and the result.
        count = len(layers) + 2
        self.low = [tf.Variable(0.0, trainable=False) for _ in range(count)]
        self.high = [tf.Variable(0.0, trainable=False) for _ in range(count)]

    def __call__(self, image: Any, momentum: float = 0.0) -> Any:
        """The result before the softmax.

        Args:
            image: [N, 8, 8, 1].
            momentum: how far ranges move towards those of this batch.
        """
        x = self._rounded(0, image, momentum)
        for i, stride in enumerate(self.STRIDES):
            x = tf.nn.conv2d(x, self._weights(i), stride, "SAME")
            x = tf.nn.relu(tf.nn.bias_add(x, self.biases[i]))
            x = self._rounded(i + 1, x, momentum)
        x = self._rounded(4, tf.reduce_mean(x, [1, 2]), momentum)
        x = tf.nn.bias_add(tf.matmul(x, self._weights(3)), self.biases[3])
        return self._rounded(5, x, momentum)

    def _weights(self, layer: int) -> Any:
        weights = self.weights[layer]
        inner = list(range(len(weights.shape) - 1))
        limit = tf.stop_gradient(tf.reduce_max(tf.abs(weights), inner))
        return tf.quantization.fake_quant_with_min_max_vars_per_channel(
            weights, -limit, limit, narrow_range=True
        )

    def _rounded(self, place: int, x: Any, momentum: float) -> Any:
        low, high = self.low[place], self.high[place]
        if momentum:
            low.assign_add(momentum * (tf.minimum(tf.reduce_min(x), 0.0) - low))
            high.assign_add(momentum * (tf.maximum(tf.reduce_max(x), 0.0) - high))
        return tf.quantization.fake_quant_with_min_max_vars(x, low, high)


def train(model: Classifier, images: Array, labels: Array) -> None:
    """Finds the ranges, then trains."""
    optimizer = tf.keras.optimizers.Adam(RATE)
    rng = np.random.default_rng(SEED)

    @tf.function
    def step(x: Any, y: Any, momentum: float) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, momentum))
            )
        variables = [*model.weights, *model.biases]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    model(tf.constant(images.transpose(0, 2, 3, 1)), 1.0)
    for epoch in range(EPOCHS):
        batch = shifted(images, rng).transpose(0, 2, 3, 1)
        order = rng.permutation(len(batch))
        optimizer.learning_rate.assign(RATE * 0.85**epoch)
        momentum = MOMENTUM if epoch < EPOCHS * 3 // 4 else 0.0
        losses = [
            float(step(tf.constant(batch[i]), tf.constant(labels[i]), momentum))
            for i in np.split(order, range(BATCH, len(order), BATCH))
        ]
        log.info("epoch %2d loss %.4f", epoch, np.mean(losses))


def frozen(model: Classifier) -> Any:
    """The graph with its variables as constants."""

    def probability(image: Any) -> Any:
        return tf.identity(tf.nn.softmax(model(image)), "probability")

    spec = tf.TensorSpec([None, 8, 8, 1], tf.float32, name="image")
    concrete = tf.function(probability).get_concrete_function(spec)
    return convert_variables_to_constants_v2(concrete)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=HERE)
    out: Path = parser.parse_args().out
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    tf.keras.utils.set_random_seed(SEED)
    images, labels, test_images, test_labels = load()
    model = Classifier(folded(HERE / "digits.onnx"))
    train(model, images, labels.astype(np.int32))
    function = frozen(model)
    (out / "digits_qat.pb").write_bytes(
        function.graph.as_graph_def().SerializeToString()
    )
    (probability,) = function(tf.constant(test_images.transpose(0, 2, 3, 1)))
    correct = int((probability.numpy().argmax(1) == test_labels).sum())
    log.info("held out: %d of %d right", correct, len(test_labels))
    path = out / "accuracy.json"
    found = json.loads((HERE / "accuracy.json").read_text(encoding="utf-8"))
    found["qat"] = {
        "correct": correct,
        "accuracy": round(correct / len(test_labels), 4),
    }
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
