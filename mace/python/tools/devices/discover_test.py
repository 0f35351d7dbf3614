# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which devices match, with emulated ones and the real clients."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import (
    DeviceError,
    DeviceQuery,
    Devices,
    close_all,
    find_devices,
)
from mace.python.tools.devices.adb import find_adb, in_network
from mace.python.tools.devices.ssh import read_boards
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


def test_a_phone_that_is_reached_in_two_ways_is_used_once(
    phones: list[Running], tmp_path: Path
) -> None:
    first = phones[0].address
    second = first.replace("127.0.0.1", "localhost")
    subprocess.run(["adb", "connect", second], capture_output=True, check=True)
    try:
        for wanted in ((), ("MI 6",), (first,), (second,), (second, "MI 6")):
            query = DeviceQuery((Abi.ARM64_V8A,), tmp_path, wanted=wanted)
            (found,) = _find(query).found
            assert found.properties.name == "MI 6"
            if wanted and wanted[0] in (first, second):
                assert found.properties.serial == wanted[0]
        both = DeviceQuery((Abi.ARM64_V8A,), tmp_path, wanted=(first, second))
        assert len(_find(both).found) == 2
    finally:
        subprocess.run(["adb", "disconnect", second], capture_output=True, check=True)


@pytest.mark.parametrize(
    ("serial", "expected"),
    [
        ("0123456789abcdef", False),
        ("emulator-5554", False),
        ("192.168.0.7:5555", True),
        ("adb-0123ab-Xy12ab._adb-tls-connect._tcp", True),
    ],
)
def test_phones_by_usb_are_told_from_those_in_the_network(
    serial: str, expected: bool
) -> None:
    assert in_network(serial) is expected


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
    with pytest.raises(DeviceError, match="refuses this computer's key"):
        find_devices(only)


def test_no_board_and_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DeviceError, match=r"arm64: .*--devices_to_run=qemu"):
        find_devices(DeviceQuery((Abi.ARM64,), tmp_path))


def test_a_name_that_nothing_has(phones: list[Running], tmp_path: Path) -> None:
    """It fails, and the others go on."""
    found = _find(DeviceQuery(_ANDROID, tmp_path, wanted=("MI 6", "absent")))
    assert list(_summary(found)) == ["MI 6"]
    (silent,) = found.silent
    assert (silent.name, silent.abis, silent.named) == ("absent", _ANDROID, True)
    assert "there is no device absent (--devices_to_run), but MI 6" in silent.reason
    # One of any kind is no less than the other.
    any_one = DeviceQuery(_ANDROID, tmp_path, ("random",), ("MI 6", "absent"))
    assert _find(any_one).silent == []


def test_a_named_device_that_does_not_match(
    phones: list[Running], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    both = ("MI 6", "Redmi Go")
    found = _find(DeviceQuery((Abi.ARM64_V8A,), tmp_path, wanted=both))
    assert list(_summary(found)) == ["MI 6"]
    assert found.silent == []
    assert "left out: Redmi Go" in caplog.text


def test_a_network_phone_that_refuses(phones: list[Running], tmp_path: Path) -> None:
    wanted = ("MI 6", "127.0.0.1:1")
    (silent,) = _find(DeviceQuery(_ANDROID, tmp_path, wanted=wanted)).silent
    assert "127.0.0.1:1: adb says: " in silent.reason
    assert "onnection refused" in silent.reason
    with pytest.raises(DeviceError, match="adb says: .*onnection refused"):
        find_devices(DeviceQuery(_ANDROID, tmp_path, wanted=wanted[1:]))


def test_two_ways_to_a_device_are_one_machine(
    boards: list[Running], phones: list[Running], farm: Farm, tmp_path: Path
) -> None:
    other = tmp_path / "devices.yml"
    text = farm.devices_yml.read_text(encoding="utf-8").replace(
        "127.0.0.1", "localhost"
    )
    other.write_text(text, encoding="utf-8")
    abis = (*_LINUX, *_ANDROID)
    identities = []
    for path in (farm.devices_yml, other):
        found = _find(DeviceQuery(abis, tmp_path, device_yml=path)).found
        identities.append({one.device.identity for one in found})
    assert len(identities[0]) == 4
    assert identities[0] == identities[1]


def test_host_and_its_emulators(tmp_path: Path) -> None:
    named = DeviceQuery(_LINUX, tmp_path, wanted=("host",), any_abi=True)
    assert _summary(_find(named)) == {"host": ["host"]}
    with pytest.raises(DeviceError, match=r"found host \(this computer\): host"):
        find_devices(DeviceQuery(_LINUX, tmp_path, wanted=("host",)))
    assert _summary(_find(DeviceQuery((Abi.HOST,), tmp_path))) == {"host": ["host"]}


def test_there_is_no_adb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="adb is missing"):
        find_devices(DeviceQuery(_ANDROID, tmp_path))


_BOARD = """\
  board{0}:
    target_abis: [arm64]
    address: 10.0.0.{0}
    username: root
"""

_SILENT_UNTIL_ALL_ARE_ASKED = """\
#!/bin/sh
here=${0%/*}
: >"$here/asked.$$"
tenths=0
until set -- "$here"/asked.* && [ $# -ge 6 ]; do
  tenths=$((tenths + 1))
  [ $tenths -lt 600 ] || : >"$here/alone"
  [ $tenths -lt 600 ] || break
  /bin/sleep 0.1
done
echo Connection timed out >&2
exit 255
"""


def test_boards_that_are_off_are_waited_for_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And adb is not missed while something else matches."""
    for tool in ("ssh", "scp"):
        path = tmp_path / tool
        path.write_text(_SILENT_UNTIL_ALL_ARE_ASKED)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    listed = tmp_path / "boards.yml"
    listed.write_text("devices:\n" + "".join(map(_BOARD.format, range(6))))
    abis = (Abi.HOST, Abi.ARM64, Abi.ARM64_V8A)
    found = _find(DeviceQuery(abis, tmp_path, device_yml=listed))
    assert not (tmp_path / "alone").exists()
    assert list(_summary(found)) == ["host"]
    assert [one.name for one in found.silent] == [f"board{i}" for i in range(6)]
    assert all("is it on" in one.reason and not one.named for one in found.silent)
    with pytest.raises(DeviceError) as caught:
        find_devices(DeviceQuery(abis[1:], tmp_path, device_yml=listed))
    assert "arm64-v8a: adb is missing" in str(caught.value)


def test_adb_is_not_asked_when_no_phone_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not missed, and its server not started."""
    adb = tmp_path / "adb"
    adb.write_text(f"#!/bin/sh\n: >{tmp_path}/called\nexit 1\n")
    adb.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = _find(DeviceQuery((Abi.HOST, *_ANDROID), tmp_path, wanted=("host",)))
    assert list(_summary(found)) == ["host"]
    assert not (tmp_path / "called").exists()
    found = _find(DeviceQuery((Abi.HOST, *_ANDROID), tmp_path, wanted=("host", "x")))
    assert (tmp_path / "called").exists()
    (silent,) = found.silent
    assert "no device x (--devices_to_run), but host; " in silent.reason
    assert "adb does not print its version" in silent.reason


@pytest.mark.parametrize(
    "script, message",
    [
        ("echo Android Debug Bridge version 1.0.31", r"version 1\.0\.31.*1\.0\.32"),
        ("echo adb: broken; exit 1", "does not print its version: broken"),
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
    # Beside another device it is a failed one, unless only others are meant.
    abis = (Abi.HOST, *_ANDROID)
    (silent,) = _find(DeviceQuery(abis, tmp_path)).silent
    assert (silent.name, silent.abis, silent.named) == ("0123ab", _ANDROID, False)
    assert "0123ab is unauthorized: allow USB" in silent.reason
    assert _find(DeviceQuery(abis, tmp_path, wanted=("host",))).silent == []


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
