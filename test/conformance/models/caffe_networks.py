# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks as files of Caffe, in its three formats, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe.testing import (
    caffemodel,
    fill_blob,
    layer_text,
    messages,
)
from mace.python.tools.ir.dtypes import Array


@dataclass
class Network:
    """A prototxt and the weights of its layers.

    Attributes:
        text: of the prototxt.
        blobs: by layer.
        shape: of its input `data`.
        outputs: names of blobs.
    """

    text: str
    shape: tuple[int, ...]
    outputs: tuple[str, ...]
    blobs: dict[str, list[Array]] = field(default_factory=dict)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(8))

    def __post_init__(self) -> None:
        self.channels = {"data": self.shape[1]}

    @property
    def data(self) -> Array:
        """An input."""
        return self.rng.standard_normal(self.shape).astype(np.float32)

    def weights(self) -> Any:
        """The caffemodel, in the current format."""
        return caffemodel(self.blobs)

    def layer(
        self, kind: str, name: str, bottoms: str, param: str = "", top: str = ""
    ) -> str:
        """A layer that keeps the channels; returns the name of its blob."""
        top = top or name
        self.text += layer_text(kind, param, bottoms, top, name) + "\n"
        counts = [self.channels.get(blob, 0) for blob in bottoms.split()]
        self.channels[top] = sum(counts) if kind == "Concat" else counts[0]
        return top

    def conv(
        self,
        name: str,
        bottom: str,
        outputs: int,
        param: str,
        kernel: int = 1,
        group: int = 1,
        bias: bool = True,
    ) -> str:
        """A convolution; returns the name of its blob."""
        depth = self.channels[bottom] // group
        self.learn(name, (outputs, depth, kernel, kernel), bias)
        more = f" group: {group}" if group > 1 else ""
        more += "" if bias else " bias_term: false"
        self.layer(
            "Convolution",
            name,
            bottom,
            "param { lr_mult: 1 decay_mult: 1 } convolution_param { "
            f"num_output: {outputs} kernel_size: {kernel}{more} {param} "
            'weight_filler { type: "msra" } }',
        )
        self.channels[name] = outputs
        return name

    def learn(self, name: str, shape: Sequence[int], bias: bool) -> None:
        """Random weights of a layer."""
        deep = int(np.prod(shape[1:]))
        numbers = self.rng.standard_normal(shape) * (2 / deep) ** 0.5
        self.blobs[name] = [numbers.astype(np.float32)]
        if bias:
            offset = self.rng.standard_normal(shape[0]) * 0.1
            self.blobs[name].append(offset.astype(np.float32))

    def norm(self, blob: str) -> str:
        """BatchNorm and Scale, in place."""
        count = self.channels[blob]
        low = self.rng.uniform(0.5, 1.5, (2, count)).astype(np.float32)
        shift = self.rng.standard_normal((2, count)).astype(np.float32) * 0.1
        self.layer(
            "BatchNorm",
            f"{blob}/bn",
            blob,
            "param { lr_mult: 0 } param { lr_mult: 0 } param { lr_mult: 0 } "
            "batch_norm_param { use_global_stats: true eps: 1e-5 }",
            blob,
        )
        self.layer(
            "Scale",
            f"{blob}/scale",
            blob,
            "scale_param { filler { value: 1 } bias_term: true "
            "bias_filler { value: 0 } }",
            blob,
        )
        factor = np.array([999.98], np.float32)
        self.blobs[f"{blob}/bn"] = [shift[0] * factor, low[0] * factor, factor]
        self.blobs[f"{blob}/scale"] = [low[1], shift[1]]
        return blob

    def relu(self, blob: str) -> str:
        """In place."""
        return self.layer("ReLU", f"{blob}/relu", blob, "", blob)

    def pool(self, name: str, bottom: str, param: str) -> str:
        """Of images; returns the name of its blob."""
        return self.layer("Pooling", name, bottom, f"pooling_param {{ {param} }}")


def resnet() -> Network:
    """Blocks of ResNet: BatchNorm and Scale in place, shortcuts, average pooling."""
    net = Network(
        'name: "ResNet"\ninput: "data"\n'
        "input_dim: 1\ninput_dim: 3\ninput_dim: 32\ninput_dim: 32\n",
        (1, 3, 32, 32),
        ("prob",),
    )
    x = net.norm(net.conv("conv1", "data", 8, "pad: 3 stride: 2", 7, bias=False))
    x = net.pool("pool1", net.relu(x), "kernel_size: 3 stride: 2 pool: MAX")
    for stage, (width, stride) in enumerate(((16, 1), (32, 2))):
        name = f"res{stage + 2}a"
        side = net.conv(f"{name}_branch1", x, width, f"stride: {stride}", bias=False)
        net.norm(side)
        y = net.conv(f"{name}_branch2a", x, 8, f"stride: {stride}", bias=False)
        y = net.relu(net.norm(y))
        y = net.conv(f"{name}_branch2b", y, 8, "pad: 1", 3, bias=False)
        y = net.relu(net.norm(y))
        y = net.norm(net.conv(f"{name}_branch2c", y, width, "", bias=False))
        x = net.relu(net.layer("Eltwise", name, f"{side} {y}"))
    net.pool("pool5", x, "kernel_size: 4 stride: 1 pool: AVE")
    net.layer("InnerProduct", "fc", "pool5", "inner_product_param { num_output: 10 }")
    net.learn("fc", (10, 32), True)
    net.layer("Softmax", "prob", "fc")
    return net


def squeezenet() -> Network:
    """Fire modules, dropout, global pooling; with layers for training."""
    net = Network(
        'name: "SqueezeNet"\n'
        'layer { name: "data" type: "Data" top: "data" top: "label"\n'
        "  include { phase: TRAIN } transform_param { crop_size: 33 mirror: true }\n"
        '  data_param { source: "train_lmdb" batch_size: 32 backend: LMDB } }\n'
        'layer { name: "data" type: "Data" top: "data" top: "label"\n'
        "  include { phase: TEST } transform_param { crop_size: 33 }\n"
        '  data_param { source: "val_lmdb" batch_size: 25 backend: LMDB } }\n',
        (1, 3, 33, 33),
        ("prob",),
    )
    x = net.relu(net.conv("conv1", "data", 16, "stride: 2", 3))
    x = net.pool("pool1", x, "pool: MAX kernel_size: 3 stride: 2")
    for name in ("fire2", "fire3"):
        x = net.relu(net.conv(f"{name}/squeeze1x1", x, 4, ""))
        one = net.relu(net.conv(f"{name}/expand1x1", x, 8, ""))
        three = net.relu(net.conv(f"{name}/expand3x3", x, 8, "pad: 1", 3))
        x = net.layer("Concat", f"{name}/concat", f"{one} {three}")
    net.layer("Dropout", "drop9", x, "dropout_param { dropout_ratio: 0.5 }", x)
    x = net.relu(net.conv("conv10", x, 10, ""))
    net.pool("pool10", x, "pool: AVE global_pooling: true")
    for kind, name, phase in (
        ("SoftmaxWithLoss", "loss", "include { phase: TRAIN }"),
        ("Accuracy", "accuracy", "include { phase: TEST } accuracy_param { top_k: 5 }"),
    ):
        net.layer(kind, name, "pool10 label", phase)
    net.layer("Softmax", "prob", "pool10")
    return net


def shufflenet() -> Network:
    """Units of ShuffleNet: group convolutions, shuffles, depthwise convolutions."""
    net = Network(
        'name: "shufflenet"\n'
        'layer { name: "data" type: "Input" top: "data"\n'
        "  input_param { shape: { dim: 1 dim: 3 dim: 32 dim: 32 } } }\n",
        (1, 3, 32, 32),
        ("fc",),
    )
    x = net.norm(net.conv("conv1", "data", 12, "pad: 1 stride: 2", 3, bias=False))
    net.relu(x)
    for index, stride in enumerate((2, 1)):
        name, window = f"resx{index + 1}", f"pad: 1 stride: {stride}"
        y = net.norm(net.conv(f"{name}_conv1", x, 12, "", group=3, bias=False))
        group = "shuffle_channel_param { group: 3 }"
        y = net.layer("ShuffleChannel", f"shuffle{index}", net.relu(y), group)
        y = net.norm(net.conv(f"{name}_conv2", y, 12, window, 3, group=12, bias=False))
        width = 12 if stride == 2 else 24
        y = net.norm(net.conv(f"{name}_conv3", y, width, "", group=3, bias=False))
        if stride == 2:
            side = net.pool(f"{name}_pool", x, "pool: AVE kernel_size: 3 stride: 2")
            x = net.layer("Concat", name, f"{side} {y}")
        else:
            param = "eltwise_param { operation: SUM }"
            x = net.layer("Eltwise", name, f"{x} {y}", param)
        net.relu(x)
    x = net.pool("pool_ave", x, "global_pooling: true pool: AVE")
    net.conv("fc", x, 10, "")
    return net


def mobilenet_ssd() -> Network:
    """Depthwise blocks and SSD's heads, with prior boxes and DetectionOutput."""
    net = Network(
        'name: "MobileNet-SSD"\ninput: "data"\n'
        "input_shape { dim: 1 dim: 3 dim: 64 dim: 64 }\n",
        (1, 3, 64, 64),
        ("mbox_loc", "mbox_conf_flatten", "mbox_priorbox", "detection_out"),
    )
    x = net.relu(net.conv("conv0", "data", 8, "pad: 1 stride: 2", 3))
    sources = []
    for index, (width, stride) in enumerate(((16, 2), (16, 1), (24, 2))):
        count, name = net.channels[x], f"conv{index + 1}"
        window = f"pad: 1 stride: {stride} engine: CAFFE"
        y = net.conv(f"{name}/dw", x, count, window, 3, group=count)
        x = net.relu(net.conv(name, net.relu(y), width, ""))
        sources += [x] if index else []
    classes = 4
    ends: dict[str, list[str]] = {"loc": [], "conf": [], "priorbox": []}
    for index, source in enumerate(sources):
        boxes = 6 if index else 3
        for kind, count in (("loc", 4), ("conf", classes)):
            y = net.conv(f"{source}_mbox_{kind}", source, boxes * count, "")
            order = "permute_param { order: 0 order: 2 order: 3 order: 1 }"
            flat = net.layer("Permute", f"{y}_perm", y, order)
            flat = net.layer("Flatten", f"{y}_flat", flat, "flatten_param { axis: 1 }")
            ends[kind].append(flat)
        ratios = "aspect_ratio: 3.0" if index else ""
        large = f"max_size: {40 + 20 * index}" if index else ""
        prior = net.layer(
            "PriorBox",
            f"{source}_priorbox",
            f"{source} data",
            f"prior_box_param {{ min_size: {20 + 20 * index} {large} "
            f"aspect_ratio: 2.0 {ratios} flip: true clip: false variance: 0.1 "
            "variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 }",
        )
        ends["priorbox"].append(prior)
    for kind, axis in (("loc", 1), ("conf", 1), ("priorbox", 2)):
        joined = f"concat_param {{ axis: {axis} }}"
        net.layer("Concat", f"mbox_{kind}", " ".join(ends[kind]), joined)
    conf = "mbox_conf"
    shape = f"dim: 0 dim: -1 dim: {classes}"
    for kind, name, param in (
        ("Reshape", "reshape", f"reshape_param {{ shape {{ {shape} }} }}"),
        ("Softmax", "softmax", "softmax_param { axis: 2 }"),
        ("Flatten", "flatten", "flatten_param { axis: 1 }"),
    ):
        conf = net.layer(kind, f"mbox_conf_{name}", conf, param)
    net.layer(
        "DetectionOutput",
        "detection_out",
        f"mbox_loc {conf} mbox_priorbox",
        f"include {{ phase: TEST }} detection_output_param {{ num_classes: {classes} "
        "share_location: true background_label_id: 0 "
        "nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE "
        "keep_top_k: 100 confidence_threshold: 0.25 }",
    )
    return net


_V1_TEXT = """
name: "CaffeNet"
input: "data"
input_dim: 2
input_dim: 3
input_dim: 27
input_dim: 27
layers {
  name: "conv1" type: CONVOLUTION bottom: "data" top: "conv1"
  blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0
  convolution_param { num_output: 8 kernel_size: 5 stride: 2
                      weight_filler { type: "gaussian" std: 0.01 } }
}
layers { name: "relu1" type: RELU bottom: "conv1" top: "conv1" }
layers {
  name: "pool1" type: POOLING bottom: "conv1" top: "pool1"
  pooling_param { pool: MAX kernel_size: 3 stride: 2 }
}
layers {
  name: "norm1" type: LRN bottom: "pool1" top: "norm1"
  lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75
              norm_region: ACROSS_CHANNELS }
}
layers {
  name: "conv2" type: CONVOLUTION bottom: "norm1" top: "conv2"
  convolution_param { num_output: 12 pad: 2 kernel_size: 5 group: 2 }
}
layers { name: "relu2" type: RELU bottom: "conv2" top: "conv2" }
layers {
  name: "fc6" type: INNER_PRODUCT bottom: "conv2" top: "fc6"
  inner_product_param { num_output: 16 }
}
layers { name: "tanh6" type: TANH bottom: "fc6" top: "fc6" }
layers {
  name: "drop6" type: DROPOUT bottom: "fc6" top: "fc6"
  dropout_param { dropout_ratio: 0.5 }
}
layers {
  name: "fc8" type: INNER_PRODUCT bottom: "fc6" top: "fc8"
  inner_product_param { num_output: 10 }
}
layers { name: "prob" type: SOFTMAX bottom: "fc8" top: "prob" }
"""

_V0_TEXT = """
name: "LeNet"
input: "data"
input_dim: 2
input_dim: 3
input_dim: 27
input_dim: 27
layers {
  layer { name: "pad1" type: "padding" pad: 1 }
  bottom: "data" top: "pad1"
}
layers {
  layer { name: "conv1" type: "conv" num_output: 8 kernelsize: 5 stride: 2
          weight_filler { type: "gaussian" std: 0.01 } blobs_lr: 1. blobs_lr: 2. }
  bottom: "pad1" top: "conv1"
}
layers { layer { name: "relu1" type: "relu" } bottom: "conv1" top: "conv1" }
layers {
  layer { name: "pool1" type: "pool" pool: AVE kernelsize: 3 stride: 2 }
  bottom: "conv1" top: "pool1"
}
layers {
  layer { name: "norm1" type: "lrn" local_size: 5 alpha: 0.5 beta: 0.75 }
  bottom: "pool1" top: "norm1"
}
layers {
  layer { name: "conv2" type: "conv" num_output: 12 group: 2 kernelsize: 5 pad: 2
          biasterm: false }
  bottom: "norm1" top: "conv2"
}
layers {
  layer { name: "fc6" type: "innerproduct" num_output: 16 }
  bottom: "conv2" top: "fc6"
}
layers { layer { name: "drop6" type: "dropout" dropout_ratio: 0.5 }
         bottom: "fc6" top: "fc6" }
layers { layer { name: "fc8" type: "innerproduct" num_output: 10 }
         bottom: "fc6" top: "fc8" }
layers { layer { name: "prob" type: "softmax" } bottom: "fc8" top: "prob" }
"""
_OLD_WEIGHTS = (
    ("conv1", (8, 3, 5, 5)),
    ("conv2", (12, 4, 5, 5)),
    ("fc6", (16, 12 * 6 * 6)),
    ("fc8", (10, 16)),
)


class _OldNetwork(Network):
    """Its caffemodel has the old format, too."""

    def weights(self) -> Any:
        net = messages().NetParameter()
        for name, arrays in self.blobs.items():
            outer = net.layers.add(name=name)
            layer = outer
            if "layer {" in self.text:
                outer.ClearField("name")
                layer = outer.layer
                layer.name = name
                layer.type = "conv" if name.startswith("conv") else "innerproduct"
            for array in arrays:
                blob = layer.blobs.add()
                fill_blob(blob, array)
                blob.ClearField("shape")
                dims = [*(1,) * (4 - array.ndim), *array.shape]
                blob.num, blob.channels, blob.height, blob.width = dims
        return net


def _old(text: str, no_bias: Sequence[str] = ()) -> Network:
    net = _OldNetwork(text, (2, 3, 27, 27), ("prob",))
    for name, shape in _OLD_WEIGHTS:
        net.learn(name, shape, name not in no_bias)
    return net


def v1_network() -> Network:
    """AlexNet's layers, in the second format."""
    return _old(_V1_TEXT)


def v0_network() -> Network:
    """In the first format, with a padding layer."""
    return _old(_V0_TEXT, ("conv2",))


NETWORKS: dict[str, Callable[[], Network]] = {
    "mobilenet_ssd": mobilenet_ssd,
    "resnet": resnet,
    "shufflenet": shufflenet,
    "squeezenet": squeezenet,
    "v0": v0_network,
    "v1": v1_network,
}
