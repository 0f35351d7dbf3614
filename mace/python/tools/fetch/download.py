# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One download over http(s), with retries and a progress bar."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import IO, Any

_LOG = logging.getLogger(__name__)

ATTEMPTS = 3
# Waits between attempts: 1 s, 2 s.
BACKOFF_SECONDS = 1.0
# To connect, and between two received blocks.
TIMEOUT_SECONDS = (10.0, 60.0)
# pooch flushes after each chunk; its own default of 1 KiB makes that dear.
_CHUNK_BYTES = 1 << 18
# Answers after which another attempt may succeed.
_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class DownloadError(Exception):
    """The address gave no complete answer; the text says why."""


def download(url: str, stream: IO[bytes]) -> None:
    """Writes what `url` answers into `stream`, from its beginning.

    Raises:
        DownloadError: after `ATTEMPTS` attempts, or at once when another one
            would be in vain.
        OSError: the stream cannot be written.
    """
    for attempt in range(1, ATTEMPTS + 1):
        stream.seek(0)
        stream.truncate()
        reason, hopeless = _attempt(url, stream)
        if reason is None:
            return
        if hopeless or attempt == ATTEMPTS:
            break
        wait = BACKOFF_SECONDS * 2 ** (attempt - 1)
        _LOG.warning("%s: %s; trying again in %.0f s", url, reason, wait)
        time.sleep(wait)
    tries = f" ({ATTEMPTS} attempts)" if not hopeless else ""
    raise DownloadError(f"{reason}{tries}")


def _attempt(url: str, stream: IO[bytes]) -> tuple[str | None, bool]:
    """One attempt: (None, _) for success, else (why not, hopeless?)."""
    import requests
    from pooch import HTTPDownloader
    from requests import exceptions

    try:
        with _progress_bar() as bar:
            # HTTPDownloader streams in blocks and tells the bar.
            downloader = HTTPDownloader(
                progressbar=bar, chunk_size=_CHUNK_BYTES, timeout=TIMEOUT_SECONDS
            )
            downloader(url, stream, None)
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
    except exceptions.ChunkedEncodingError:
        return "the connection broke before the end of the file", False
    except (exceptions.InvalidURL, exceptions.InvalidSchema) as error:
        return f"is not a valid address: {error}", True
    except exceptions.ConnectionError as error:
        return f"cannot reach the server: {_innermost(error)}", False
    except requests.RequestException as error:
        return f"download failed: {_innermost(error)}", True
    except ValueError as error:
        # What requests and urllib3 say of addresses they cannot parse.
        return f"is not a valid address: {error}", True
    return None, False


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _innermost(error: BaseException) -> str:
    """The cause that says most: requests wraps the system's error deeply."""
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


class _RichBar:
    """A `rich` progress bar in the form that pooch drives."""

    def __init__(self, progress: Any) -> None:
        self.total = 0
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def update(self, count: int) -> None:
        self._progress.update(self._task, advance=count, total=self.total or None)

    def reset(self) -> None:
        """pooch ends with reset() and update(total)."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """The bar ends with its context."""


@contextlib.contextmanager
def _progress_bar() -> Iterator[_RichBar | bool]:
    if not sys.stderr.isatty():
        yield False
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
        yield _RichBar(progress)
