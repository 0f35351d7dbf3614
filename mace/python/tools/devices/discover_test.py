# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which devices match, with emulated ones and the real clients."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mace.python.tools.config.deployment import Abi
from mace.python.tools.devices import (
    DeviceError,
    DeviceQuery,
    Devices,
    close_all,
    find_devices,
)
from mace.python.tools.devices.adb_client import find_adb
from mace.python.tools.errors import MissingToolError
from test.device_farm.farm import Farm, Running

_ANDROID = (Abi.ARM64_V8A, Abi.ARMEABI_V7A)
_LINUX = (Abi.ARM64, Abi.ARMHF)


def _find(query: DeviceQuery) -> Devices:
    found = find_devices(query)
    close_all(found)
    return found


def _summary(found: Devices) -> dict[str, list[str]]:
    return {
        item.properties.name: [abi.value for abi in item.abis] for item in found.found
    }


def test_phones_by_abi_and_soc(phones: list[Running], tmp_path: Path) -> None:
    found = _find(DeviceQuery(_ANDROID, tmp_path))
    assert _summary(found) == {
        "MI 6": ["arm64-v8a", "armeabi-v7a"],
        "Redmi Go": ["armeabi-v7a"],
    }
    by_soc = _find(DeviceQuery(_ANDROID, tmp_path, socs=("msm8998",)))
    assert list(_summary(by_soc)) == ["MI 6"]
    by_name = _find(DeviceQuery(_ANDROID, tmp_path, wanted=("Redmi Go",)))
    assert list(_summary(by_name)) == ["Redmi Go"]
    by_serial = _find(DeviceQuery(_ANDROID, tmp_path, wanted=(phones[0].address,)))
    assert list(_summary(by_serial)) == ["MI 6"]
    assert len(_find(DeviceQuery(_ANDROID, tmp_path, socs=("random",))).found) == 1


def test_android_serial_chooses(
    phones: list[Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_SERIAL", phones[1].address)
    assert list(_summary(_find(DeviceQuery(_ANDROID, tmp_path)))) == ["Redmi Go"]
    monkeypatch.setenv("ANDROID_SERIAL", "absent")
    with pytest.raises(DeviceError, match="ANDROID_SERIAL is absent, and adb sees"):
        find_devices(DeviceQuery(_ANDROID, tmp_path))


def test_an_abi_that_no_phone_runs(phones: list[Running], tmp_path: Path) -> None:
    query = DeviceQuery(
        (Abi.ARM64_V8A,), tmp_path, wanted=("Redmi Go",), socs=("msm8937",)
    )
    with pytest.raises(DeviceError) as caught:
        find_devices(query)
    text = str(caught.value)
    assert "no device runs programs for arm64-v8a on SoC msm8937" in text
    assert "found Redmi Go" in text
    assert "armeabi-v7a, SoC msm8937" in text


def test_a_phone_in_the_network_is_connected(
    phones: list[Running], tmp_path: Path
) -> None:
    address = phones[0].address
    subprocess.run(["adb", "disconnect", address], capture_output=True, check=True)
    found = _find(DeviceQuery(_ANDROID, tmp_path, wanted=(address,)))
    assert list(_summary(found)) == ["MI 6"]


def test_boards(boards: list[Running], farm: Farm, tmp_path: Path) -> None:
    found = _find(DeviceQuery(_LINUX, tmp_path, device_yml=farm.devices_yml))
    assert _summary(found) == {"nanopi": ["arm64", "armhf"], "raspberry": ["armhf"]}
    soc = ("rk3399",)
    by_soc = _find(DeviceQuery(_LINUX, tmp_path, soc, device_yml=farm.devices_yml))
    assert list(_summary(by_soc)) == ["nanopi"]


def test_devices_yml_of_the_working_directory(
    boards: list[Running], farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(farm.devices_yml.parent)
    assert "nanopi" in _summary(_find(DeviceQuery((Abi.ARM64,), tmp_path)))


def test_a_board_that_refuses_the_key_is_told_apart(
    boards: list[Running], farm: Farm, tmp_path: Path
) -> None:
    boards[0].fault("unauthorized")
    query = DeviceQuery(_LINUX, tmp_path, device_yml=farm.devices_yml)
    found = _find(query)
    assert list(_summary(found)) == ["raspberry"]
    (silent,) = found.silent
    assert silent.name == "nanopi"
    assert silent.abis == _LINUX
    assert ".ssh/authorized_keys" in silent.reason
    only = DeviceQuery(_LINUX, tmp_path, (), ("nanopi",), farm.devices_yml)
    with pytest.raises(DeviceError, match="refuses our key"):
        find_devices(only)


def test_no_board_and_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DeviceError, match=r"arm64: .*--devices_to_run=qemu"):
        find_devices(DeviceQuery((Abi.ARM64,), tmp_path))


def test_host_and_its_emulators(tmp_path: Path) -> None:
    assert _summary(_find(DeviceQuery((Abi.HOST,), tmp_path))) == {"host": ["host"]}


def test_there_is_no_adb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="adb is missing"):
        find_devices(DeviceQuery(_ANDROID, tmp_path))


@pytest.mark.parametrize(
    "script, message",
    [
        ("echo Android Debug Bridge version 1.0.31", r"version 1\.0\.31.*1\.0\.32"),
        ("echo adb: broken; exit 1", "does not tell its version: broken"),
    ],
)
def test_an_adb_of_no_use(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adb = tmp_path / "adb"
    adb.write_text(f"#!/bin/sh\n{script}\n")
    adb.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match=message):
        find_adb()


def test_a_phone_that_does_not_trust_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adb = tmp_path / "adb"
    adb.write_text(
        "#!/bin/sh\ncase $1 in\n"
        "version) echo Android Debug Bridge version 1.0.41 ;;\n"
        "devices) printf 'List of devices attached\\n0123ab\\tunauthorized\\n' ;;\n"
        "esac\n"
    )
    adb.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="0123ab is unauthorized: allow USB"):
        find_devices(DeviceQuery(_ANDROID, tmp_path, wanted=("0123ab",)))
    with pytest.raises(DeviceError, match="0123ab is unauthorized"):
        find_devices(DeviceQuery(_ANDROID, tmp_path))
