# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The archives of a release, of what the other tests of this step have built."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Dict, List

import pytest

import mace
from test.android_ndk.targets import TARGETS
from test.wheel.pythons import ROOT

_FLAGS = ("-abi=host", "-runtimes=cpu,gpu")
_WHO = ("-c", "user.name=MACE", "-c", "user.email=mace@localhost")
_PAGE = ROOT / "docs" / "development" / "changelog.md"


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _package(*flags: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = ["bash", "tools/package.sh", *flags]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


@pytest.fixture(scope="module")
def release() -> Path:
    """A folder of archives."""
    if _git("status", "--porcelain"):
        pytest.skip("there are changes that no commit has: packages are of commits")
    done = _package(*_FLAGS, "-wheels=host")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = {
        Path(line.split()[-1]).parent for line in done.stdout.split("\n")[-3:-1]
    }
    return ROOT / folder


def _digests(folder: Path) -> Dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def _members(archive: Path) -> List[tarfile.TarInfo]:
    with tarfile.open(archive) as opened:
        return opened.getmembers()


def test_the_same_commit_makes_the_same_bytes(release: Path, tmp_path: Path) -> None:
    """Whoever makes them; of the Python package, wheel_test.py shows it."""
    os.utime(ROOT / "mace" / "public" / "mace.h")
    command = ["bash", "tools/package.sh", *_FLAGS, "-wheels=none", f"-out={tmp_path}"]
    settings = {"COUNT": "1", "KEY_0": "tar.umask", "VALUE_0": "user"}
    others = {f"GIT_CONFIG_{name}": value for name, value in settings.items()}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **others},
        umask=0o077,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (again,) = tmp_path.iterdir()
    assert again.name == release.name
    expected = {
        name: digest
        for name, digest in _digests(release).items()
        if not name.endswith(".whl") and name != "SHA256SUMS"
    }
    assert len(expected) == 2
    assert {n: d for n, d in _digests(again).items() if n != "SHA256SUMS"} == expected


def test_sums_are_those_of_all_files(release: Path) -> None:
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(command, cwd=release, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    named = [line.split(":")[0] for line in done.stdout.splitlines()]
    assert sorted([*named, "SHA256SUMS"]) == list(_digests(release))


def test_the_library_is_whole(release: Path, tmp_path: Path) -> None:
    (archive,) = release.glob("libmace-*-linux-*-cpu_gpu.tar.gz")
    members = _members(archive)
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert {m.mtime for m in members} == {int(_git("log", "-1", "--format=%ct"))}
    assert {m.mode for m in members} == {0o644, 0o755}
    subprocess.run(["tar", "-xzf", archive], cwd=tmp_path, check=True)
    (prefix,) = tmp_path.iterdir()
    assert f"{prefix.name}.tar.gz" == archive.name
    program = tmp_path / "program"
    compiler = ["clang-19", "-std=c99", "-Werror", f"-I{prefix}/include"]
    source = str(ROOT / "test" / "standalone" / "program.c")
    linked = [source, f"-L{prefix}/lib", "-lmace", f"-Wl,-rpath,{prefix}/lib"]
    subprocess.run([*compiler, *linked, "-o", str(program)], check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert re.match(r"libmace \S+: 0 failures", told)
    for file in ("LICENSE", "lib/libmace.a", "lib/cmake/mace/maceConfig.cmake"):
        assert (prefix / file).is_file()
    flags = ("--model_file=none", "--model_data_file=none", "--input_node=a")
    more = ("--input_shape=1", "--output_node=b", "--output_shape=1")
    command = [prefix / "bin" / "mace_run", *flags, *more]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "cannot read --model_file none" in ran.stderr


def test_the_python_package_has_the_same_library(release: Path) -> None:
    (wheel,) = release.glob("*.whl")
    machine = os.uname().machine
    version = str(mace.__version__)
    if not _git("tag", "--points-at", "HEAD", "--list", "v*"):  # no release
        version += "+g" + _git("rev-parse", "--short=10", "HEAD").strip()
    assert wheel.name == f"mace-{version}-py3-none-manylinux_2_28_{machine}.whl"
    (archive,) = release.glob("libmace-*-linux-*-cpu_gpu.tar.gz")
    with tarfile.open(archive) as opened, zipfile.ZipFile(wheel) as packed:
        prefix = archive.name[: -len(".tar.gz")]
        library = opened.extractfile(f"{prefix}/lib/libmace.so")
        assert library is not None
        assert library.read() == packed.read("mace/lib/libmace.so")
        metadata = packed.read(f"mace-{version}.dist-info/METADATA").decode()
        assert f"\nVersion: {version}\n" in metadata


def test_the_sources_are_those_of_the_commit(release: Path) -> None:
    (archive,) = release.glob("mace-*-sources.tar.gz")
    names = {m.name.split("/", 1)[-1] for m in _members(archive) if not m.isdir()}
    assert names == set(_git("ls-files").splitlines())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of what says which release it is, with one commit."""
    for name in ("mace/version.bzl", "docs/development/changelog.md"):
        target = tmp_path / name
        target.parent.mkdir(parents=True)
        shutil.copy(ROOT / name, target)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "package.sh", tmp_path / "tools")
    for words in (("init", "-q"), ("add", "."), (*_WHO, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    "tag, message",
    [
        ("v99.0.0", "the tag of this commit is v99.0.0, but mace/version.bzl says"),
        (f"v{mace.__version__}", "changelog.md has no line '## "),
    ],
)
def test_a_wrong_tag_makes_nothing(checkout: Path, tag: str, message: str) -> None:
    page = checkout / "docs" / "development" / "changelog.md"
    assert f"## {mace.__version__} (" not in page.read_text() or tag == "v99.0.0"
    subprocess.run(["git", "tag", tag], cwd=checkout, check=True)
    done = _package(root=checkout)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (checkout / "build").exists()


_NO_NDK = "is built by an Android NDK: unpack one (r21 to r27, for Linux) and export"


def _without_ndk(*flags: str, ndk: str = "") -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "ANDROID_NDK_HOME": ndk}
    command = ["bash", "tools/package.sh", *flags]
    return subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True
    )


def test_what_cannot_be_made_is_said_before(tmp_path: Path) -> None:
    done = _without_ndk("-check")
    said = done.stderr.splitlines()
    for abi in TARGETS:
        line = f"package: cannot make libraries for {abi}: libmace for {abi} {_NO_NDK}"
        assert any(one.startswith(line) for one in said), done.stderr
    assert sum(one.startswith("package: cannot make") for one in said) == len(TARGETS)
    assert done.returncode == 2
    # What a flag names has to be possible.
    done = _without_ndk("-abi=host,arm64-v8a", f"-out={tmp_path}", ndk=str(tmp_path))
    assert done.returncode == 2
    assert "holds no NDK (no source.properties there)" in done.stderr
    assert "nothing was made: a flag names it" in done.stderr
    for flags, reason in (
        (("-runtimes=cpu:fpga",), "unknown device 'fpga'; accepted: cpu"),
        (("-wheels=armhf",), "-abi: unknown: armhf; accepted: host, arm64"),
    ):
        done = _without_ndk("-abi=host", *flags, f"-out={tmp_path}")
        assert done.returncode == 2 and reason in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_release_has_all_of_it(checkout: Path) -> None:
    """The checkout lacks the scripts that build."""
    page = checkout / "docs" / "development" / "changelog.md"
    version = mace.__version__
    page.write_text(page.read_text() + f"\n## {version} (2026-01-01)\n")
    for words in (("add", "."), (*_WHO, "commit", "-q", "-m", "y")):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    subprocess.run(["git", "tag", f"v{version}"], cwd=checkout, check=True)
    done = _package(root=checkout)
    assert done.returncode == 2
    assert "a release has all of it" in done.stderr
    assert not (checkout / "build").exists()


def test_a_changed_file_makes_nothing(checkout: Path) -> None:
    (checkout / "mace" / "version.bzl").write_text('MACE_VERSION = "1.2.3"\n')
    done = _package(root=checkout)
    assert done.returncode == 2 and "changes that no commit has" in done.stderr
    assert not (checkout / "build").exists()


def test_versions_are_in_order_and_the_newest_is_known() -> None:
    heads = re.findall(r"^## (.*)$", _PAGE.read_text(), re.MULTILINE)
    assert heads[0] == "Next" or heads[0].startswith(f"{mace.__version__} (")
    found = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d\d-\d\d\)", h) for h in heads]
    numbers = [tuple(map(int, m.groups())) for m in found if m]
    assert len(numbers) == len(heads) - (heads[0] == "Next")
    assert numbers == sorted(numbers, reverse=True)


def test_the_version_is_in_one_place() -> None:
    words = ["grep", "-lF", mace.__version__, "--", "*.py", "*.sh", "*.toml", "*.bzl"]
    words += ["*.cc", "*.h", "*.bazel", "*.in", "*.cmake", "docs/user/*.md"]
    assert _git(*words).split() == ["mace/version.bzl"]
