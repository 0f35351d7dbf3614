# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what is asked for with what can be done, all of it at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from mace.python.tools.cli.options import ConvertOptions, RunOptions
from mace.python.tools.config import Deployment, GivenKey
from mace.python.tools.config.schema import SECTIONS
from mace.python.tools.effects.command_flags import FLAGS, place_of
from mace.python.tools.effects.deployment_keys import KEYS
from mace.python.tools.effects.effect import (
    Asked,
    Command,
    Effect,
    Options,
    Verdict,
)
from mace.python.tools.errors import UnsupportedError

_LOG = logging.getLogger(__name__)

_DEFAULTS: dict[Command, Options] = {
    Command.CONVERT: ConvertOptions(),
    Command.RUN: RunOptions(),
}
_DONE = {Command.CONVERT: "converted", Command.RUN: "run"}


def check_effects(command: Command, deployment: Deployment, options: Options) -> None:
    """Refuses what cannot be done, and warns of what will have no effect.

    Each is one message that names every key and flag concerned.

    Raises:
        UnsupportedError: something was asked for that the command cannot do.
    """
    found: dict[Verdict, dict[str, None]] = {verdict: {} for verdict in Verdict}
    for verdict, text in (
        *_keys(command, deployment, options),
        *_flags(command, deployment, options),
    ):
        # A key that stands for several subgraphs is told once.
        found[verdict][text] = None
    if found[Verdict.REFUSED]:
        raise UnsupportedError(
            f"{deployment.source} asks for what cannot be {_DONE[command]} yet:\n  "
            + "\n  ".join(found[Verdict.REFUSED])
        )
    ignored = list(found[Verdict.NO_EFFECT])
    if ignored:
        _LOG.warning(
            "what has no effect on %s:\n  %s", command.value, "\n  ".join(ignored)
        )


def _keys(
    command: Command, deployment: Deployment, options: Options
) -> Iterator[tuple[Verdict, str]]:
    for given in deployment.given:
        if given.value == SECTIONS[given.level].model_fields[given.key].default:
            # Old files give many keys in order to ask for nothing.
            continue
        effect = KEYS[given.level][given.key]
        asked = _asked_key(given, command, deployment, options)
        for verdict, text in _judge(effect, asked):
            where = given.origin
            if where != f"--{given.key}":
                where = f"{where}: {given.path}"
            yield verdict, f"{where}: {text}"


def _asked_key(
    given: GivenKey, command: Command, deployment: Deployment, options: Options
) -> Asked:
    models = deployment.models
    if given.model:
        models = (deployment.model(given.model),)
    subgraphs = tuple(s for model in models for s in model.subgraphs)
    if given.subgraph is not None:
        subgraphs = (subgraphs[given.subgraph],)
    return Asked(
        given.value, given.origin, command, deployment, options, models, subgraphs
    )


def _flags(
    command: Command, deployment: Deployment, options: Options
) -> Iterator[tuple[Verdict, str]]:
    for flag, effect in FLAGS.items():
        place = place_of(flag)
        default = option(_DEFAULTS[command], place)
        value = option(options, place)
        if value == default:
            continue
        asked = Asked(
            value,
            f"--{flag}",
            command,
            deployment,
            options,
            deployment.models,
            tuple(s for model in deployment.models for s in model.subgraphs),
        )
        for verdict, text in _judge(effect, asked):
            yield verdict, f"--{flag}: {text}"


def _judge(effect: Effect, asked: Asked) -> Iterator[tuple[Verdict, str]]:
    for rule in effect.rules:
        if asked.command in rule.commands:
            text = rule.says(asked)
            if text:
                yield rule.verdict, text


def option(options: Options, place: str) -> Any:
    """A field of the options by its dotted name; None if they have none."""
    value: Any = options
    for name in place.split("."):
        value = getattr(value, name, None)
    return value
