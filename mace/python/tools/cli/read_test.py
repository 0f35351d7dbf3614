# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Every key and every flag is read by something, or it is told why it is not."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

import pytest

from mace.python.tools.calibrate.command import quantize_deployment
from mace.python.tools.calibrate.options import CalibrateOptions
from mace.python.tools.cli.parser import COMMANDS, command_parser
from mace.python.tools.command_line.flags import OldFlag
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.custom_ops import folders_of
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.keys import Section, keys_of, sections_below
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.testing.project import Project

_TOOLS = Path(__file__).resolve().parents[1]
# What goes through all keys, whatever they are.
_GENERAL = tuple(f"mace.python.tools.config.{m}" for m in ("keys", "effect", "load"))

_OPTIONS: dict[str, type[Union[CommandOptions]]] = {
    "convert": ConvertOptions,
    "quantize": CalibrateOptions,
    "run": RunOptions,
    "benchmark": RunOptions,
    "explain": ExplainOptions,
    "build": CommandOptions,
}
# What the command line itself acts on, besides options and keys.
_OF_COMMAND_LINE = {"help", "config", "verbose", "vlog_level"}


@pytest.fixture
def keys_read(monkeypatch: pytest.MonkeyPatch) -> set[tuple[type, str]]:
    """Fills with the keys that code asks a deployment for."""
    found: set[tuple[type, str]] = set()
    plain = Section.__getattribute__

    def recorded(self: Section, name: str) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("mace.") and caller not in _GENERAL:
            found.add((type(self), name))
        return plain(self, name)

    monkeypatch.setattr(Section, "__getattribute__", recorded)
    return found


def test_every_key_is_read_or_told_to_have_no_effect(
    project: Project, keys_read: set[tuple[type, str]]
) -> None:
    project.convert_and_run(validate=True)
    project.samples()
    folders_of(project.deployment().custom_ops)
    calibrated = project.deployment(model="calibration:\n  input_dir: samples")
    options = CalibrateOptions(build_dir=project.build_dir)
    quantize_deployment(calibrated, options)
    unread = [
        key.name
        for section in sections_below(Deployment)
        for key in keys_of(section).values()
        if (section, key.name) not in keys_read
        and not key.effect.why_never
        and not key.effect.rules
        # A checksum becomes part of the file's own value when the file is loaded.
        and not key.verifies
    ]
    assert not unread


def test_every_hint_is_one_of_the_model_file(project: Project) -> None:
    from mace.python.tools.proto import load_proto

    hints = load_proto("mace/proto/mace.proto").DeploymentHints.DESCRIPTOR.fields
    handed_over = project.deployment().models["m"].hints()
    assert set(handed_over) == {hint.name for hint in hints}


def _read_of_options() -> set[str]:
    """What code reads of something that is called options, or is a field of it."""
    found: set[str] = set()
    for path in _TOOLS.rglob("*.py"):
        if path.name.endswith("_test.py") or "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = getattr(owner, "attr", getattr(owner, "id", ""))
                if name.lstrip("_") in ("options", "args"):
                    found.add(node.attr)
    return found


def _flags(command: str) -> Iterator[argparse.Action]:
    for action in command_parser(command)._actions:
        if isinstance(action, OldFlag):
            # It says what it is now, or that it has no effect.
            assert action._advice
        else:
            yield action


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_is_read_or_told_to_have_no_effect(command: str) -> None:
    read = _read_of_options()
    effects = {
        item.name: item.metadata["flag"].effect
        for item in dataclasses.fields(_OPTIONS.get(command, CommandOptions))
    }
    replaceable = {k.name for k in keys_of(Deployment).values() if k.replaceable}
    for action in _flags(command):
        if action.dest in replaceable | _OF_COMMAND_LINE or action.dest in read:
            continue
        effect = effects[action.dest]
        assert effect.why_never or effect.rules, action.dest
