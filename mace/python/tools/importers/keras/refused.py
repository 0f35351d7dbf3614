# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that are known and cannot be converted: why, and what to do."""

from __future__ import annotations

_BEFORE = "compute it in the application, and begin the model behind it (input_tensors)"
_STRINGS = "it works on strings", _BEFORE
_HASH = "it hashes its input", _BEFORE
_COLOURS = "it changes the colours of images by their histograms", _BEFORE
_EXPORT = "call model.export(FOLDER) and say platform: tensorflow"

REFUSED = {
    "AutoContrast": _COLOURS,
    "ContrastLimitedAdaptiveHistogramEqualization": _COLOURS,
    "ConvLSTM3D": ("it unrolls convolutions of volumes", "use ConvLSTM2D"),
    "Equalization": _COLOURS,
    "FeatureSpace": _STRINGS,
    "HashedCrossing": _HASH,
    "Hashing": _HASH,
    "MaxNumBoundingBoxes": ("it works on lists of boxes", _BEFORE),
    "MelSpectrogram": ("MACE reads no settings of spectra of Keras", _EXPORT),
    "STFTSpectrogram": ("MACE reads no settings of spectra of Keras", _EXPORT),
    "RandomCrop": (
        "it resizes images in inference",
        "use Resizing with crop_to_aspect_ratio=True",
    ),
    "Solarization": _COLOURS,
    "StringLookup": _STRINGS,
    "TextVectorization": _STRINGS,
}
