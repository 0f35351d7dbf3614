# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Classifies images with each engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.library import Library
from benchmarks.networks import Network, convert_network
from mace.python.tools.validate.frameworks.onnx_session import open_session

Pixels = NDArray[np.float32]
Digits = NDArray[np.int64]
_CLASSES = 10
# Divides the 4,792 images of the test.
_BATCH = 599
_IMAGE = (1, 32, 32)


def by_onnxruntime(model: Path, pixels: Pixels) -> Digits:
    """The class of each image, by an ONNX file with the input `image`."""
    session = open_session(str(model), threads=1)
    batches = np.split(pixels, len(pixels) // _BATCH)
    return np.concatenate(
        [session.run(None, {"image": batch})[0].argmax(1) for batch in batches]
    )


def converted(model: Path) -> Path:
    """The MACE model made of an ONNX file, beside it; the path without suffix."""
    network = Network(
        model.stem, model, model.with_suffix(""), "image", "logits", (_BATCH, *_IMAGE)
    )
    convert_network(network)
    return network.mace


def by_mace(model: Path, pixels: Pixels, library: Library) -> Digits:
    """The class of each image.

    Args:
        model: the path of a MACE model without suffix; input and output as above.
    """
    logits = np.empty((_BATCH, _CLASSES), np.float32)
    # Images of one channel are the same in NHWC.
    image = np.empty((_BATCH, *_IMAGE[1:], 1), np.float32)
    found = []
    with library.engine(model, 1) as engine:
        run = engine.bind("image", image, "logits", logits)
        for batch in np.split(pixels, len(pixels) // _BATCH):
            image[...] = batch.reshape(image.shape)
            run()
            found.append(logits.argmax(1))
    return np.concatenate(found)


def by_litert(model: bytes, pixels: Pixels) -> Digits:
    """The class of each image, one by one, by a LiteRT model of floats."""
    import tensorflow as tf

    interpreter = tf.lite.Interpreter(model_content=model, num_threads=1)
    interpreter.allocate_tensors()
    (source,), (result,) = (
        interpreter.get_input_details(),
        interpreter.get_output_details(),
    )
    found = np.empty(len(pixels), np.int64)
    for index, image in enumerate(pixels.transpose(0, 2, 3, 1)):
        interpreter.set_tensor(source["index"], image[None])
        interpreter.invoke()
        found[index] = interpreter.get_tensor(result["index"]).argmax()
    return found
