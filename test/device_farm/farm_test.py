# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the life of a farm: its commands, its errors, and that nothing remains."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Dict, List, Set

import pytest

from test.device_farm import busybox, container, requirements
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm
from test.device_farm.profile import find_profile, load_profile, profile_names

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 600
FIRST_PORT = 26555 + 20 * (os.getpid() % 400)
# A time that no other process uses.
SLEEP = f"sleep 5{os.getpid()}"


class Cli:
    """The command line, with a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command."""
        return subprocess.run(
            [sys.executable, "-m", "test.device_farm", "--folder", self.folder, *words],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def up(self, *words: str) -> Dict[str, str]:
        """Starts a farm; the environment it asks for."""
        ports = ("--adb-port", str(FIRST_PORT), "--ssh-port", str(FIRST_PORT + 11000))
        done = self("up", *words, *ports)
        assert done.returncode == 0, done
        lines = [one for one in done.stdout.splitlines() if one.startswith("export ")]
        return dict(line[len("export ") :].split("=") for line in lines)

    def pids(self) -> Set[int]:
        """The processes that have to do with the farm."""
        found = set()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                text = (path / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            marks = (str(self.folder).encode(), SLEEP.encode())
            if any(mark in text for mark in marks) and int(path.name) != os.getpid():
                found.add(int(path.name))
        return found


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """A farm that is ended, whatever the test does."""
    one = Cli(tmp_path / "farm")
    yield one
    one("down")


def _wait(until: Callable[[], bool]) -> bool:
    end = time.monotonic() + LIMIT_S
    while not until() and time.monotonic() < end:
        time.sleep(0.05)
    return until()


def _adb(env: Dict[str, str], *words: str) -> str:
    return subprocess.run(
        ["adb", *words],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    ).stdout


def _mounts() -> List[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()


def _start_sleeping(env: Dict[str, str], serial: str) -> None:
    assert "connected to" in _adb(env, "connect", serial)
    _adb(env, "-s", serial, "wait-for-device")
    _adb(env, "-s", serial, "shell", f"{SLEEP} >/dev/null 2>&1 &")


def test_up_status_fault_down(cli: Cli) -> None:
    mounts = _mounts()
    env = cli.up("--phones", "2")
    assert _mounts() == mounts
    status = json.loads(cli("status", "--json").stdout)
    assert list(status) == ["mi6", "redmi_go"]
    serial = f"127.0.0.1:{FIRST_PORT}"
    _start_sleeping(env, serial)
    assert cli("env").stdout.count("export ") == 2
    done = cli("fault", "mi6", "full", "--free-bytes", "1000")
    assert json.loads(done.stdout)["faults"] == ["full"]
    assert "full" in cli("status").stdout
    assert "No space left" in _adb(
        env, "-s", serial, "shell", "dd if=/dev/zero of=/data/local/tmp/a bs=1M count=1"
    )
    assert json.loads(cli("clear", "mi6").stdout)["faults"] == []
    assert len(cli.pids()) >= 4
    again = cli("up", "--phones", "1")
    assert again.returncode == 2
    assert "a farm runs in" in again.stderr
    assert again.stderr.count("\n") == 1
    assert cli("down").returncode == 0
    assert _wait(lambda: not cli.pids()), cli.pids()
    assert not cli.folder.exists()
    assert cli("status").returncode == 2
    assert cli("down").stdout == "No farm runs.\n"


def test_nothing_outlives_a_killed_farm(cli: Cli) -> None:
    boards = ("--boards", "1") if os.geteuid() == 0 else ()
    env = cli.up("--phones", "1", *boards)
    _start_sleeping(env, f"127.0.0.1:{FIRST_PORT}")
    # Besides the farm: its devices, and what was started on one.
    assert _wait(lambda: len(cli.pids()) >= 5)
    state = json.loads((cli.folder / "state.json").read_text())
    os.kill(state["pid"], signal.SIGKILL)
    assert _wait(lambda: not cli.pids()), cli.pids()
    assert cli("status").returncode == 2
    # The next farm removes what was left.
    cli.up("--phones", "1")


def test_nothing_outlives_a_killed_test(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "farm")
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from test.device_farm.farm import Farm\n"
        f"with Farm(Path(sys.argv[1]), ['mi6'], adb_port={FIRST_PORT}):\n"
        "    print('up', flush=True)\n    time.sleep(99)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(cli.folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"up\n"
            # The test, the device, and the two of its namespaces.
            assert len(cli.pids()) == 4
        finally:
            process.kill()
    assert _wait(lambda: not cli.pids()), cli.pids()


def test_ctrl_c_ends_a_farm_in_the_foreground(cli: Cli) -> None:
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "test.device_farm", "--folder", str(cli.folder)),
            *("up", "--foreground", "--phones", "1", "--adb-port", str(FIRST_PORT)),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        while "until Ctrl-C" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0
    assert _wait(lambda: not cli.pids())
    assert not cli.folder.exists()


def test_ports_in_use_are_passed_over(tmp_path: Path) -> None:
    with Farm(tmp_path / "one", ["mi6"], adb_port=FIRST_PORT) as one:
        with Farm(tmp_path / "two", ["mi6", "mi6"], adb_port=FIRST_PORT) as two:
            ports = [device.spec.port for device in (*one.phones, *two.phones)]
            assert ports == [FIRST_PORT, FIRST_PORT + 2, FIRST_PORT + 4]
            assert [device.name for device in two.phones] == ["mi6", "mi6_2"]
            assert one.adb_server_port != two.adb_server_port


# Another user, who may read what root reads: the interpreter may be root's.
NOBODY = 65534
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
PROGRAM_OF_NOBODY = """
import subprocess, sys
from pathlib import Path
from test.device_farm.farm import Farm

with Farm(Path(sys.argv[1], "farm"), ["mi6"], adb_port=int(sys.argv[2])) as farm:
    serial = farm.phones[0].address
    for words in (
        ["connect", serial],
        ["-s", serial, "push", "/etc/hostname", "/data/local/tmp/a"],
        ["-s", serial, "shell", "uname -m; ls -l /data/local/tmp/a; exit 3"],
    ):
        done = subprocess.run(["adb", *words], env=farm.env)
sys.exit(done.returncode)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_phones_need_no_root() -> None:
    busybox.find_busybox("arm64")
    # Not tmp_path: nobody may look into the folders above.
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name, "cache/mace/device_farm")
        shutil.copytree(busybox.cache_folder(), cache)
        for path in (Path(name), *Path(name).rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        env = {**os.environ, "HOME": name, "XDG_CACHE_HOME": f"{name}/cache"}
        done = subprocess.run(
            [
                *(*AS_NOBODY, sys.executable, "-B", "-c", PROGRAM_OF_NOBODY),
                *(name, str(FIRST_PORT)),
            ],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert (done.returncode, "aarch64" in done.stdout) == (3, True), done


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["up"], "a farm of no devices"),
        (["up", "--phones", "99"], "from 0 to 16"),
        (["up", "--phone", "nokia"], "choose from mi6, nexus5, p20, pixel6"),
        (["up", "--phone", "nanopi"], "is a board, not a phone"),
        (["up", "--phones", "1", "--phone", "mi6"], "not both"),
        (["fault", "mi6", "slow"], "no farm runs in"),
        (["clear", "mi6"], "no farm runs in"),
        (["env"], "no farm runs in"),
    ],
)
def test_bad_requests(cli: Cli, words: List[str], reason: str) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.startswith("device_farm: ")
    assert done.stderr.count("\n") == 1


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(FarmError, match="holds files of somebody else"):
        Farm(tmp_path, ["mi6"]).start()
    assert (tmp_path / "mine").exists()


def test_all_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(requirements, "SSHD", str(tmp_path / "sshd"))
    monkeypatch.setenv("PATH", str(tmp_path))
    profiles = [find_profile("mi6", "phone"), find_profile("nanopi", "board")]
    with pytest.raises(FarmError) as caught:
        requirements.check(profiles)
    text = str(caught.value)
    for name in ("nsenter", "adb", "ssh", "rsync", "qemu-aarch64-static", "sshd"):
        assert name in text
    assert "bash tools/setup.sh --for farm" in text
    assert "apt-get install util-linux" in text


def test_boards_need_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FarmError, match="boards need root"):
        requirements.check([find_profile("nanopi", "board")])
    requirements.check([find_profile("mi6", "phone")])


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [
        ("unshare: [Errno 1] Operation not permitted", "--privileged"),
        ("mount: /x: permission denied.", "apparmor_restrict_unprivileged_userns"),
        ("mount: unknown filesystem type binfmt_misc", "6.7 or newer"),
        ("mount: no space", "does not start: mount: no space"),
    ],
)
def test_what_a_container_lacks_is_explained(trouble: str, advice: str) -> None:
    assert advice in container.explain(trouble)


def test_a_device_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "busybox").write_bytes(b"\x7fELF" + bytes(16))
    monkeypatch.setenv("MACE_FARM_BUSYBOX_ARM64", str(tmp_path / "busybox"))
    with pytest.raises(FarmError, match="mi6: MACE_FARM_BUSYBOX_ARM64=.* is not a"):
        Farm(tmp_path / "farm", ["mi6"], adb_port=FIRST_PORT).start()
    assert not (tmp_path / "farm").exists()


def test_profiles_are_sound(tmp_path: Path) -> None:
    phones = ["mi6", "nexus5", "p20", "pixel6", "redmi_go", "xperia1_ii"]
    assert profile_names("phone") == phones
    assert profile_names("board") == ["nanopi", "raspberry", "up_squared"]
    names = [("phone", name) for name in profile_names("phone")]
    for kind, name in [*names, *(("board", name) for name in profile_names("board"))]:
        profile = find_profile(name, "phone" if kind == "phone" else "board")
        assert max(one.capacity for one in profile.clusters) == 1024
        assert all(one.min_khz < one.max_khz for one in profile.clusters)
        wide = {"arm64-v8a", "arm64"} & set(profile.abis)
        assert profile.is_64_bit == bool(wide)
    (tmp_path / "bad.yaml").write_text("kind: phone\nabis: [mips]\nwheels: 4\n")
    with pytest.raises(FarmError) as caught:
        load_profile(tmp_path / "bad.yaml")
    for key in ("abis.0", "wheels", "soc", "clusters"):
        assert key in str(caught.value)


def test_a_device_that_died_is_told(cli: Cli) -> None:
    cli.up("--phones", "2")
    state = json.loads((cli.folder / "state.json").read_text())
    os.kill(state["devices"][0]["pid"], signal.SIGKILL)
    status = json.loads(cli("status", "--json").stdout)
    assert "does not answer; see" in status["mi6"]["error"]
    assert status["redmi_go"]["faults"] == []
    done = cli("fault", "mi6", "slow")
    assert done.returncode == 2
    assert "device mi6 does not answer" in done.stderr


def test_setup_on_an_older_kernel(tmp_path: Path) -> None:
    plan = container.Plan("one", tmp_path, True, False, (container.Storage("/a", 8),))
    script = container.setup_script(plan, private_binfmt=True)
    assert script.count("binfmt_misc/register") == 2
    assert ":qemu-arm:" in script
    assert container.REFUSAL in script
    # The computer's own binfmt_misc is not changed.
    assert "binfmt_misc" not in container.setup_script(plan, private_binfmt=False)
