# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment file to a `Deployment`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from pydantic import ValidationError

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.keys import keys_of, sections_below
from mace.python.tools.config.problems import ConfigError, Place, Problem
from mace.python.tools.config.spellings import Spellings
from mace.python.tools.config.yaml_source import (
    Items,
    Table,
    Text,
    parse_yaml,
    read_yaml,
)
from mace.python.tools.errors import MaceError

_LOG = logging.getLogger(__name__)

# `models`, its name, `subgraphs` and a number lead to a part of a model.
_PART_DEPTH = 4

# Adds keys to a model in present spelling, with the context of its validation. False:
# the model has what its validation will refuse; what it lacks cannot be known.
Complete = Callable[[Table, Mapping[str, Any]], bool]


def load_deployment(
    path: Union[str, os.PathLike[str]],
    replaced: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    complete: Complete | None = None,
) -> Deployment:
    """Reads a deployment file.

    Old spellings are accepted; each gives one logged warning, which is also
    kept in `Deployment.warnings`. Files that the deployment names are neither
    opened nor downloaded here, unless `complete` does.

    Args:
        path: the YAML file.
        replaced: values in the place of the file's, by key, as given on a
            command line; lists are separated by commas.
        env: variables for ``${NAME}``; the process's own if None.
        complete: adds to each model what it lacks.

    Raises:
        ConfigError: listing every problem of the file at once, with why a model could
            not be completed.
        MaceError: a model could not be completed, and nothing else is wrong.
    """
    source = Path(path)
    return deployment_of_tree(source, read_yaml(source, env), replaced, complete)


def load_deployment_text(
    text: str,
    source: Union[str, os.PathLike[str]] = "<text>",
    replaced: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    complete: Complete | None = None,
) -> Deployment:
    """As `load_deployment`, for text that would be found in `source`."""
    root = parse_yaml(text, Path(source), env)
    return deployment_of_tree(Path(source), root, replaced, complete)


def deployment_of_tree(
    source: Path,
    tree: Table,
    replaced: Mapping[str, str] | None = None,
    complete: Complete | None = None,
) -> Deployment:
    """As `load_deployment`, for what would be found in `source`."""
    for name, value in (replaced or {}).items():
        for earlier in keys_of(Deployment)[name].was:
            tree.pop(earlier, None)
            tree.places.pop(earlier, None)
        place = Place(f"--{name}")
        tree.add(name, Text(value, place), place)
    spellings = Spellings()
    folders = (Path.cwd(), Path(os.path.abspath(source)).parent)
    context = {
        "search_dirs": folders,
        "spellings": spellings,
        # For `complete`, which may have to import a model.
        "custom_ops": tree.get("custom_ops"),
    }
    problems = spellings.problems
    unread: dict[str, MaceError | None] = {}
    if complete is not None:
        for name, model in _model_tables(tree).items():
            spellings.renew(ModelConfig, model)
            try:
                if not complete(model, context):
                    unread[name] = None
            except MaceError as error:
                unread[name] = error
    others = [error for error in unread.values() if error is not None]
    try:
        deployment = Deployment.model_validate(tree, context=context)
    except ValidationError as error:
        problems.update(dict.fromkeys(_problems(error, tree, unread)))
        if not problems and not others:
            problems.update(dict.fromkeys(_problems(error, tree)))
    if len(others) == 1 and not problems:
        raise others[0]
    if problems or others:
        raise ConfigError(source, problems, others)
    for warning in spellings.warnings:
        _LOG.warning("%s", warning)
    return deployment.model_copy(
        update={"source": source, "warnings": tuple(spellings.warnings)}
    )


def _model_tables(tree: Table) -> dict[str, Table]:
    models = tree.get("models")
    if not isinstance(models, Table):
        return {}
    return {name: model for name, model in models.items() if isinstance(model, Table)}


def _problems(
    errors: ValidationError, tree: Table, unread: Container[str] = ()
) -> Iterator[Problem]:
    """All but what the parts of models lack that could not be asked for it."""
    keys = {n: k for s in sections_below(Deployment) for n, k in keys_of(s).items()}
    for error in errors.errors(include_url=False):
        found, message, loc = error["input"], error["msg"], error["loc"]
        of_part = len(loc) > _PART_DEPTH and loc[1] in unread
        if of_part and error["type"] == "missing":
            continue
        # A part of a text that holds several values has the place of all.
        place = getattr(found, "place", None) or _place(tree, loc)
        if error["type"] == "missing":
            name = str(loc[-1])
            what = "has no value" if name in found.places else "is missing"
            message = f"{what}; it is required: {keys[name].meaning}"
            place = _place(tree, loc)
        yield Problem(place, message)


def _place(node: Any, loc: Sequence[Union[int, str]]) -> Place:
    """Where a value stands, or the section that lacks it."""
    place: Place = node.place
    for part in loc:
        child = None
        if isinstance(node, Items) and isinstance(part, int):
            place = Place(place.origin, place.line, f"{place.path}[{part}]")
            child = node[part] if part < len(node) else None
        elif isinstance(node, Table) and isinstance(part, str):
            place = node.places.get(part) or place.key(part)
            child = node.get(part)
        node, place = child, getattr(child, "place", place)
    return place
