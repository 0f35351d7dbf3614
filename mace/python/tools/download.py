# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Downloads a file over http(s), with limits, retries and a progress bar."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import IO

_LOG = logging.getLogger(__name__)

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
