# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0


from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List

import pytest

from mace.python.tools.bazel import (
    BuildError,
    Variant,
    build_program,
    sanitizer_environment,
    sanitizer_summary,
)
from mace.python.tools.build_tools import (
    AndroidNdkError,
    bazel_command,
    find_bazel,
    find_ndk,
)
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError

_ROOT = Path(__file__).resolve().parents[3]

ENVIRONMENTS: List[Dict[str, str]] = [
    {},
    {"BAZEL": "", "BAZEL_STARTUP_FLAGS": "", "BAZEL_FLAGS": ""},
    {"BAZEL_STARTUP_FLAGS": " --a=1  --b ", "BAZEL_FLAGS": "--jobs=2 --c"},
]


@pytest.fixture
def printer(tmp_path: Path) -> Path:
    """A Bazel that prints its arguments, one a line."""
    program = tmp_path / "bazel"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_scripts_and_python_read_the_same(
    environment: Dict[str, str], printer: Path
) -> None:
    environment = {"PATH": f"{printer.parent}:{os.environ['PATH']}", **environment}
    script = "source tools/run_bazel.sh; run_bazel build //a"
    shell = subprocess.run(
        ["bash", "-euc", script],
        cwd=_ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    words = bazel_command(environment).words("build", "//a")
    assert words[0] == "bazel"
    assert [w for w in shell.stdout.splitlines() if w != "--color=no"] == words[1:]


def test_flags_stand_where_bazel_wants_them() -> None:
    found = bazel_command(
        {"BAZEL": "/b", "BAZEL_STARTUP_FLAGS": "--s", "BAZEL_FLAGS": "--f"}
    )
    assert found.words("test", "//x") == ["/b", "--s", "test", "--f", "//x"]


def test_a_bazel_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAZEL", "/nowhere/bazel-7")
    with pytest.raises(MissingToolError, match=r"/nowhere/bazel-7.*BAZEL.*a program"):
        find_bazel("building a program")


def test_programs_are_built_by_the_chosen_bazel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    program = tmp_path / "my-bazel"
    program.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexit 1\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("BAZEL", str(program))
    monkeypatch.setenv("BAZEL_STARTUP_FLAGS", "--batch")
    monkeypatch.setenv("BAZEL_FLAGS", "--jobs=1")
    with pytest.raises(BuildError):
        copy = tmp_path / "mace_run"
        build_program("//mace/tools:mace_run", Variant(Abi.ARM64), copy)
    assert log.read_text(encoding="utf-8").startswith(
        "--batch build --jobs=1 --config=arm64 "
    )


def test_builds_with_other_options_wait_until_a_program_is_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A Bazel with one place for all programs, which takes a while."""
    program = tmp_path / "bazel"
    made = tmp_path / "mace/tools"
    script = (
        "#!/bin/sh\ncase $1 in\n"
        f"info) sleep 0.2; echo {tmp_path} ;;\n"
        f'*) mkdir -p {made}; echo "$2" >{made}/mace_run ;;\n'
        "esac\n"
    )
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("BAZEL", str(program))
    monkeypatch.delenv("BAZEL_FLAGS", raising=False)
    monkeypatch.delenv("BAZEL_STARTUP_FLAGS", raising=False)
    abis = (Abi.ARM64, Abi.ARMHF)

    def build(abi: Abi) -> str:
        copy = tmp_path / abi.value
        build_program("//mace/tools:mace_run", Variant(abi), copy)
        return copy.read_text(encoding="utf-8").strip()

    with ThreadPoolExecutor() as pool:
        found = list(pool.map(build, abis))
    assert found == [f"--config={abi.value}" for abi in abis]


def _ndk(folder: Path, properties: str, host: str = "linux-x86_64") -> Path:
    programs = folder / "toolchains" / "llvm" / "prebuilt" / host / "bin"
    programs.mkdir(parents=True)
    (programs / "clang").touch()
    (folder / "source.properties").write_text(properties)
    return folder


def test_none_is_named() -> None:
    assert find_ndk({}) is None
    assert find_ndk({"ANDROID_NDK_HOME": ""}) is None


def test_found(tmp_path: Path) -> None:
    home = _ndk(tmp_path, "Pkg.Desc = Android NDK\nPkg.Revision = 25.2.9519653\n")
    ndk = find_ndk({"ANDROID_NDK_HOME": str(home)})
    assert ndk is not None
    assert (ndk.home, ndk.revision) == (home, "25.2.9519653")
    assert (ndk.prebuilt / "bin" / "clang").is_file()


@pytest.mark.parametrize(
    ("properties", "host", "message"),
    [
        ("Pkg.Revision = 17.2.4988734\n", "linux-x86_64", "is NDK r17, .* too old"),
        ("Pkg.Desc = Android NDK\n", "linux-x86_64", "names no Pkg.Revision"),
        ("Pkg.Revision = 26.1.1\n", "darwin-x86_64", "NDK for darwin-x86_64, not for"),
    ],
)
def test_unfit(tmp_path: Path, properties: str, host: str, message: str) -> None:
    home = _ndk(tmp_path, properties, host)
    with pytest.raises(AndroidNdkError, match=message):
        find_ndk({"ANDROID_NDK_HOME": str(home)})


def test_no_ndk(tmp_path: Path) -> None:
    with pytest.raises(AndroidNdkError, match="holds no NDK"):
        find_ndk({"ANDROID_NDK_HOME": str(tmp_path)})
    with pytest.raises(AndroidNdkError, match="no such folder.*export"):
        find_ndk({"ANDROID_NDK_HOME": str(tmp_path / "none")})


_SOURCE = """\
#include <stdlib.h>
int main(int count, char **words) {
  char *memory = malloc(count);
  (void)words;
  return memory[count];
}
"""


def test_a_real_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASAN_OPTIONS", raising=False)
    (tmp_path / "beyond.c").write_text(_SOURCE)
    flags = ["-fsanitize=address", "-g", "-o", str(tmp_path / "beyond")]
    try:
        subprocess.run(["clang-19", *flags, tmp_path / "beyond.c"], check=True)
    except FileNotFoundError:
        pytest.skip("there is no clang-19 to make a program")
    done = subprocess.run(
        [tmp_path / "beyond"],
        env=sanitizer_environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    # SIGABRT: no status that the program itself might give.
    assert done.returncode == -6
    summary = sanitizer_summary(done.stderr)
    assert summary.startswith("AddressSanitizer: heap-buffer-overflow ")
    assert summary.endswith("in main")
    assert "\n" not in summary


def test_the_folder_of_the_build_is_left_out() -> None:
    text = "SUMMARY: AddressSanitizer: SEGV /proc/self/cwd/mace/core/a.cc:3 in main\n"
    assert sanitizer_summary(text) == "AddressSanitizer: SEGV mace/core/a.cc:3 in main"


def test_nothing_found() -> None:
    assert sanitizer_summary("all is well\nSUMMARY: of something else\n") == ""


def test_the_users_options_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")
    value = sanitizer_environment()["ASAN_OPTIONS"]
    assert value.endswith("detect_leaks=0:detect_leaks=1")
