# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training: networks that compute with numbers of 8 bits.

`quantized` folds the normalisations of a trained network into its convolutions, and
rounds weights (int8, a symmetric scale for each output) and results of operators
(uint8, one scale and zero point) as integers would. The gradient passes through the
rounding. Exported to ONNX, each rounding is a pair QuantizeLinear, DequantizeLinear.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

_LEVELS = 255
_WEIGHT_LEVELS = 127
_LEAST_SCALE = 1e-8
# How fast ranges follow the batches.
_MOMENTUM = 0.02

# What computes its result inside the operator before.
_FUSED = (nn.ReLU, nn.ReLU6)
# What moves or chooses elements: the result has the range of the input.
_KEEPS = (nn.MaxPool2d, nn.Flatten, nn.Identity, nn.Dropout)
_KEEPING_CALLS = ("reshape", "transpose")


class Rounding(nn.Module):
    """Rounds to the 256 numbers of a range, which follows the data in training."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))
        self.register_buffer("zero", torch.zeros((), dtype=torch.int32))
        self.follows = True

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            zero = self.zero.to(torch.uint8)
            return _dequantized(_quantized(x, self.scale, zero), self.scale, zero)
        if self.training and self.follows:
            self._follow(x.detach())
        return torch.fake_quantize_per_tensor_affine(
            x, self.scale, self.zero, 0, _LEVELS
        )

    def _follow(self, x: Tensor) -> None:
        weight = _MOMENTUM if float(self.low) != float(self.high) else 1.0
        self.low.lerp_(x.min().clamp(max=0), weight)
        self.high.lerp_(x.max().clamp(min=0), weight)
        scale = ((self.high - self.low) / _LEVELS).clamp(min=_LEAST_SCALE)
        self.scale.copy_(scale)
        self.zero.copy_((-self.low / scale).round().clamp(0, _LEVELS))


def _scales(weight: Tensor) -> Tensor:
    largest = weight.detach().abs().flatten(1).amax(1)
    return (largest / _WEIGHT_LEVELS).clamp(min=_LEAST_SCALE)


class _RoundedWeights:
    """Of a layer: the weights, rounded in training, and integers in the export."""

    weight: nn.Parameter
    scales: Tensor
    integers: Tensor

    def rounded(self) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            zeros = torch.zeros(len(self.scales), dtype=torch.int8)
            return _dequantized(self.integers, self.scales, zeros, axis=0)
        scales = _scales(self.weight)
        zeros = torch.zeros(len(scales), dtype=torch.int32)
        return torch.fake_quantize_per_channel_affine(
            self.weight, scales, zeros, 0, -_WEIGHT_LEVELS, _WEIGHT_LEVELS
        )


class _Conv2d(_RoundedWeights, nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        return self._conv_forward(x, self.rounded(), self.bias)


class _Linear(_RoundedWeights, nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.rounded(), self.bias)


def _quantized(x: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return torch.onnx.ops.symbolic(
        "QuantizeLinear", (x, scale, zero), dtype=zero.dtype, shape=x.shape
    )


def _dequantized(x: Tensor, scale: Tensor, zero: Tensor, axis: int = 1) -> Tensor:
    return torch.onnx.ops.symbolic(
        "DequantizeLinear",
        (x, scale, zero),
        {"axis": axis},
        dtype=torch.float32,
        shape=x.shape,
    )


def folded(network: nn.Module) -> fx.GraphModule:
    """The network for inference, with normalisations folded into convolutions."""
    traced = fx.symbolic_trace(network.eval())
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if not isinstance(_module(modules, node), nn.BatchNorm2d):
            continue
        before = node.args[0]
        conv = modules[before.target]
        fused = fuse_conv_bn_eval(conv, modules[node.target])
        _set_module(traced, before.target, fused)
        modules[before.target] = fused
        node.replace_all_uses_with(before)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


def quantized(network: nn.Module) -> fx.GraphModule:
    """The folded network with roundings, for training."""
    traced = folded(network)
    modules = dict(traced.named_modules())
    for module in modules.values():
        for plain, with_rounding in ((nn.Conv2d, _Conv2d), (nn.Linear, _Linear)):
            if type(module) is plain:
                module.__class__ = with_rounding
    count = 0
    for node in list(traced.graph.nodes):
        if not _is_rounded(modules, node):
            continue
        name = f"rounding_{count}"
        count += 1
        traced.add_module(name, Rounding())
        with traced.graph.inserting_after(node):
            after = traced.graph.call_module(name, (node,))
        node.replace_all_uses_with(after, lambda user, it=after: user is not it)
    traced.recompile()
    return traced


def keep_ranges(network: nn.Module) -> None:
    """Lets the ranges of results stay as they are from now on."""
    for module in network.modules():
        if isinstance(module, Rounding):
            module.follows = False


def make_integers(network: nn.Module) -> None:
    """Computes the integers of all weights, for the export."""
    for module in network.modules():
        if isinstance(module, _RoundedWeights):
            weight = module.weight.detach()
            scales = _scales(weight)
            steps = weight / scales.reshape(-1, *[1] * (weight.dim() - 1))
            integers = steps.round().clamp(-_WEIGHT_LEVELS, _WEIGHT_LEVELS)
            module.register_buffer("scales", scales)
            module.register_buffer("integers", integers.to(torch.int8))


def _module(modules: dict[str, nn.Module], node: fx.Node) -> nn.Module | None:
    return modules[str(node.target)] if node.op == "call_module" else None


def _set_module(parent: nn.Module, path: str, module: nn.Module) -> None:
    *folders, name = path.split(".")
    for folder in folders:
        parent = getattr(parent, folder)
    setattr(parent, name, module)


def _is_rounded(modules: dict[str, nn.Module], node: fx.Node) -> bool:
    if node.op in ("output", "get_attr"):
        return False
    if node.op == "placeholder":
        return True
    module = _module(modules, node)
    if isinstance(module, _KEEPS):
        return False
    if module is None and _called(node) in _KEEPING_CALLS:
        return False
    users = list(node.users)
    return not (len(users) == 1 and _is_fused(modules, users[0]))


def _is_fused(modules: dict[str, nn.Module], node: fx.Node) -> bool:
    """Whether the operator is computed within the one before."""
    if node.op == "call_function" and _called(node) == "mul":
        return not all(isinstance(operand, fx.Node) for operand in node.args)
    return isinstance(_module(modules, node), _FUSED)


def _called(node: fx.Node) -> str:
    target: Any = node.target
    return str(target if isinstance(target, str) else target.__name__)
