# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a prototxt into the layers that Caffe would run in the phase TEST.

Layers of the first two file formats become those of the current one by the rules of
Caffe's `upgrade_net_proto_text`, so that its users need not run it first. Weights of
older files need no upgrade: `caffemodel.py` reads all formats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mace.python.tools.importers.caffe.text_format import (
    TextError,
    Unknown,
    parse_text,
)
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.model_file import map_file, other_format
from mace.python.tools.proto import load_proto

_PROTO = "mace/python/tools/importers/caffe/caffe.proto"

# The largest network of Caffe's zoo has 0.2 MB.
_LARGEST_TEXT = 4 << 20
_MOST_LAYERS = 20_000

# Fields that only matter in training, or tell how and not what to compute.
_TRAINING = frozenset(
    {
        *("accuracy_param", "annotated_data_param", "bias_filler", "blob_share_mode"),
        *("blobs_lr", "contrastive_loss_param", "cudnn_convolution_algo_seeker"),
        *("data_filler", "data_param", "debug_info", "decay_mult", "dummy_data_param"),
        *("engine", "filler", "force_backward", "force_nd_im2col", "hdf5_data_param"),
        *("hdf5_output_param", "hinge_loss_param", "image_data_param"),
        *("infogain_loss_param", "loss_param", "loss_weight", "lr_mult"),
        *("memory_data_param", "moving_average_fraction", "multibox_loss_param"),
        *("optimize_train", "prefetch", "propagate_down", "scale_filler", "share_mode"),
        *("stable_prod_grad", "transform_param", "weight_decay", "weight_filler"),
        "window_data_param",
    }
)
INPUT_TYPE = "Input"
# Types of layers whose tops a program feeds.
DATA_TYPES = frozenset(
    {
        INPUT_TYPE,
        *("AnnotatedData", "Data", "DummyData", "HDF5Data", "ImageData", "MemoryData"),
        *("VideoData", "WindowData"),
    }
)


# Older formats: types that are not just written in another case.
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
# Types of the first format that the second one has in capital letters.
_V0_ALIKE = (
    *("accuracy", "bnll", "concat", "data", "dropout", "euclidean_loss", "flatten"),
    *("hdf5_data", "hdf5_output", "im2col", "infogain_loss", "lrn", "relu", "sigmoid"),
    *("multinomial_logistic_loss", "softmax", "softmax_loss", "split", "tanh"),
    "window_data",
)
_V0_TYPES = {
    **{kind: kind.upper() for kind in _V0_ALIKE},
    "conv": "CONVOLUTION",
    "images": "IMAGE_DATA",
    "innerproduct": "INNER_PRODUCT",
    "pool": "POOLING",
}
_V0_PARAMS = {
    "conv": "convolution",
    "innerproduct": "inner_product",
    "pool": "pooling",
    **{kind: kind for kind in ("concat", "dropout", "lrn")},
}
# Field of the first format, type of the layer -> parameter message and field.
_V0_FIELDS = {
    old: {kind: (f"{_V0_PARAMS[kind]}_param", new) for kind in kinds.split()}
    for old, new, kinds in (
        ("num_output", "num_output", "conv innerproduct"),
        ("biasterm", "bias_term", "conv innerproduct"),
        ("pad", "pad", "conv pool"),
        ("kernelsize", "kernel_size", "conv pool"),
        ("group", "group", "conv"),
        ("stride", "stride", "conv pool"),
        ("pool", "pool", "pool"),
        ("dropout_ratio", "dropout_ratio", "dropout"),
        *((name, name, "lrn") for name in ("local_size", "alpha", "beta", "k")),
        ("concat_dim", "concat_dim", "concat"),
    )
}
_REPEATED = {("convolution_param", name) for name in ("pad", "kernel_size", "stride")}
_PADDING = "padding"


@dataclass(frozen=True)
class NetLayer:
    """A layer, in the current format.

    Attributes:
        proto: its LayerParameter.
        unknown: fields that caffe.proto lacks, with their lines.
    """

    proto: Any
    unknown: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.proto.name)

    @property
    def type(self) -> str:
        return str(self.proto.type)

    @property
    def bottoms(self) -> tuple[str, ...]:
        return tuple(self.proto.bottom)

    @property
    def tops(self) -> tuple[str, ...]:
        return tuple(self.proto.top)


@dataclass(frozen=True)
class Version:
    """A tensor. A layer that works in place makes a new version of its blob.

    Attributes:
        blob: its name in the file.
        layer: index of the layer that makes it, -1 for none.
    """

    blob: str
    layer: int


@dataclass
class Net:
    """The layers that run in the phase TEST, and what they read and make.

    Attributes:
        layers: in the order of the file, which is the order in which they run.
        reads, makes: versions of blobs, for each layer.
        last: the last version of each blob.
        shapes: of the blobs of Input layers that say one.
    """

    layers: list[NetLayer]
    reads: list[tuple[Version, ...]] = field(default_factory=list)
    makes: list[tuple[Version, ...]] = field(default_factory=list)
    last: dict[str, Version] = field(default_factory=dict)
    shapes: dict[Version, tuple[int, ...]] = field(default_factory=dict)

    def fed(self, blob: str) -> Version | None:
        """The version of a blob that an input of the model stands for: the one that a
        data layer makes, or the last one of an inner blob. None: there is no such blob.
        """
        versions = [v for made in self.makes for v in made if v.blob == blob]
        if versions and self.layers[versions[0].layer].type in DATA_TYPES:
            return versions[0]
        return self.last.get(blob)

    def needed(
        self, outputs: Iterable[Version], given: Collection[Version]
    ) -> tuple[list[int], set[Version]]:
        """The layers that outputs need, in the order in which they run, and the
        versions that they make for others.

        Args:
            given: versions that are known without any layer.
        """
        wanted = {version for version in outputs if version not in given}
        found = []
        for index in range(len(self.layers) - 1, -1, -1):
            if not wanted.isdisjoint(self.makes[index]):
                found.append(index)
                wanted.update(v for v in self.reads[index] if v not in given)
        return found[::-1], wanted


def read_net(path: Path) -> Net:
    """Reads a network.

    Raises:
        ImportModelError: the file is no network, or contradicts itself.
    """
    messages = load_proto(_PROTO)
    proto = messages.NetParameter()
    text = _read(path)
    try:
        unknown = parse_text(text, proto, _TRAINING)
    except TextError as error:
        raise ImportModelError(
            f"model_file_path: {path} is no Caffe network (prototxt): {error}"
        ) from error
    outside = [f"{u.name} (line {u.line})" for u in unknown if not u.place]
    if outside:
        raise ImportModelError(
            f"model_file_path: {path} is no Caffe network (prototxt), which has no "
            f"field {', '.join(outside[:5])}"
        )
    layers = _layers(path, proto, unknown, messages)
    layers = _inputs(path, proto, messages) + [
        layer for layer in layers if _runs(layer, proto.state)
    ]
    return _connect(path, layers)


def _read(path: Path) -> str:
    try:
        data = bytes(map_file(path)[: _LARGEST_TEXT + 1])
        other = other_format(path)
    except OSError as error:
        raise ImportModelError(
            f"model_file_path: {path} cannot be read: {error.strerror}"
        ) from error
    if other:
        raise ImportModelError(f"model_file_path: {path} is {other}")
    if len(data) > _LARGEST_TEXT:
        raise ImportModelError(
            f"model_file_path: {path} has more than {_LARGEST_TEXT >> 20} MB; the "
            "prototxt belongs here, and the caffemodel in weight_file_path"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ImportModelError(
            f"model_file_path: {path} is no text; the prototxt belongs here, and the "
            "caffemodel in weight_file_path"
        ) from error


def _layers(
    path: Path, proto: Any, unknown: Sequence[Unknown], messages: Any
) -> list[NetLayer]:
    if proto.layer and proto.layers:
        raise ImportModelError(
            f"model_file_path: {path} has both layer and layers, of different formats"
        )
    if not proto.layer and not proto.layers:
        raise ImportModelError(f"model_file_path: {path} has no layers")
    if max(len(proto.layer), len(proto.layers)) > _MOST_LAYERS:
        raise ImportModelError(f"model_file_path: {path} has too many layers")
    lacks: dict[int, list[str]] = {}
    for entry in unknown:
        index = next((i for name, i in entry.place if name.startswith("layer")), -1)
        lacks.setdefault(index, []).append(f"{entry.name} (line {entry.line})")
    if proto.layer:
        return [
            NetLayer(layer, tuple(lacks.get(index, ())))
            for index, layer in enumerate(proto.layer)
        ]
    # An upgrade may drop layers, so unknown fields are found by name.
    by_name: dict[str, list[str]] = {}
    for index, old in enumerate(proto.layers):
        by_name.setdefault(old.layer.name or old.name, []).extend(lacks.get(index, ()))
    return [
        NetLayer(layer, tuple(by_name.get(layer.name, ())))
        for layer in _upgraded(proto.layers, messages)
    ]


def _inputs(path: Path, proto: Any, messages: Any) -> list[NetLayer]:
    """Layers for the fields `input`, which networks had before there was a layer."""
    names = list(proto.input)
    shapes = [list(shape.dim) for shape in proto.input_shape]
    dims = list(proto.input_dim)
    if dims:
        if shapes or len(dims) != 4 * len(names):
            raise ImportModelError(
                f"model_file_path: {path} has {len(dims)} input_dim for {len(names)} "
                "input; four each are needed, and no input_shape"
            )
        shapes = [dims[i : i + 4] for i in range(0, len(dims), 4)]
    if len(shapes) not in (0, 1, len(names)):
        raise ImportModelError(
            f"model_file_path: {path} has {len(shapes)} input_shape for {len(names)} "
            "input"
        )
    layers = []
    for index, name in enumerate(names):
        layer = messages.LayerParameter(name=name, type=INPUT_TYPE)
        layer.top.append(name)
        if shapes:
            shape = shapes[index if len(shapes) > 1 else 0]
            layer.input_param.shape.add().dim.extend(shape)
        layers.append(NetLayer(layer))
    return layers


def _runs(layer: NetLayer, state: Any) -> bool:
    """Caffe's rules for include and exclude."""
    include, exclude = layer.proto.include, layer.proto.exclude
    if include:
        return any(_meets(rule, state) for rule in include)
    return not any(_meets(rule, state) for rule in exclude)


def _meets(rule: Any, state: Any) -> bool:
    test = 1  # a model is converted for this phase, whatever `state` says
    stages = set(state.stage)
    return (
        (not rule.HasField("phase") or rule.phase == test)
        and (not rule.HasField("min_level") or state.level >= rule.min_level)
        and (not rule.HasField("max_level") or state.level <= rule.max_level)
        and stages.issuperset(rule.stage)
        and stages.isdisjoint(rule.not_stage)
    )


def _connect(path: Path, layers: list[NetLayer]) -> Net:
    net = Net(layers)
    names: set[str] = set()
    problems = []
    for index, layer in enumerate(layers):
        if not layer.type:
            problems.append(f"layer {layer.name!r} has no type")
        # Names tell which weights belong to which layer.
        if layer.name in names and layer.type != INPUT_TYPE:
            problems.append(f"two layers are called {layer.name!r}")
        names.add(layer.name)
        missing = [blob for blob in layer.bottoms if blob not in net.last]
        if missing:
            problems.append(
                f"layer {layer.name!r} reads {', '.join(map(repr, missing))}, which no "
                "layer before it makes"
            )
        net.reads.append(
            tuple(net.last.get(blob, Version(blob, -1)) for blob in layer.bottoms)
        )
        for blob in layer.tops:
            if blob in net.last and blob not in layer.bottoms:
                problems.append(f"two layers make the blob {blob!r}")
        if len(set(layer.tops)) != len(layer.tops):
            problems.append(f"layer {layer.name!r} makes one blob twice")
        made = tuple(Version(blob, index) for blob in layer.tops)
        net.makes.append(made)
        net.last.update({version.blob: version for version in made})
        net.shapes.update(_declared(layer, made))
    if problems:
        raise ImportModelError(
            f"model_file_path: {path} contradicts itself: " + "; ".join(problems[:20])
        )
    return net


def _declared(
    layer: NetLayer, made: Sequence[Version]
) -> Iterator[tuple[Version, tuple[int, ...]]]:
    shapes = [tuple(shape.dim) for shape in layer.proto.input_param.shape]
    if layer.type != INPUT_TYPE or not shapes:
        return
    for index, version in enumerate(made):
        if len(shapes) == 1 or index < len(shapes):
            yield version, shapes[index if len(shapes) > 1 else 0]


def _upgraded(layers: Sequence[Any], messages: Any) -> list[Any]:
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


def _current_type(name: str) -> str:
    """The current name of a type of the second format."""
    return _V1_TYPES.get(name, "".join(w.capitalize() for w in name.split("_")))


def _from_v1(layer: Any, messages: Any) -> Any:
    result = messages.LayerParameter()
    for known, value in layer.ListFields():
        if known.name == "type":
            result.type = _current_type(known.enum_type.values_by_number[value].name)
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
    result = messages.LayerParameter(
        name=old.name, type=_current_type(_V0_TYPES[old.type])
    )
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
