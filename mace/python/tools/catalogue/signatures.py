# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the signatures of an operator declaration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mace.python.tools.catalogue.check import attribute_problem
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeValue,
    Port,
    Signature,
)
from mace.python.tools.data_type import DataType

# Devices as declarations call them, and as `mace::DeviceType` does.
DEVICES = MappingProxyType({"cpu": "CPU", "opencl": "GPU", "hexagon": "HEXAGON"})
# Layouts of constants, and the enumerators of `mace::ConstantLayout`.
LAYOUTS = MappingProxyType(
    {
        "PACKED_O16": "kPackedO16",
        "PACKED_O16_PAIRS": "kPackedO16Pairs",
        "PACKED_O16_SCALED": "kPackedO16Scaled",
        "PACKED_N16_FOURS": "kPackedN16Fours",
        "PACKED_O16_FOURS": "kPackedO16Fours",
    }
)

_FLOATS = {dtype.value: dtype for dtype in (DataType.FLOAT16, DataType.BFLOAT16)}
_CONSTANT_TYPES = frozenset(dtype.value for dtype in DataType if dtype.in_models)
_KEYS = frozenset(
    [
        "floats",
        "follows_inputs",
        "float32_inputs",
        "float32_constants",
        "kernels",
        "constants",
        "when",
        "unless",
    ]
)


def read_signatures(
    raw: Any,
    inputs: tuple[Port, ...],
    attributes: Mapping[str, Attribute],
    problems: list[str],
) -> Mapping[str, tuple[Signature, ...]]:
    """The signatures by device; mistakes are appended to `problems`."""
    if not isinstance(raw, dict):
        problems.append("signatures: must be a mapping from a device to a list")
        return MappingProxyType({})
    found: dict[str, tuple[Signature, ...]] = {}
    for device, entries in raw.items():
        if device not in DEVICES:
            known = ", ".join(DEVICES)
            problems.append(f"signatures: unknown device {device!r}; known: {known}")
            continue
        if not isinstance(entries, list):
            problems.append(f"signatures.{device}: must be a list")
            continue
        found[device] = tuple(
            _Reader(f"signatures.{device}[{index}]", inputs, attributes, problems).read(
                entry
            )
            for index, entry in enumerate(entries)
        )
    return MappingProxyType(found)


class _Reader:
    """Reads one signature."""

    def __init__(
        self,
        where: str,
        inputs: tuple[Port, ...],
        attributes: Mapping[str, Attribute],
        problems: list[str],
    ) -> None:
        self._where = where
        self._inputs = {port.name: port for port in inputs}
        self._attributes = attributes
        self._problems = problems

    def read(self, raw: Any) -> Signature:
        if not isinstance(raw, dict):
            self._problem("must be a mapping")
            return Signature(())
        for key in sorted(raw.keys() - _KEYS):
            self._problem(f"unknown key {key!r}")
        signature = Signature(
            floats=self._floats(raw.get("floats", ())),
            follows_inputs=bool(raw.get("follows_inputs", False)),
            float32_inputs=self._ports(raw, "float32_inputs"),
            float32_constants=self._ports(raw, "float32_constants"),
            kernels=str(raw.get("kernels", "")),
            constants=self._constants(raw.get("constants", {})),
            when=self._condition(raw, "when"),
            unless=self._condition(raw, "unless"),
        )
        if signature.follows_inputs and signature.float32_inputs:
            self._problem("float32_inputs needs an operator that follows no inputs")
        if signature.float32_constants and not signature.follows_inputs:
            self._problem("float32_constants needs follows_inputs")
        return signature

    def _problem(self, text: str) -> None:
        self._problems.append(f"{self._where}: {text}")

    def _floats(self, raw: Any) -> tuple[DataType, ...]:
        if not raw or not set(raw) <= _FLOATS.keys():
            self._problem(f"floats must be some of {', '.join(_FLOATS)}")
            return ()
        return tuple(_FLOATS[name] for name in raw)

    def _ports(self, raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
        names = tuple(raw.get(key, ()))
        for name in names:
            port = self._inputs.get(name)
            if port is None or DataType.FLOAT32 not in port.types:
                self._problem(f"{key}: {name!r} is no float input")
        return names

    def _constants(self, raw: Mapping[str, Any]) -> Mapping[str, str]:
        for name, stored in raw.items():
            port = self._inputs.get(name)
            if port is None or not port.constant:
                self._problem(f"constants: {name!r} is no constant input")
            if stored not in _CONSTANT_TYPES and stored not in LAYOUTS:
                self._problem(
                    f"constants.{name}: {stored!r} is neither an element type nor "
                    "a layout"
                )
        return MappingProxyType(dict(raw))

    def _condition(
        self, raw: Mapping[str, Any], key: str
    ) -> Mapping[str, tuple[AttributeValue, ...]]:
        condition: dict[str, tuple[AttributeValue, ...]] = {}
        for name, values in raw.get(key, {}).items():
            attribute = self._attributes.get(name)
            if attribute is None:
                self._problem(f"{key}: there is no attribute {name!r}")
                continue
            for value in values:
                problem = attribute_problem(attribute, value)
                if problem or isinstance(value, (float, tuple)):
                    self._problem(
                        f"{key}.{name}: {problem or 'must be an int or a word'}"
                    )
            condition[name] = tuple(values)
        return MappingProxyType(condition)
