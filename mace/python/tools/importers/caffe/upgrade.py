# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns layers of Caffe's first two file formats into those of the current one.

The rules are those of Caffe's `upgrade_net_proto_text`, so that its users need not run
it first. Weights of older files need no upgrade: `caffemodel.py` reads all formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mace.python.tools.importers.frame.errors import ImportModelError

# Names of types in the second format that are not just written in another case.
_V1_TYPES = {
    "ABSVAL": "AbsVal",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "LRN": "LRN",
    "MVN": "MVN",
    "RELU": "ReLU",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "TANH": "TanH",
}
_V0_TYPES = {
    "accuracy": "Accuracy",
    "bnll": "BNLL",
    "concat": "Concat",
    "conv": "Convolution",
    "data": "Data",
    "dropout": "Dropout",
    "euclidean_loss": "EuclideanLoss",
    "flatten": "Flatten",
    "hdf5_data": "HDF5Data",
    "hdf5_output": "HDF5Output",
    "im2col": "Im2col",
    "images": "ImageData",
    "infogain_loss": "InfogainLoss",
    "innerproduct": "InnerProduct",
    "lrn": "LRN",
    "multinomial_logistic_loss": "MultinomialLogisticLoss",
    "pool": "Pooling",
    "relu": "ReLU",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "softmax_loss": "SoftmaxWithLoss",
    "split": "Split",
    "tanh": "TanH",
    "window_data": "WindowData",
}
# Field of the first format, type of the layer -> parameter message and field.
_V0_FIELDS = {
    "num_output": {
        "conv": ("convolution_param", "num_output"),
        "innerproduct": ("inner_product_param", "num_output"),
    },
    "biasterm": {
        "conv": ("convolution_param", "bias_term"),
        "innerproduct": ("inner_product_param", "bias_term"),
    },
    "pad": {"conv": ("convolution_param", "pad"), "pool": ("pooling_param", "pad")},
    "kernelsize": {
        "conv": ("convolution_param", "kernel_size"),
        "pool": ("pooling_param", "kernel_size"),
    },
    "group": {"conv": ("convolution_param", "group")},
    "stride": {
        "conv": ("convolution_param", "stride"),
        "pool": ("pooling_param", "stride"),
    },
    "pool": {"pool": ("pooling_param", "pool")},
    "dropout_ratio": {"dropout": ("dropout_param", "dropout_ratio")},
    "local_size": {"lrn": ("lrn_param", "local_size")},
    "alpha": {"lrn": ("lrn_param", "alpha")},
    "beta": {"lrn": ("lrn_param", "beta")},
    "k": {"lrn": ("lrn_param", "k")},
    "concat_dim": {"concat": ("concat_param", "concat_dim")},
}
_REPEATED = {("convolution_param", name) for name in ("pad", "kernel_size", "stride")}
_PADDING = "padding"


def upgrade_layers(layers: Sequence[Any], messages: Any) -> list[Any]:
    """LayerParameters for V1LayerParameters, which may wrap V0LayerParameters.

    Args:
        layers: of the file.
        messages: of caffe.proto.

    Raises:
        ImportModelError: a layer has fields that its type does not have.
    """
    return [
        _from_v0(layer, messages)
        if layer.HasField("layer")
        else _from_v1(layer, messages)
        for layer in _without_padding(layers)
    ]


def _from_v1(layer: Any, messages: Any) -> Any:
    result = messages.LayerParameter()
    for known, value in layer.ListFields():
        if known.name == "type":
            name = known.enum_type.values_by_number[value].name
            words = name.split("_")
            result.type = _V1_TYPES.get(name, "".join(w.capitalize() for w in words))
        elif known.name == "param":
            for shared in value:
                result.param.add(name=shared)
        elif known.message_type is None:
            target = getattr(result, known.name)
            if isinstance(value, str):
                setattr(result, known.name, value)
            else:
                target.extend(value)
        elif known.name in ("include", "exclude", "blobs"):
            getattr(result, known.name).extend(value)
        else:
            getattr(result, known.name).CopyFrom(value)
    return result


def _from_v0(layer: Any, messages: Any) -> Any:
    old = layer.layer
    if old.type not in _V0_TYPES:
        raise ImportModelError(
            f"model_file_path: layer {old.name!r} has the type {old.type!r}, which the "
            "oldest format does not have"
        )
    result = messages.LayerParameter(name=old.name, type=_V0_TYPES[old.type])
    result.bottom.extend(layer.bottom)
    result.top.extend(layer.top)
    for known, value in old.ListFields():
        if known.name in ("name", "type", "blobs"):
            continue
        place = _V0_FIELDS[known.name].get(old.type)
        if place is None:
            raise ImportModelError(
                f"model_file_path: layer {old.name!r} of type {old.type!r} has a "
                f"{known.name}, which has no meaning there"
            )
        section = getattr(result, place[0])
        if place in _REPEATED:
            getattr(section, place[1]).append(value)
        else:
            setattr(section, place[1], value)
    return result


def _without_padding(layers: Sequence[Any]) -> list[Any]:
    """Moves the padding layers of the first format into the layers after them."""
    makers: dict[str, Any] = {}
    result = []
    for layer in layers:
        for index, bottom in enumerate(layer.bottom):
            maker = makers.get(bottom)
            if maker is None or maker.layer.type != _PADDING:
                continue
            if layer.layer.type not in ("conv", "pool") or len(layer.bottom) != 1:
                raise ImportModelError(
                    f"model_file_path: {layer.layer.name!r} reads the padding layer "
                    f"{maker.layer.name!r}; only convolution and pooling can"
                )
            layer.layer.pad = maker.layer.pad
            layer.bottom[index] = maker.bottom[0]
        makers.update(dict.fromkeys(layer.top, layer))
        if layer.layer.type != _PADDING:
            result.append(layer)
        elif len(layer.bottom) != 1 or len(layer.top) != 1:
            raise ImportModelError(
                f"model_file_path: the padding layer {layer.layer.name!r} must have "
                "one bottom and one top"
            )
    return result
