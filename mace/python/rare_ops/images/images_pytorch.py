# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of images as columns, and pooling undone."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.importers.pytorch.context import HANDLERS, Context


@HANDLERS.register("aten.im2col")
def _im2col(c: Context) -> None:
    x = c.value("self")
    n, channels = c.length(x, 0), c.length(x, 1)
    kernel, dilation, padding, stride = (
        c.integers(name) for name in ("kernel_size", "dilation", "padding", "stride")
    )
    height, width = kernel
    # A convolution that picks each element of the window.
    taps = height * width
    filters = np.zeros((channels * taps, 1, height, width), np.float32)
    for index in range(channels * taps):
        filters[index, 0, index % taps // width, index % width] = 1
    pads = [*padding, *padding]
    shared = {"kernel_shape": kernel, "strides": stride, "dilations": dilation}
    columns = c.op("Conv", x, filters, pads=pads, group=channels, **shared)
    c.give(c.reshape(columns, [n, channels * taps, -1]))


@HANDLERS.register("aten.col2im")
def _col2im(c: Context) -> None:
    x, padding = c.value("self"), c.integers("padding")
    sizes = [c.integers(name) for name in ("output_size", "kernel_size")]
    dilations, strides = c.integers("dilation"), c.integers("stride")
    pads = [*padding, *padding]
    c.give(c.op("Col2Im", x, *sizes, dilations=dilations, pads=pads, strides=strides))


@HANDLERS.register("aten.max_unpool2d")
def _max_unpool(c: Context) -> None:
    """Elements at the places where they were before pooling, and 0 elsewhere."""
    x, index = c.value("self"), c.value("indices")
    sizes = c.integers("output_size")
    lead = list(c.static_shape(x)[:-2])
    rows = math.prod(lead)
    places = c.reshape(index, [rows, -1])
    nothing = c.constant(np.zeros((rows, math.prod(sizes)), np.float32))
    values = c.reshape(x, [rows, -1])
    found = c.op("ScatterElements", nothing, places, values, axis=1)
    c.give(c.reshape(found, [*lead, *sizes]))
