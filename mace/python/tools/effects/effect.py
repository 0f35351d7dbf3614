# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What one key or flag does, and when it cannot do it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

from mace.python.tools.cli.options import ConvertOptions, RunOptions
from mace.python.tools.config import (
    Deployment,
    ModelConfig,
    Platform,
    Runtime,
    SubgraphConfig,
)
from mace.python.tools.wording import listed

Options = Union[ConvertOptions, RunOptions]


class Command(str, enum.Enum):
    """A command that takes a deployment file."""

    CONVERT = "convert"
    RUN = "run"


class Verdict(enum.Enum):
    """What happens to a request that cannot be honoured."""

    REFUSED = "refused"
    # The command goes on without it and says so.
    NO_EFFECT = "no effect"


@dataclass(frozen=True)
class Asked:
    """A key or a flag as somebody gave it, with a value that is no default.

    Attributes:
        origin: the line as ``FILE:12``, or the flag.
        models, subgraphs: those it is about; all for flags and keys of the
            file.
    """

    value: Any
    origin: str
    command: Command
    deployment: Deployment
    options: Options
    models: tuple[ModelConfig, ...]
    subgraphs: tuple[SubgraphConfig, ...]

    @property
    def devices(self) -> frozenset[Runtime]:
        """The devices that the models in question are converted for."""
        return frozenset(d for s in self.subgraphs for d in s.runtime.devices)


@dataclass(frozen=True)
class Rule:
    """A case in which a key or flag cannot be honoured.

    Attributes:
        when: the case, for the documentation.
        says: what to tell the user; '' if it is not the case.
        commands: those the rule is for.
    """

    verdict: Verdict
    when: str
    says: Callable[[Asked], str]
    commands: tuple[Command, ...] = (Command.CONVERT, Command.RUN)


@dataclass(frozen=True)
class Effect:
    """What a key or flag does.

    Attributes:
        acts: on what; '' if on nothing.
        rules: when it does not.
    """

    acts: str
    rules: tuple[Rule, ...] = ()


def refused(
    when: str, says: Callable[[Asked], str], *commands: Command
) -> tuple[Rule, ...]:
    """The one rule of what is refused."""
    return _rules(Verdict.REFUSED, when, says, commands)


def no_effect(
    when: str, says: Callable[[Asked], str], *commands: Command
) -> tuple[Rule, ...]:
    """The one rule of what the command goes on without."""
    return _rules(Verdict.NO_EFFECT, when, says, commands)


def unless_device(*devices: Runtime) -> tuple[Rule, ...]:
    """No effect unless a model is converted for one of these devices."""
    names = listed(device.value for device in devices)

    def says(asked: Asked) -> str:
        if asked.devices & set(devices):
            return ""
        return f"is for runtime {names}, which is not asked for"

    return no_effect(f"unless `runtime` is {names}", says)


def not_caffe(asked: Asked) -> str:
    """What to say where no model is of Caffe."""
    if any(model.platform is Platform.CAFFE for model in asked.models):
        return ""
    return "is for models of platform caffe"


def _rules(
    verdict: Verdict,
    when: str,
    says: Callable[[Asked], str],
    commands: tuple[Command, ...],
) -> tuple[Rule, ...]:
    return (Rule(verdict, when, says, commands or tuple(Command)),)
