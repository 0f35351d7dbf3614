# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What an exported program says of itself."""

from __future__ import annotations

from collections import Counter

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.pytorch.functional import base_name
from mace.python.tools.importers.pytorch.model import Model, ScriptFile
from mace.python.tools.importers.pytorch.program import TensorMeta
from mace.python.tools.importers.pytorch.tensors import ELEMENT_TYPES
from mace.python.tools.ir.graph import DataFormat


def describe(found: Model | ScriptFile) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    if isinstance(found, ScriptFile):
        raise ImportModelError(
            f"{found.path} is TorchScript, which does not say the shapes of its "
            "inputs; name inputs and outputs in a deployment file, or save the model "
            "by torch.export.save as .pt2"
        )
    program = found.program
    tensors = program.graph.tensors
    keys = {name: key for key, name in found.names.items()}
    version = f" {program.version}" if program.version else ""
    return ModelDescription(
        framework=f"PyTorch{version}, exported program",
        image_order=DataFormat.NCHW,
        inputs=tuple(_describe(n, tensors.get(n)) for n in program.inputs),
        outputs=tuple(
            _describe(keys.get(n, n), tensors.get(n))
            for n in dict.fromkeys(program.outputs)
        ),
        operators=Counter(base_name(node.target) for node in found.flat.nodes),
    )


def _describe(name: str, meta: TensorMeta | None) -> TensorDescription:
    if meta is None:
        return TensorDescription(name)
    return TensorDescription(name, meta.sizes, ELEMENT_TYPES.get(meta.number))
