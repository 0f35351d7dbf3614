# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fetching, against a real HTTP server on the loopback interface."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.server
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from mace.python.tools import fetch as download_module
from mace.python.tools.atomic import OutputError
from mace.python.tools.config.values import FileRef
from mace.python.tools.errors import MaceError
from mace.python.tools.fetch import FetchError, fetch, fetch_file, fetch_files

_CONTENT = bytes(range(256)) * 2000
_SHA256 = hashlib.sha256(_CONTENT).hexdigest()
_OTHER_SHA256 = hashlib.sha256(b"other").hexdigest()


class _Server(http.server.ThreadingHTTPServer):
    """Answers each path by what its first part says; counts requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast(_Server, self.server)
        server.requests.append(self.path)
        kind = self.path.strip("/").split("/")[0]
        body = _CONTENT
        if kind.isdigit():
            self.send_error(int(kind))
            return
        if kind == "flaky" and len(server.requests) < 3:
            self.send_error(503)
            return
        if kind == "moved":
            self.send_response(302)
            self.send_header("Location", "/ok/net.onnx")
            self.end_headers()
            return
        if kind == "endless":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b"x")
                    time.sleep(0.01)
        if kind == "bomb":
            body = gzip.compress(bytes(4 << 20))
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        if kind == "html":
            body = b"\n<!DOCTYPE html><title>Sign in</title>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if kind == "broken":
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    monkeypatch.setattr(download_module, "BACKOFF_SECONDS", 0.01)
    for name in ("MACE_CACHE", "MACE_MODEL_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    with _Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def _files(folder: Path) -> list[str]:
    """Every file below `folder` except locks."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    )


def test_download_is_verified_and_kept(server: _Server, tmp_path: Path) -> None:
    url = server.url("ok/net.onnx")
    path = fetch(url, _SHA256, tmp_path)
    assert path.read_bytes() == _CONTENT
    assert path.name == "net.onnx"
    assert fetch(url, _SHA256.upper(), tmp_path) == path
    assert len(server.requests) == 1
    assert _files(tmp_path) == ["net.onnx"]


def test_one_content_under_two_addresses_stays_apart_from_others(
    server: _Server, tmp_path: Path
) -> None:
    first = fetch(server.url("ok/a/input.npy"), None, tmp_path)
    second = fetch(server.url("ok/b/input.npy"), None, tmp_path)
    assert first != second
    assert first.name == second.name == "input.npy"
    fetch(server.url("ok/a/input.npy"), None, tmp_path)
    assert len(server.requests) == 2


def test_wrong_checksum_leaves_nothing(server: _Server, tmp_path: Path) -> None:
    ref = FileRef(
        server.url("ok/net.onnx"),
        "models.m.model_file_path",
        _OTHER_SHA256,
        "models.m.model_sha256_checksum",
    )
    with pytest.raises(FetchError) as caught:
        fetch_file(ref, tmp_path)
    message = str(caught.value)
    assert message.startswith("models.m.model_file_path: http://")
    assert _OTHER_SHA256 in message
    assert _SHA256 in message
    assert "models.m.model_sha256_checksum" in message
    assert _files(tmp_path) == []
    # A wrong file will not get right by asking again.
    assert len(server.requests) == 1


def test_web_page_instead_of_the_file(server: _Server, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="sent a web page"):
        fetch(server.url("html/net.onnx"), _SHA256, tmp_path)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_refusals_are_final(server: _Server, tmp_path: Path, status: int) -> None:
    with pytest.raises(FetchError, match=f"answered {status} ") as caught:
        fetch(server.url(f"{status}/net.onnx"), _SHA256, tmp_path)
    assert len(server.requests) == 1
    assert f"$MACE_MODEL_MIRROR/{_SHA256}" in str(caught.value)
    assert _files(tmp_path) == []


def test_passing_troubles_are_tried_again(server: _Server, tmp_path: Path) -> None:
    path = fetch(server.url("flaky/net.onnx"), _SHA256, tmp_path)
    assert path.read_bytes() == _CONTENT
    assert len(server.requests) == 3


def test_lasting_troubles_end(server: _Server, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"503 Service Unavailable \(3 attempts\)"):
        fetch(server.url("503/net.onnx"), _SHA256, tmp_path)
    assert len(server.requests) == 3


def test_broken_connection_leaves_nothing(server: _Server, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="connection was lost"):
        fetch(server.url("broken/net.onnx"), None, tmp_path)
    assert _files(tmp_path) == []


@pytest.mark.parametrize("kind", ["ok", "bomb"])
def test_too_large_a_file(
    kind: str, server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = len(_CONTENT) if kind == "bomb" else len(_CONTENT) - 1
    monkeypatch.setattr(download_module, "LARGEST_BYTES", limit)
    with pytest.raises(FetchError, match="is larger than 0 MiB; if it really is a mo"):
        fetch(server.url(f"{kind}/net.onnx"), None, tmp_path)
    assert _files(tmp_path) == []
    assert len(server.requests) == 1


def test_a_server_that_never_ends(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_module, "LONGEST_SECONDS", 0.3)
    begin = time.monotonic()
    with pytest.raises(FetchError, match="is not complete after 0 s; download it by"):
        fetch(server.url("endless/net.onnx"), None, tmp_path)
    assert time.monotonic() - begin < 60
    assert _files(tmp_path) == []
    assert len(server.requests) == 1


def test_redirects_are_followed(server: _Server, tmp_path: Path) -> None:
    path = fetch(server.url("moved/net.onnx"), _SHA256, tmp_path)
    assert path.read_bytes() == _CONTENT


@pytest.mark.usefixtures("server")
def test_dead_address(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(FetchError, match="cannot reach the server: Connection refused"):
        fetch(f"http://127.0.0.1:{port}/net.onnx", _SHA256, tmp_path)


@pytest.mark.usefixtures("server")
def test_silent_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "TIMEOUT_SECONDS", (0.2, 0.2))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with pytest.raises(FetchError, match="did not answer in time"):
            fetch(f"http://127.0.0.1:{port}/net.onnx", _SHA256, tmp_path)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "url", ["http://[::1/x", "http://a..b/x", "http://host:port/x", "http://é\u2028/"]
)
def test_malformed_addresses(url: str, tmp_path: Path) -> None:
    with pytest.raises(FetchError):
        fetch(url, _SHA256, tmp_path)
    assert _files(tmp_path) == []


def test_damaged_cache_is_replaced(server: _Server, tmp_path: Path) -> None:
    url = server.url("ok/net.onnx")
    fetch(url, _SHA256, tmp_path).write_bytes(b"damaged")
    assert fetch(url, _SHA256, tmp_path).read_bytes() == _CONTENT
    assert len(server.requests) == 2


def test_interrupt_leaves_nothing(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        original(*arguments)
        raise KeyboardInterrupt

    original = download_module._receive
    monkeypatch.setattr(download_module, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch(server.url("ok/net.onnx"), _SHA256, tmp_path)
    assert _files(tmp_path) == []


def test_at_once_is_downloaded_once(server: _Server, tmp_path: Path) -> None:
    url = server.url("ok/net.onnx")
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: fetch(url, _SHA256, tmp_path), range(4)))
    assert len(paths) == 1
    assert len(server.requests) == 1


def test_progress_bar_on_a_terminal(
    server: _Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    fetch(server.url("ok/net.onnx"), _SHA256, tmp_path)
    assert "512.0/512.0 kB" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["file", "folder"])
def test_mirror_stands_in_for_the_network(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    mirror = tmp_path / "mirror"
    copy = mirror / _SHA256
    if form == "folder":
        copy = copy / "net.onnx"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(_CONTENT)
    monkeypatch.setenv("MACE_MODEL_MIRROR", str(mirror))
    cache = tmp_path / "cache"
    assert fetch(server.url("404/net.onnx"), _SHA256, cache) == copy
    assert server.requests == []
    copy.write_bytes(b"wrong")
    with pytest.raises(FetchError, match="checksum is wrong"):
        fetch(server.url("ok/net.onnx"), _SHA256, cache)


def test_cache_from_the_environment(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "c"))
    path = fetch(server.url("ok/net.onnx"), _SHA256)
    assert tmp_path / "c" in path.parents


def test_unusable_cache(server: _Server, tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        fetch(server.url("ok/net.onnx"), _SHA256, tmp_path / "c")


@pytest.mark.usefixtures("server")
def test_local_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(_CONTENT)
    assert fetch("net.onnx") == tmp_path / "net.onnx"
    assert fetch(tmp_path / "net.onnx", _SHA256) == tmp_path / "net.onnx"
    with pytest.raises(FetchError) as caught:
        fetch("net.onnx", _OTHER_SHA256, key="models.m.model_file_path")
    assert str(caught.value).startswith("models.m.model_file_path: net.onnx: ")
    assert _SHA256 in str(caught.value)
    with pytest.raises(FetchError, match="is a folder"):
        fetch(tmp_path)


def test_local_file_is_looked_for_in_both_places(tmp_path: Path) -> None:
    folders = (tmp_path / "cwd", tmp_path / "yaml")
    for folder in folders:
        folder.mkdir()
    ref = FileRef("net.onnx", "k", search_dirs=folders)
    with pytest.raises(FetchError) as caught:
        fetch_file(ref)
    for folder in folders:
        assert str(folder / "net.onnx") in str(caught.value)
    (folders[1] / "net.onnx").touch()
    assert fetch_file(ref) == folders[1] / "net.onnx"
    (folders[0] / "net.onnx").touch()
    assert fetch_file(ref) == folders[0] / "net.onnx"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_local_file(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(_CONTENT)
    path.chmod(0)
    with pytest.raises(FetchError, match="cannot read"):
        fetch(path, _SHA256)


def test_several_files_are_judged_together(server: _Server, tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(_CONTENT)

    def ref(location: str) -> FileRef:
        return FileRef(location, f"key {location}", search_dirs=(tmp_path,))

    names = ["here", server.url("ok/net.onnx")]
    paths = fetch_files([ref(name) for name in names], tmp_path / "cache")
    assert [path.read_bytes() for path in paths] == [_CONTENT, _CONTENT]
    server.requests.clear()
    with pytest.raises(MaceError, match="(?s)^2 files.*key gone1.*key gone2"):
        fetch_files([ref(n) for n in ("gone1", *names, "gone2")], tmp_path / "other")
    # A mistyped path does not wait for a download.
    assert server.requests == []
    with pytest.raises(FetchError, match="^key http.*404"):
        fetch_files([ref(server.url("404/a")), ref("here")], tmp_path / "cache")


def test_a_folder_has_the_checksum_of_a_list(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "x y").write_bytes(b"1")
    (folder / "B").write_bytes(b"2")
    command = (
        "find . -type f -printf '%P\\n' | LC_ALL=C sort | "
        "xargs -d '\\n' sha256sum | sha256sum"
    )
    printed = subprocess.run(
        ["sh", "-c", command], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    ref = FileRef("model", "m", printed.split()[0], None, (tmp_path,), True)
    assert fetch_file(ref) == folder
    (folder / "B").write_bytes(b"3")
    with pytest.raises(FetchError, match="checksum is wrong"):
        fetch_file(ref)
    with pytest.raises(FetchError, match="is a folder, a file is needed"):
        fetch_file(replace(ref, may_be_folder=False))
