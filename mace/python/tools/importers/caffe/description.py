# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a Caffe network says of itself."""

from __future__ import annotations

from collections import Counter

from mace.python.tools.importers.caffe.importer import CaffeModel
from mace.python.tools.importers.caffe.net import DATA_TYPES
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat


def describe(model: CaffeModel) -> ModelDescription:
    """See `importers.frame.opened.Framework`. Results are the blobs that no layer
    reads.
    """
    net = model.net
    read = {version for versions in net.reads for version in versions}
    inputs, outputs = [], []
    for layer, made in zip(net.layers, net.makes):
        for version in made:
            if layer.type in DATA_TYPES:
                shape = net.shapes.get(version)
                inputs.append(TensorDescription(version.blob, shape, DataType.FLOAT32))
            elif version not in read:
                outputs.append(TensorDescription(version.blob, dtype=DataType.FLOAT32))
    return ModelDescription(
        framework="Caffe",
        image_order=DataFormat.NCHW,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        operators=Counter(layer.type for layer in net.layers),
    )
