# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds, downloads and verifies the files that deployments name.

The checksum of a file, if given, is always checked before use, whatever the source.
Downloads are kept under ``~/.cache/mace`` (or ``$MACE_CACHE``), so that a second run
needs no network. A folder with copies can replace the network:
``$MACE_MODEL_MIRROR/<sha256>``.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from mace.python.installation import CACHE_VARIABLE, DEFAULT_CACHE
from mace.python.tools.atomic import OutputError, atomic_write
from mace.python.tools.checksum import sha256_of
from mace.python.tools.config.values import FileRef, is_http_address
from mace.python.tools.errors import MaceError
from mace.python.tools.wording import near_file

_LOG = logging.getLogger(__name__)

MIRROR_VARIABLE = "MACE_MODEL_MIRROR"


class FetchError(MaceError):
    """A named file is missing, unreachable or does not match its checksum."""

    def __init__(self, ref: FileRef, reason: str) -> None:
        where = f"{ref.place}: " if ref.key else ""
        super().__init__(f"{where}{ref.location}: {reason}")
        self.ref = ref
        self.reason = reason


class FetchSeveralError(MaceError):
    """Several named files are not available."""

    def __init__(self, problems: Sequence[FetchError]) -> None:
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"{len(problems)} files are not available:\n{lines}")


def fetch(
    location: str | os.PathLike[str],
    sha256: str | None = None,
    cache_dir: Path | None = None,
    key: str = "",
) -> Path:
    """The local path of a file given as path or http(s) address.

    Args:
        location: path, relative to the working directory, or address.
        sha256: hexadecimal checksum; None: not verified.
        cache_dir: where downloads are kept; None: ``$MACE_CACHE`` or
            ``~/.cache/mace``.
        key: key of the deployment file that named it, for messages.

    Raises:
        FetchError: no such file, no answer, or a wrong checksum.
        OutputError: the cache cannot be written.
    """
    checksum = sha256.lower() if sha256 else None
    ref = FileRef(os.fspath(location), key, checksum, search_dirs=(Path.cwd(),))
    return fetch_file(ref, cache_dir)


def fetch_file(
    ref: FileRef,
    cache_dir: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Path:
    """As `fetch`, for a file that a deployment names.

    Local paths are looked for in the working directory and then beside the
    deployment file.
    """
    if not ref.is_url:
        return _local(ref)
    if not is_http_address(ref.location):
        raise FetchError(ref, "is not a valid address")
    places = _Places.of(cache_dir, os.environ if env is None else env)
    return _from_mirror(ref, places) or _from_cache_or_network(ref, places)


def fetch_files(refs: Sequence[FileRef], cache_dir: Path | None = None) -> list[Path]:
    """As `fetch_file`, for several files, in their order.

    Raises:
        MaceError: names every file that cannot be had. Local ones are looked
            for first: a mistyped path shall not wait for downloads.
    """
    paths: dict[int, Path] = {}
    for remote in (False, True):
        problems: list[FetchError] = []
        for index, ref in enumerate(refs):
            if ref.is_url is remote:
                try:
                    paths[index] = fetch_file(ref, cache_dir)
                except FetchError as error:
                    problems.append(error)
        if len(problems) == 1:
            raise problems[0]
        if problems:
            raise FetchSeveralError(problems)
    return [paths[index] for index in range(len(refs))]


@dataclass(frozen=True)
class _Places:
    cache: Path
    mirror: Path | None

    @classmethod
    def of(cls, cache_dir: Path | None, env: Mapping[str, str]) -> _Places:
        cache = cache_dir or Path(env.get(CACHE_VARIABLE) or DEFAULT_CACHE)
        mirror = env.get(MIRROR_VARIABLE)
        return cls(
            cache.expanduser().absolute(),
            Path(mirror).expanduser() if mirror else None,
        )


def _local(ref: FileRef) -> Path:
    for path in ref.candidates:
        if path.is_file() or (ref.may_be_folder and path.is_dir()):
            _verify(ref, path)
            return path
        if path.is_dir():
            raise FetchError(ref, f"{path} is a folder, a file is needed")
        if path.is_symlink():
            gone = os.readlink(path)
            raise FetchError(ref, f"is a link to {gone}, which is not there")
    looked = [str(path) for path in ref.candidates]
    hint = "" if looked == [ref.location] else f"; looked for {', '.join(looked)}"
    near = next(filter(None, map(near_file, ref.candidates)), "")
    raise FetchError(ref, f"no such file{hint}{near}")


def _from_mirror(ref: FileRef, places: _Places) -> Path | None:
    if places.mirror is None or ref.sha256 is None:
        return None
    entry = places.mirror / ref.sha256
    found = sorted(entry.iterdir()) if entry.is_dir() else [entry]
    for path in found:
        if path.is_file():
            _LOG.debug("%s: taken from %s", ref.location, path)
            _verify(ref, path)
            return path
    return None


def _from_cache_or_network(ref: FileRef, places: _Places) -> Path:
    target = places.cache / _cache_name(ref)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(target.parent, error) from error
    from filelock import FileLock

    # If two commands need the same file, only one downloads it.
    with FileLock(target.parent / ".lock"):
        if target.is_file():
            if ref.sha256 is None or file_sha256(ref, target) == ref.sha256:
                _LOG.debug("%s: already in %s", ref.location, target)
                return target
            _LOG.warning("%s was damaged; downloading it again", target)
        _download(ref, target, places)
    return target


def _download(ref: FileRef, target: Path, places: _Places) -> None:
    _LOG.info("downloading %s", ref.location)
    try:
        with atomic_write(target) as stream:
            download(ref.location, stream)
            stream.flush()
            _verify(ref, Path(stream.name))
    except DownloadError as error:
        hint = ""
        if ref.sha256 is not None:
            mirror = places.mirror or Path(f"${MIRROR_VARIABLE}")
            hint = f"; a copy obtained elsewhere can be put at {mirror / ref.sha256}"
            if places.mirror is None:
                hint += f", with {MIRROR_VARIABLE} naming a folder"
        raise FetchError(ref, f"{error}{hint}") from error


def _cache_name(ref: FileRef) -> Path:
    """The path in the cache: by checksum if it is known, otherwise by address."""
    name = unquote(urlsplit(ref.location).path).rpartition("/")[2]
    # The name is only for people and for suffixes; it must be a safe one.
    name = re.sub(r"[^A-Za-z0-9._-]", "_", name)[-80:].lstrip(".") or "file"
    if ref.sha256 is not None:
        return Path("sha256", ref.sha256, name)
    digest = hashlib.sha256(ref.location.encode()).hexdigest()
    return Path("address", digest, name)


def _verify(ref: FileRef, path: Path) -> None:
    if ref.sha256 is None:
        return
    actual = file_sha256(ref, path)
    if actual == ref.sha256:
        return
    expected = f"expected {ref.sha256}"
    if ref.sha256_key:
        expected += f" ({ref.sha256_key})"
    reason = f"the SHA-256 checksum is wrong: {expected}, found {actual}"
    if ref.is_url and _looks_like_html(path):
        reason += "; the server sent a web page instead of the file"
    raise FetchError(ref, reason)


def file_sha256(ref: FileRef, path: Path) -> str:
    """The checksum of a file or folder, see `sha256_of`.

    Args:
        ref: what it was fetched for.
        path: where it is.

    Raises:
        FetchError: it cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FetchError(ref, f"cannot read {path}: {reason}") from error


def _looks_like_html(path: Path) -> bool:
    with open(path, "rb") as stream:
        start = stream.read(256).lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))


ATTEMPTS = 3
# Waits between attempts: 1 s, 2 s.
BACKOFF_SECONDS = 1.0
# Limits for connecting, and for the time between two received blocks.
TIMEOUT_SECONDS = (10.0, 60.0)
# Limit for all attempts together: a server may send single bytes slowly forever.
LONGEST_SECONDS = 2 * 3600.0
# Models have at most 2 GiB, and their weights in separate files some more.
LARGEST_BYTES = 16 << 30
_BLOCK_BYTES = 1 << 18
# Responses after which another attempt may succeed.
_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class DownloadError(Exception):
    """The download failed; the text says why."""


class _LimitError(Exception):
    """The response is too large or takes too long; another attempt would be the
    same.
    """


def download(url: str, stream: IO[bytes]) -> None:
    """Downloads `url` into `stream`, from its beginning.

    Raises:
        DownloadError: after `ATTEMPTS` attempts, or at once when another one
            would be in vain.
        OSError: the stream cannot be written.
    """
    end = time.monotonic() + LONGEST_SECONDS
    for attempt in range(1, ATTEMPTS + 1):
        stream.seek(0)
        stream.truncate()
        reason, hopeless = _attempt(url, stream, end)
        if reason is None:
            return
        if hopeless or attempt == ATTEMPTS:
            break
        wait = BACKOFF_SECONDS * 2 ** (attempt - 1)
        _LOG.warning("%s: %s; trying again in %.0f s", url, reason, wait)
        time.sleep(wait)
    tries = f" ({ATTEMPTS} attempts)" if not hopeless else ""
    raise DownloadError(f"{reason}{tries}")


def _receive(url: str, stream: IO[bytes], end: float) -> None:
    import requests

    with requests.get(url, stream=True, timeout=TIMEOUT_SECONDS) as response:
        response.raise_for_status()
        text = response.headers.get("content-length", "")
        total = int(text) if text.isdecimal() else 0
        _check_size(total)
        with _progress_bar(total) as tell:
            # Reads what has arrived, so that the time limit is checked even if the
            # connection is slow; `iter_content` waits for a whole block.
            while block := response.raw.read1(_BLOCK_BYTES, decode_content=True):
                _check_size(stream.tell() + len(block))
                if time.monotonic() > end:
                    raise _LimitError(
                        f"is not complete after {LONGEST_SECONDS:.0f} s; download it "
                        "by other means and name the file"
                    )
                stream.write(block)
                tell(len(block))


def _check_size(size: int) -> None:
    if size > LARGEST_BYTES:
        raise _LimitError(
            f"is larger than {LARGEST_BYTES >> 20} MiB; if it really is a model, "
            "download it by other means and name the file"
        )


def _attempt(url: str, stream: IO[bytes], end: float) -> tuple[str | None, bool]:
    """One attempt; returns (None, _) on success, else (reason, whether to give up)."""
    import requests
    from requests import exceptions
    from urllib3 import exceptions as transport

    try:
        _receive(url, stream, end)
    except _LimitError as error:
        return str(error), True
    except transport.ReadTimeoutError:
        return "the server did not answer in time", False
    except transport.HTTPError:
        return "the connection was lost before the end of the file", False
    except exceptions.HTTPError as error:
        response = error.response
        status = response.status_code if response is not None else 0
        phrase = _phrase(status)
        text = f"the server answered {status}{phrase}"
        return text, status not in _PASSING_STATUS
    except exceptions.SSLError as error:
        return f"the server's certificate is refused: {_innermost(error)}", True
    except exceptions.Timeout:
        return "the server did not answer in time", False
    except (exceptions.InvalidURL, exceptions.InvalidSchema) as error:
        return f"is not a valid address: {error}", True
    except exceptions.ConnectionError as error:
        return f"cannot reach the server: {_innermost(error)}", False
    except requests.RequestException as error:
        return f"download failed: {_innermost(error)}", True
    except ValueError as error:
        # The error of requests and urllib3 for addresses that they cannot parse.
        return f"is not a valid address: {error}", True
    return None, False


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _innermost(error: BaseException) -> str:
    """The most informative cause: requests wraps the system's error several times."""
    seen = 0
    while seen < 10:
        cause = error.__cause__ or error.__context__
        reason = getattr(error, "reason", None)
        following = reason if isinstance(reason, BaseException) else cause
        if following is None:
            break
        error = following
        seen += 1
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(str(text).split())[:200]


@contextlib.contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function that is called with the number of received bytes."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("", total=total or None)
        yield lambda count: progress.advance(task, count)
