# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that do nothing in inference."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context


@HANDLERS.register(
    *("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    *("AlphaDropout", "GaussianDropout", "GaussianNoise", "StochasticDepth"),
    *("ActivityRegularization", "Identity"),
    *("RandomBrightness", "RandomContrast", "RandomFlip", "RandomRotation"),
    *("RandomTranslation", "RandomZoom", "AugMix", "CutMix", "MixUp", "RandAugment"),
    *("RandomColorDegeneration", "RandomColorJitter", "RandomElasticTransform"),
    *("RandomErasing", "RandomGaussianBlur", "RandomGrayscale", "RandomHue"),
    *("RandomInvert", "RandomPerspective", "RandomPosterization", "RandomSaturation"),
    *("RandomSharpness", "RandomShear"),
)
def nothing(context: Context) -> None:
    """Only in training."""
    # The call of a model of Keras 3 overrides this, that of Keras 2 does not.
    if context.layer.keras < 3 and context.keywords.get("training") is True:
        raise UnsupportedNodeError("it is called with training=True")
    context.give(context.input())


@HANDLERS.register("Lambda")
def code(context: Context) -> None:
    """Python code in the file, which is never run."""
    del context
    raise UnsupportedNodeError(
        "a Lambda layer is Python code",
        "write it with layers of Keras, or model.export(FOLDER) and say platform: "
        "tensorflow",
    )
