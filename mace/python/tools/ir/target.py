# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model is made for."""

from __future__ import annotations

from dataclasses import dataclass

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.catalogue.schema import OpSchema
from mace.python.tools.ir.dtypes import DataType

_CPU = "CPU"


@dataclass(frozen=True)
class Target:
    """The devices that are to compute a model, and in which types.

    Attributes:
        devices: as the catalogue calls them; none: any.
        floats: the type in which they store floats.
        integers: whether floats of the model become integers.
    """

    devices: tuple[str, ...] = ()
    floats: DataType = DataType.FLOAT32
    integers: bool = False

    def takes(self, op_type: str) -> bool:
        """Whether all of these devices compute an operator in these types."""
        catalogue = default_catalogue()
        if not self.devices or op_type not in catalogue:
            return False
        schema = catalogue.ops[op_type]
        if self.integers and not schema.can_be_quantized:
            return False
        has_kernels = catalogue.devices.get(op_type, ())
        return all(
            device in has_kernels and (device != _CPU or self._is_stored(schema))
            for device in self.devices
        )

    def _is_stored(self, schema: OpSchema) -> bool:
        """Whether the CPU stores its floats so; GPUs store those of all operators."""
        stored = (s.floats for s in schema.signatures.get("cpu", ()))
        return self.floats is DataType.FLOAT32 or any(self.floats in s for s in stored)
