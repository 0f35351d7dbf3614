# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the names of files say of them."""

from __future__ import annotations

from pathlib import Path, PurePath

from mace.python.tools.config.vocabulary import Platform

# By the end of the file's name.
_SUFFIXES = {
    ".onnx": Platform.ONNX,
    ".pb": Platform.TENSORFLOW,
    ".pbtxt": Platform.TENSORFLOW,
    ".tflite": Platform.TFLITE,
    ".prototxt": Platform.CAFFE,
    ".keras": Platform.KERAS,
    ".h5": Platform.KERAS,
    ".hdf5": Platform.KERAS,
    ".pt2": Platform.PYTORCH,
    ".pt": Platform.PYTORCH,
    ".pth": Platform.PYTORCH,
    ".mge": Platform.MEGENGINE,
}
WEIGHTS_SUFFIX = ".caffemodel"


def platform_of(name: str) -> Platform | None:
    """The framework that names its files like this; None: no known one."""
    suffix = PurePath(name).suffix.lower()
    # TensorFlow's SavedModel is a folder.
    if Path(name, "saved_model.pb").is_file():
        return Platform.TENSORFLOW
    return _SUFFIXES.get(suffix, None if suffix else Platform.TENSORFLOW)


def known_suffixes() -> list[str]:
    """The endings of model files' names, for messages."""
    return [suffix for suffix, platform in _SUFFIXES.items() if platform.in_release]
