# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The list of boards: the documented example, every spelling, bad files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.boards import read_boards
from mace.python.tools.devices.device import DeviceError

_EXAMPLE = """\
devices:
  nanopi:
    target_abis: [arm64, armhf]
    target_socs: RK3399
    models: FriendlyElec Nanopi M4
    address: 10.0.0.1
    username: user
  raspberry:
    target_abis: [armv7l]
    target_socs: BCM2837
    models: Raspberry Pi 3 Model B Plus Rev 1.3
    address: 10.0.0.2
    username: user
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "devices.yml"
    path.write_text(text)
    return path


def test_the_example(tmp_path: Path) -> None:
    nanopi, raspberry = read_boards(_write(tmp_path, _EXAMPLE))
    assert nanopi.abis == (Abi.ARM64, Abi.ARMHF)
    assert nanopi.socs == ("rk3399",)
    assert nanopi.model == "FriendlyElec Nanopi M4"
    assert (nanopi.address, nanopi.username, nanopi.port) == ("10.0.0.1", "user", 22)
    assert raspberry.abis == (Abi.ARMHF,)


@pytest.mark.parametrize(
    "spelling, abis",
    [
        ("arm64", (Abi.ARM64,)),
        ("aarch64_linux_gnu", (Abi.ARM64,)),
        ("[armv7l, armhf]", (Abi.ARMHF,)),
        ("arm_linux_gnueabihf", (Abi.ARMHF,)),
        ("arm64, armhf", (Abi.ARM64, Abi.ARMHF)),
        ("amd64", (Abi.HOST,)),
    ],
)
def test_spellings(spelling: str, abis: tuple[Abi, ...], tmp_path: Path) -> None:
    text = f"devices: {{a: {{target_abis: {spelling}, address: x, username: u}}}}"
    if spelling == "arm64, armhf":
        text = text.replace(spelling, f'"{spelling}"')
    assert read_boards(_write(tmp_path, text))[0].abis == abis


def test_optional_keys(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("")
    text = _EXAMPLE.replace(
        "    username: user\n  raspberry",
        "    username: user\n    port: 2222\n    identity: key\n    workdir: /tmp/m\n"
        "  raspberry",
    )
    board = read_boards(_write(tmp_path, text))[0]
    assert (board.port, board.identity) == (2222, tmp_path / "key")
    assert board.work_dir == "/tmp/m"


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = _EXAMPLE.replace("[armv7l]", "[mips]").replace(
        "    address: 10.0.0.1\n    username: user", "    adress: 10.0.0.1"
    )
    with pytest.raises(DeviceError) as caught:
        read_boards(_write(tmp_path, text))
    for word in (
        "nanopi.address: is missing",
        "nanopi.username: is missing",
        "nanopi.adress: is not known",
        "'mips', accepted: arm64",
    ):
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["on", "off", "10"])
def test_any_word_is_a_name(name: str, tmp_path: Path) -> None:
    board = read_boards(_write(tmp_path, _EXAMPLE.replace("nanopi", name)))[0]
    assert board.name == name


def test_a_list_too_long_to_be_one(tmp_path: Path) -> None:
    text = "devices:\n" + "".join(f"  board{i}: {{}}\n" for i in range(20_000))
    with pytest.raises(DeviceError, match="more than 20000 keys and values"):
        read_boards(_write(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "devices:",
        "devices: 3",
        "a: 1",
        "devices: {a: {target_abis: [], address: x, username: u}}",
        "devices: {a: {target_abis: arm64, address: -oProxyCommand=x, username: u}}",
        "devices: {a: {target_abis: arm64, address: x, username: '-l'}}",
        "devices: {a: {target_abis: arm64, address: x, username: u, port: 0}}",
        "devices: {a: {target_abis: arm64, address: x, username: u, identity: no}}",
        "\0",
    ],
)
def test_bad_files(text: str, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"devices\.yml"):
        read_boards(_write(tmp_path, text))
    with pytest.raises(DeviceError, match="absent"):
        read_boards(tmp_path / "absent")
