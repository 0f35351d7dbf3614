# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a key or flag changes, and when it changes nothing.

Every key and every flag is declared with its `Effect`. `check_effects` holds
what is asked for against it: what a command cannot do is refused, what has no
effect is told.
"""

from __future__ import annotations

import dataclasses
import enum
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.wording import listed

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import Deployment, ModelConfig
    from mace.python.tools.config.keys import Section
    from mace.python.tools.config.subgraph import SubgraphConfig

_LOG = logging.getLogger(__name__)


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
        options: of the command.
        models, subgraphs: those it is about; all for flags and keys of the
            file.
        known: words that only the command knows, by key.
    """

    value: Any
    origin: str
    command: Command
    deployment: Deployment
    options: Any
    models: tuple[ModelConfig, ...]
    subgraphs: tuple[SubgraphConfig, ...]
    known: Mapping[str, Sequence[str]]

    @property
    def devices(self) -> frozenset[Runtime]:
        """The devices that the models in question are converted for."""
        return frozenset(d for s in self.subgraphs for d in s.runtime.devices)


Says = Union[str, Callable[[Asked], str]]


@dataclass(frozen=True)
class Rule:
    """A case in which a key or flag cannot be honoured.

    Attributes:
        says: what to tell the user; a function gives '' if it is not the case.
        when: the case, for the documentation; '' if `says` is always so.
        commands: those the rule is for.
    """

    verdict: Verdict
    says: Says
    when: str
    commands: tuple[Command, ...]


def refused(says: Says, when: str = "", *commands: Command) -> Rule:
    """The command does not begin."""
    return Rule(Verdict.REFUSED, says, when, commands or tuple(Command))


def no_effect(says: Says, when: str = "", *commands: Command) -> Rule:
    """The command goes on and says so."""
    return Rule(Verdict.NO_EFFECT, says, when, commands or tuple(Command))


@dataclass(frozen=True)
class Effect:
    """What a key or flag changes.

    Attributes:
        acts: on what, whatever the runtime.
        on: on what, by the only runtimes that it is for.
        rules: cases in which it cannot be honoured.
    """

    acts: str = ""
    on: Mapping[Runtime, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()

    @property
    def why_never(self) -> str:
        """Why it can do nothing in this release; '' if it can."""
        if self.on and not any(runtime.in_release for runtime in self.on):
            return f"runtime {_names(self.on)} is not in this release"
        for rule in self.rules:
            if not rule.when and len(rule.commands) == len(Command):
                return str(rule.says)
        return ""

    @property
    def is_refused(self) -> bool:
        """Whether it is always an error to ask for it."""
        return any(r.verdict is Verdict.REFUSED and not r.when for r in self.rules)

    def text(self) -> str:
        """For the documentation: what it changes, and when it does not."""
        if self.why_never:
            verdict = Verdict.REFUSED if self.is_refused else Verdict.NO_EFFECT
            return f"{verdict.value}: {self.why_never}"
        parts = [self.acts] if self.acts else []
        parts += [f"{runtime.value}: {text}" for runtime, text in self.on.items()]
        for rule in self.rules:
            where = "" if len(rule.commands) == 2 else f" on {rule.commands[0].value}"
            parts.append(f"{rule.verdict.value}{where} {rule.when}")
        return "; ".join(parts)

    def judge(self, asked: Asked) -> Iterator[tuple[Verdict, str]]:
        """What to tell whoever asked."""
        if self.on and not any(d.in_release and d in self.on for d in asked.devices):
            wanted = [device for device in self.on if device in asked.devices]
            why = "in this release" if wanted else "asked for"
            names = _names(wanted or self.on)
            yield Verdict.NO_EFFECT, f"is for runtime {names}, which is not {why}"
        for rule in self.rules:
            if asked.command in rule.commands:
                text = rule.says if isinstance(rule.says, str) else rule.says(asked)
                if text:
                    yield rule.verdict, text


def check_effects(
    command: Command,
    deployment: Deployment,
    options: Any,
    known: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuses what cannot be done, and warns of what will have no effect.

    Each is one message that names every key and flag concerned.

    Args:
        options: a dataclass whose fields are declared by `command_line.options.flag`.
        known: by key the words that it may hold, where only the command knows.

    Raises:
        UnsupportedError: something was asked for that the command cannot do.
    """
    found: dict[Verdict, dict[str, None]] = {verdict: {} for verdict in Verdict}
    whole = Asked(
        None,
        "",
        command,
        deployment,
        options,
        tuple(deployment.models.values()),
        tuple(s for model in deployment.models.values() for s in model.subgraphs),
        known or {},
    )
    for verdict, text in (*_keys(whole), *_flags(whole)):
        # A key that stands for several subgraphs is told once.
        found[verdict][text] = None
    if found[Verdict.REFUSED]:
        done = "converted" if command is Command.CONVERT else "run"
        raise UnsupportedError(
            f"{deployment.source} asks for what cannot be {done}:\n  "
            + "\n  ".join(found[Verdict.REFUSED])
        )
    if found[Verdict.NO_EFFECT]:
        _LOG.warning(
            "what has no effect on %s:\n  %s",
            command.value,
            "\n  ".join(found[Verdict.NO_EFFECT]),
        )


def _keys(whole: Asked) -> Iterator[tuple[Verdict, str]]:
    for section, part in _sections(whole):
        for key, value, place in section.given:
            if value == key.default:
                # Old files give many keys in order to ask for nothing.
                continue
            asked = dataclasses.replace(part, value=value, origin=place.origin)
            for verdict, text in key.effect.judge(asked):
                yield verdict, f"{place}: {text}"


def _sections(whole: Asked) -> Iterator[tuple[Section, Asked]]:
    """All sections, with the models and subgraphs that each is about."""
    yield whole.deployment, whole
    for model in whole.models:
        part = dataclasses.replace(whole, models=(model,), subgraphs=model.subgraphs)
        yield model, part
        for section in (model.micro, model.calibration):
            if section is not None:
                yield section, part
        for subgraph in model.subgraphs:
            yield subgraph, dataclasses.replace(part, subgraphs=(subgraph,))


def _flags(whole: Asked) -> Iterator[tuple[Verdict, str]]:
    for item in dataclasses.fields(whole.options):
        flag = item.metadata.get("flag")
        if flag is None:
            continue  # asked for by another command, not by a user
        value = getattr(whole.options, item.name)
        if value != item.default:
            name = f"--{item.name}"
            asked = dataclasses.replace(whole, value=value, origin=name)
            for verdict, text in flag.effect.judge(asked):
                yield verdict, f"{name}: {text}"


def _names(runtimes: Sequence[Runtime] | Mapping[Runtime, str]) -> str:
    return listed(runtime.value for runtime in runtimes)
