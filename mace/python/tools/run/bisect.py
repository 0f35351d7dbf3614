# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the first operator whose result is wrong: ``--bisect``.

Between an operator that is right and a later one that is wrong, a few are compared,
which gives a narrower pair; the framework and MACE run once each time. Neither needs
the memory for all layers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mace.python.tools.report.results import LayerComparison
from mace.python.tools.run.checking import Layer

# Layers that are compared in one step: 2 steps find one of 250, 3 one of 4000.
_AT_ONCE = 16

# Compares layers; leaves out those that the framework does not give.
Compare = Callable[[Sequence[Layer]], Sequence[LayerComparison]]


@dataclass(frozen=True)
class FirstWrong:
    """The end of a search.

    Attributes:
        wrong: the first wrong layer; None if all that can be compared are right.
        right: the last right one before it; None if there is none.
    """

    wrong: LayerComparison | None
    right: LayerComparison | None

    def text(self, source: str, nodes: Mapping[str, str], files: bool = False) -> str:
        """What is printed.

        Args:
            source: the framework, with its version.
            nodes: what computes a tensor in the model file, where that is known.
            files: whether expected outputs come from files, and not from the framework.
        """
        after = "it is the first that can be compared"
        if self.right is not None:
            name = self.right.comparison.name
            after = (
                f"the last right one before it is {_operator(self.right)}, tensor "
                f"{name}, similarity {self.right.comparison.metrics.similarity:.7f}"
            )
        if self.wrong is not None:
            index = self.wrong.index
            node = nodes.get(self.wrong.comparison.name)
            of = f"node {node} in {source}" if node else f"tensor of {source}"
            around = f"--layers={max(index - 3, 0)}:{index + 2}"
            return (
                f"first wrong operator: {_operator(self.wrong)}; {of}, "
                f"{self.wrong.comparison.line()}\n  {after}\n"
                f"  next: add {around} to this command; it compares the operators "
                "around it"
            )
        if self.right is None:
            return (
                "first wrong operator: not known, as no operator has a counterpart in "
                "the framework"
            )
        after = after.replace(" before it", "")
        if files:
            return (
                f"no operator is wrong that can be compared with {source}; {after}\n"
                "  next: are the files of validation_outputs_data for these inputs? "
                "Without them, outputs are compared with the framework's"
            )
        return f"first wrong operator: one after the last that can be compared; {after}"


def find_first_wrong(layers: Sequence[Layer], compare: Compare) -> FirstWrong:
    """Searches for the first wrong layer, given that the model's output is wrong.

    Args:
        layers: that may be compared, in run order.
    """
    left = list(layers)
    right: LayerComparison | None = None
    wrong: LayerComparison | None = None
    while left:
        count = min(_AT_ONCE, len(left))
        # Evenly spaced; the last one always, as what follows it is beyond comparison.
        chosen = [(i + 1) * len(left) // count - 1 for i in range(count)]
        found = {
            (item.index, item.comparison.name): item
            for item in compare([left[i] for i in chosen])
        }
        begin, end = 0, len(left)
        unknown = set()
        for i in chosen:
            item = found.get((left[i].index, left[i].tensor.source))
            if item is None:
                unknown.add(i)
            elif item.comparison.passed:
                right, begin = item, i + 1
            else:
                wrong, end = item, i
                break
        left = [left[i] for i in range(begin, end) if i not in unknown]
    return FirstWrong(wrong, right)


def _operator(layer: LayerComparison) -> str:
    return f"{layer.index} {layer.type} {layer.operator}"
