# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Several subgraphs of a model, seen as one: what fits, and what they are together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mace.python.tools.config.keys import keys_of
from mace.python.tools.wording import listed, shown

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import BorderTensor, SubgraphConfig

# Have one value in a model.
_FOR_ALL = ("data_type", "winograd", "backend")
# What each subgraph adds to.
_LISTS = ("check_tensors", "check_shapes", "accuracy_validation_script")


def misfits(subgraphs: Sequence[SubgraphConfig]) -> Iterator[str]:
    """Why these cannot be the parts of one model."""
    for column in _FOR_ALL:
        values = dict.fromkeys(getattr(part, column) for part in subgraphs)
        if len(values) > 1:
            found = listed(str(getattr(value, "value", value)) for value in values)
            yield f"the subgraphs of a model have one {column}, found {found}"
    makers: set[str] = set()
    for part in subgraphs:
        for name in part.output_tensors:
            if name in makers:
                yield f"{shown(name)} is in output_tensors of two subgraphs"
            makers.add(name)
    known: dict[str, BorderTensor] = {}
    for tensor in (t for part in subgraphs for t in (*part.outputs, *part.inputs)):
        if _form(known.setdefault(tensor.name, tensor)) != _form(tensor):
            yield (
                f"{shown(tensor.name)} has another shape, type or format in one "
                "subgraph than in another"
            )
    if all(name in makers for part in subgraphs for name in part.input_tensors):
        yield (
            "every input is the output of a subgraph; one at least must come from "
            "the application"
        )


def _form(tensor: BorderTensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.data_type, tensor.data_format


def joined(subgraphs: Sequence[SubgraphConfig]) -> SubgraphConfig:
    """All of them as one subgraph, without name and order.

    An input that another subgraph makes is left out, and so is an output that
    another one takes.
    """
    (first, *_) = subgraphs
    made = {name for part in subgraphs for name in part.output_tensors}
    taken = {name for part in subgraphs for name in part.input_tensors}
    states = {
        k: value for part in subgraphs for k, value in (part.states or {}).items()
    }
    changed: dict[str, Any] = {"name": None, "order": None, "states": states or None}
    changed.update(_columns(subgraphs, "input_tensors", made))
    changed.update(_columns(subgraphs, "output_tensors", taken))
    for column in _LISTS:
        values = [value for part in subgraphs for value in getattr(part, column) or ()]
        changed[column] = tuple(values) or None
    thresholds = [part.validation_threshold for part in subgraphs]
    changed["validation_threshold"] = next(filter(None, thresholds), None)
    return first.model_copy(update=changed)


def _columns(
    subgraphs: Sequence[SubgraphConfig], names: str, hidden: set[str]
) -> dict[str, Any]:
    """The key `names` and those with an entry for each of its names."""
    kept: dict[str, tuple[SubgraphConfig, int]] = {}
    for part in subgraphs:
        for index, name in enumerate(getattr(part, names)):
            if name not in hidden:
                kept.setdefault(name, (part, index))
    changed: dict[str, Any] = {names: tuple(kept)}
    for key in keys_of(type(subgraphs[0])).values():
        if key.each == names:
            found = [_entry(part, names, key.name, i) for part, i in kept.values()]
            none_given = all(entry is None for entry in found)
            changed[key.name] = None if none_given else tuple(found)
    return changed


def _entry(part: SubgraphConfig, names: str, column: str, index: int) -> Any:
    """What a key says of one tensor; None if nothing."""
    given = getattr(part, column)
    if given is None:
        return None
    return given[index if len(given) == len(getattr(part, names)) else 0]
