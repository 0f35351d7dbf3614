# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of convolution and pooling as ONNX describes them.

MACE's operators use two-dimensional windows. A one-dimensional window becomes a
two-dimensional window of height 1 over an input with a dimension inserted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value

NCHW = {"data_format": "NCHW"}

_PADDING = {"SAME_UPPER": "SAME", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID"}


@dataclass(frozen=True)
class Window:
    """A window in MACE's two dimensions.

    Attributes:
        is_line: the framework's window has one dimension.
        kernel: height and width.
        attrs: strides, dilations and padding of the operator.
    """

    is_line: bool
    kernel: tuple[int, int]
    attrs: dict[str, Any]


def read_filter(node: Node) -> Constant:
    """The filter of a convolution, which fits its input and `kernel_shape`.

    Raises:
        UnsupportedNodeError: it is not known, or MACE has no such convolution.
    """
    x, constant = node.input(0), node.elements(1, "the filter")
    rank = len(constant.shape)
    if rank not in (3, 4, 5):
        raise UnsupportedNodeError(
            f"{rank - 2} spatial dimensions; 1 to 3 are supported"
        )
    if x.rank is not None and x.rank != rank:
        raise UnsupportedNodeError(
            f"the input has {x.rank} dimensions, the filter {rank}"
        )
    kernel = constant.shape[2:]
    if node.integers("kernel_shape", kernel) != list(kernel):
        raise UnsupportedNodeError(
            f"kernel_shape is {node.integers('kernel_shape')}, but the filter has "
            f"{list(kernel)}"
        )
    return constant


def read_window(node: Node, rank: int, kernel: Sequence[int]) -> Window:
    """The window of a node whose input has the given rank."""
    spatial = rank - 2
    if spatial not in (1, 2):
        raise UnsupportedNodeError(
            f"{spatial} spatial dimensions; 1 and 2 are supported"
        )
    strides, dilations, pads = read_steps(node, spatial, kernel, "kernel_shape")
    if any(pad < 0 for pad in pads):
        raise UnsupportedNodeError(f"negative pads {pads}", "slice the input instead")
    if spatial == 1:
        kernel, strides, dilations = ([1, *v] for v in (kernel, strides, dilations))
        pads = [0, pads[0], 0, pads[1]]
    attrs: dict[str, Any] = {"strides": strides, "dilations": dilations}
    attrs.update(_padding(node, pads))
    return Window(spatial == 1, (int(kernel[0]), int(kernel[1])), attrs)


def read_steps(
    node: Node, spatial: int, kernel: Sequence[int], name: str
) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and pads; `name` is the one of the kernel's lengths."""
    strides = node.integers("strides", [1] * spatial)
    dilations = node.integers("dilations", [1] * spatial)
    pads = node.integers("pads", [0] * 2 * spatial)
    lengths = (len(kernel), len(strides), len(dilations), len(pads) / 2)
    if any(length != spatial for length in lengths):
        raise UnsupportedNodeError(
            f"{name}, strides, dilations and pads do not all have {spatial} spatial "
            "dimensions"
        )
    return strides, dilations, pads


def _padding(node: Node, pads: list[int]) -> dict[str, Any]:
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    if auto in _PADDING:
        # ONNX ignores the attribute pads here.
        return {"padding": _PADDING[auto]}
    if auto != "NOTSET":
        raise UnsupportedNodeError(f"auto_pad is {auto!r}")
    if not any(pads):
        return {"padding": "VALID"}
    return {"padding": "EXPLICIT", "pads": pads}


def emit_image_op(
    node: Node,
    op_type: str,
    x: Value,
    window: Window,
    attrs: dict[str, Any],
    *more: Value,
) -> None:
    """Emits a layout-bound operator as the result of a node.

    Args:
        node: whose output 0 it is.
        op_type: of the catalogue.
        x: its input, [N, C, W] or [N, C, H, W].
        window: attributes of the window.
        attrs: further attributes.
        more: further inputs.
    """
    all_attrs = {**NCHW, **window.attrs, **attrs}
    if not window.is_line:
        node.emit(op_type, [x, *more], all_attrs)
        return
    image = node.expand_dims(x, [2])
    result = node.make(op_type, [image, *more], all_attrs)
    node.emit("Squeeze", [result], {"axes": [2]})
