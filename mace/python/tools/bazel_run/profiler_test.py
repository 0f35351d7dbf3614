# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding a profiler on emulated phones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.bazel_run.profiler import find_profiler
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import DeviceError, FoundDevice
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import find_adb
from test.device_farm.farm import Running

_SCRIPT = "#!/system/bin/sh\necho profiling $*\n"


@pytest.fixture
def phone(
    phones: list[Running], monkeypatch: pytest.MonkeyPatch
) -> Iterator[FoundDevice]:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    device = AdbDevice(find_adb(), phones[0].address)
    properties = device.probe()
    device.prepare()
    yield FoundDevice(device, properties, (Abi.ARM64_V8A,))
    device.run(["sh", "-c", "rm -rf /data/local/tmp/simpleperf bazel_run"])
    device.close()


def test_none(phone: FoundDevice) -> None:
    with pytest.raises(DeviceError, match="MI 6 has no simpleperf, and ANDROID_NDK"):
        find_profiler(phone)


def test_pushed_by_hand(phone: FoundDevice) -> None:
    path = "/data/local/tmp/simpleperf"
    phone.device.run(["sh", "-c", f"echo '{_SCRIPT}' >{path}; chmod 755 {path}"])
    assert find_profiler(phone) == path


def test_taken_from_the_ndk(
    phone: FoundDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source.properties").write_text("Pkg.Revision = 25.2.9519653\n")
    compiler = tmp_path / "toolchains" / "llvm" / "prebuilt" / "linux-x86_64" / "bin"
    compiler.mkdir(parents=True)
    (compiler / "clang").touch()
    folder = tmp_path / "simpleperf" / "bin" / "android" / "arm64"
    folder.mkdir(parents=True)
    (folder / "simpleperf").write_text(_SCRIPT)
    (folder / "simpleperf").chmod(0o755)
    monkeypatch.setenv("ANDROID_NDK_HOME", str(tmp_path))
    profiler = find_profiler(phone)
    ran = phone.device.run([profiler, "stat"])
    assert (ran.status, ran.output) == (0, "profiling stat\n")
