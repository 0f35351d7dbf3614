# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found out about a model's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace.python.tools.importers.frame.description import TensorDescription
from mace.python.tools.importers.frame.journal import NodeEntry, Outcome


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
