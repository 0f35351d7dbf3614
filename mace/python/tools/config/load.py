# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment file to a `Deployment`."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Union

from mace.python.tools.config.checks import check_deployment
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.keys import keys_of
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.reader import Parsed, Reader, build_deployment
from mace.python.tools.config.yaml_source import (
    MappingNode,
    Place,
    Scalar,
    parse_yaml,
    read_yaml,
)

_LOG = logging.getLogger(__name__)


def load_deployment(
    path: Union[str, os.PathLike[str]],
    replaced: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Deployment:
    """Reads a deployment file.

    Old spellings are accepted; each gives one logged warning, which is also
    kept in `Deployment.warnings`. Files that the deployment names are neither
    opened nor downloaded here.

    Args:
        path: the YAML file.
        replaced: values in the place of the file's, by key, as given on a
            command line; lists are separated by commas.
        env: variables for ``${NAME}``; the process's own if None.

    Raises:
        ConfigError: listing every problem of the file at once.
    """
    source = Path(path)
    return _from_tree(source, read_yaml(source, env), replaced or {})


def load_deployment_text(
    text: str,
    source: Union[str, os.PathLike[str]] = "<text>",
    replaced: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Deployment:
    """As `load_deployment`, for text that would be found in `source`."""
    root = parse_yaml(text, Path(source), env)
    return _from_tree(Path(source), root, replaced or {})


def _from_tree(
    source: Path, root: MappingNode, replaced: Mapping[str, str]
) -> Deployment:
    for name, value in replaced.items():
        place = Place(f"--{name}")
        for earlier in keys_of(Deployment)[name].was:
            root.entries.pop(earlier, None)
        root.entries[name] = Scalar(value, name, place)
        root.key_places[name] = place
    reader = Reader()
    parsed = reader.read(Deployment, root)

    def report(section: Parsed, key: str, message: str) -> None:
        reader.problem(section.path(key), section.place(key), message)

    check_deployment(parsed, report)
    if reader.problems:
        raise ConfigError(source, reader.problems)
    for warning in reader.warnings:
        _LOG.warning("%s", warning)
    return build_deployment(parsed, source, tuple(reader.warnings))
