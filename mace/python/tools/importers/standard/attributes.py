# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The attributes of a node of ONNX's own packages, as `Node` has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx

from mace.python.tools.ir.constant import Constant


class Attributes(Mapping[str, Any]):
    """Numbers, texts and tensors, each when it is asked for; graphs as they are."""

    def __init__(
        self, node: onnx.NodeProto, constant: Callable[[onnx.TensorProto], Constant]
    ) -> None:
        """`constant`: reads a tensor."""
        self._protos = {attribute.name: attribute for attribute in node.attribute}
        self._constant = constant

    def __getitem__(self, name: str) -> Any:
        proto = self._protos[name]
        value = onnx.helper.get_attribute_value(proto)
        if isinstance(value, onnx.TensorProto):
            return self._constant(value)
        if proto.type == onnx.AttributeProto.STRING:
            return _text(value)
        if proto.type == onnx.AttributeProto.STRINGS:
            return [_text(item) for item in value]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._protos)

    def __len__(self) -> int:
        return len(self._protos)

    def __contains__(self, name: object) -> bool:
        return name in self._protos


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
