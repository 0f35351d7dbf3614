# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""All outputs or none, whichever step fails."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any, Callable

import pytest

from mace.python.tools.atomic import OutputError
from mace.python.tools.convert.staging import Staging

_NAMES = ("a/net.pb", "a/net.data", "b/net.txt")


def _contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else "folder"
        for path in root.rglob("*")
    }


def _write(root: Path, text: str, staging: Staging) -> None:
    for name in _NAMES:
        staging.path(root / name).write_text(text)


def _no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _strike(monkeypatch: pytest.MonkeyPatch, number: int, strike: Any) -> None:
    """Replaces the call of os.replace of that number, from 0."""
    real = os.replace
    calls: list[Path] = []

    def replace(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == number + 1:
            strike(source, target)
        else:
            real(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize(
    ("strike", "raised"), [(_no_space, OutputError), (_interrupt, KeyboardInterrupt)]
)
@pytest.mark.parametrize("number", range(len(_NAMES)))
def test_a_rename_that_fails_undoes_the_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    strike: Callable[..., None],
    raised: type[BaseException],
    earlier: bool,
    links: bool,
) -> None:
    if earlier:
        with Staging() as staging:
            _write(tmp_path, "old", staging)
    before = _contents(tmp_path)
    if not links:
        monkeypatch.setattr(os, "link", _no_space)
    _strike(monkeypatch, number, strike)
    with pytest.raises(raised):
        with Staging() as staging:
            _write(tmp_path, "new", staging)
    assert _contents(tmp_path) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", range(len(_NAMES)))
def test_a_signal_waits_until_all_are_renamed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    number: signal.Signals,
) -> None:
    came: list[int] = []

    def handler(signal_number: int, _: object) -> None:
        came.append(signal_number)
        raise KeyboardInterrupt

    real = os.replace

    def strike(source: Path, target: Path) -> None:
        signal.raise_signal(number)
        real(source, target)

    with Staging() as staging:
        _write(tmp_path, "old", staging)
    _strike(monkeypatch, step, strike)
    previous = signal.signal(number, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            with Staging() as staging:
                _write(tmp_path, "new", staging)
    finally:
        signal.signal(number, previous)
    assert came == [number]
    assert set(_contents(tmp_path).values()) == {"new", "folder"}
    assert len(_contents(tmp_path)) == len(_NAMES) + 2


@pytest.mark.parametrize("earlier", [True, False])
def test_what_was_published_is_undone_with_the_rest(
    tmp_path: Path, earlier: bool
) -> None:
    if earlier:
        with Staging() as staging:
            _write(tmp_path, "old", staging)
    before = _contents(tmp_path)
    with pytest.raises(ValueError, match="later"):
        with Staging() as staging:
            _write(tmp_path, "new", staging)
            staging.publish(tmp_path / "a")
            assert (tmp_path / "a" / "net.pb").read_text() == "new"
            assert (tmp_path / "b" / "net.txt").exists() is earlier
            raise ValueError("later")
    assert _contents(tmp_path) == before


def test_an_abandoned_one_leaves_nothing(tmp_path: Path) -> None:
    """An interruption before `with` has begun, or as it ends."""
    staging = Staging()
    _write(tmp_path, "new", staging)
    del staging
    assert _contents(tmp_path) == {}


def test_nothing_but_the_outputs_is_left(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with Staging() as staging:
            _write(tmp_path, text, staging)
        found = _contents(tmp_path)
        assert {name for name, text in found.items() if text != "folder"} == set(_NAMES)
        assert found["a/net.pb"] == text
