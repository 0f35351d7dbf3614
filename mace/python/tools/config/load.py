# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment file to its normal form."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Union

from mace.python.tools.config.checks import check_deployment
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.normalise import normalise
from mace.python.tools.config.problems import ConfigError, Problem
from mace.python.tools.config.sections import ParsedSection, SectionReader
from mace.python.tools.config.spellings import Rewriter
from mace.python.tools.config.yaml_source import (
    MappingNode,
    Place,
    Scalar,
    parse_yaml,
    read_yaml,
)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Overrides:
    """Values that take the place of the file's, as given on a command line.

    None: leave the file's value. Lists are separated by commas.
    """

    target_abis: str | None = None
    target_socs: str | None = None
    model_graph_format: str | None = None
    model_data_format: str | None = None


def load_deployment(
    path: Union[str, os.PathLike[str]],
    overrides: Overrides | None = None,
    env: Mapping[str, str] | None = None,
) -> Deployment:
    """Reads a deployment file.

    Old spellings are accepted; each gives one logged warning, which is also
    kept in `Deployment.warnings`. Files that the deployment names are neither
    opened nor downloaded here.

    Args:
        path: the YAML file.
        overrides: values that replace the file's.
        env: variables for ``${NAME}``; the process's own if None.

    Raises:
        ConfigError: listing every problem of the file at once.
    """
    source = Path(path)
    return _from_tree(source, read_yaml(source, env), overrides)


def load_deployment_text(
    text: str,
    source: Union[str, os.PathLike[str]] = "<text>",
    overrides: Overrides | None = None,
    env: Mapping[str, str] | None = None,
) -> Deployment:
    """As `load_deployment`, for text that would be found in `source`."""
    return _from_tree(Path(source), parse_yaml(text, Path(source), env), overrides)


def _from_tree(
    source: Path, root: MappingNode, overrides: Overrides | None
) -> Deployment:
    rewriter = Rewriter(source)
    rewriter.rewrite(root)
    if overrides is not None:
        _override(root, overrides)
    reader = SectionReader()
    reader.problems.extend(rewriter.problems)
    parsed = reader.deployment(root)

    def report(section: ParsedSection, key: str, message: str) -> None:
        if key:
            path, place = section.path(key), section.place(key)
        else:
            path, place = section.node.path, section.node.place
        problem = Problem(path, message, place.origin, place.line)
        if problem not in reader.problems:
            reader.problems.append(problem)

    check_deployment(parsed, report)
    if reader.problems:
        raise ConfigError(source, reader.problems)
    for warning in rewriter.warnings:
        _LOG.warning("%s", warning)
    return normalise(source, parsed, tuple(rewriter.warnings))


def _override(root: MappingNode, overrides: Overrides) -> None:
    for item in fields(overrides):
        value = getattr(overrides, item.name)
        if value is not None:
            place = Place(f"--{item.name}")
            root.entries[item.name] = Scalar(value, item.name, place)
            root.key_places[item.name] = place
