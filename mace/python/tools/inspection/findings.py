# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found out about a model, and about its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.journal import NodeEntry, Outcome
from mace.python.tools.ir.shapes import Shape


@dataclass(frozen=True)
class ModelCheck:
    """What was found out about a model.

    Attributes:
        framework: as the deployment file names it.
        source: the model's file.
        nodes: that the outputs need, in the order of execution.
        operators: of the converted model; None if it cannot be converted.
        outputs: of the converted model, as the framework has them.
        problem: why not, where it is not the matter of a node; '' otherwise.
    """

    name: str
    framework: str
    source: str
    nodes: Sequence[NodeEntry]
    operators: int | None
    outputs: Sequence[TensorDescription] = ()
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether it can be converted."""
        return self.operators is not None

    def count(self, outcome: Outcome) -> int:
        """How many nodes have this outcome."""
        return sum(node.outcome is outcome for node in self.nodes)


@dataclass(frozen=True)
class Inspection:
    """What a model is.

    Attributes:
        size: of its files, in bytes.
        description: what its files say.
        check: what would become of its nodes.
        is_open: whether each run decides some of the lengths that it was checked with.
    """

    name: str
    size: int
    description: ModelDescription
    check: ModelCheck
    is_open: bool

    @property
    def outputs(self) -> Sequence[TensorDescription]:
        """Of the model; what its files do not say of them, the conversion found out."""
        found = {tensor.name: tensor for tensor in self.check.outputs}
        return tuple(
            self._completed(tensor, found.get(tensor.name, tensor))
            for tensor in self.description.outputs
        )

    def _completed(
        self, tensor: TensorDescription, found: TensorDescription
    ) -> TensorDescription:
        shape = tensor.shape
        if shape is None:
            shape = self._in_words_of_files(found.shape)
        return TensorDescription(tensor.name, shape, tensor.dtype or found.dtype)

    def _in_words_of_files(self, shape: Shape | None) -> Shape | None:
        """Without names of dimensions that only the conversion gave."""
        if shape is None:
            return None
        inputs = (tensor.shape or () for tensor in self.description.inputs)
        names = {dim for dims in inputs for dim in dims if isinstance(dim, str)}
        return tuple(
            None if isinstance(dim, str) and dim not in names else dim for dim in shape
        )
