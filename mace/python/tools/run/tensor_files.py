# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the files of tensors are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Of bytes: file systems take 255 in a name, and more is added to this one.
_LONGEST = 128
# Of a longer name.
_KEPT = 100


def tensor_file_name(name: str, names: Iterable[str] = ()) -> str:
    """A tensor's name as part of a file name, as `SanitizeName` of
    mace/tools/tensor_io.h makes it on the device.

    Args:
        name: of the tensor.
        names: of all tensors beside it. If the plain names of two are equal, those
            that had to be changed get a number that tells them apart.
    """
    plain = _plain(name)
    alone = plain == name.encode() or not any(
        other != name and _plain(other) == plain for other in names
    )
    if len(plain) <= _LONGEST and alone:
        return plain.decode()
    kept = plain[:_KEPT].decode(errors="ignore")
    return f"{kept}_{_fnv1a(name.encode()):08x}"


def _plain(name: str) -> bytes:
    """Without what is no letter or digit; letters of other alphabets stay."""
    return re.sub("[^0-9A-Za-z\x80-\U0010ffff]", "_", name).encode()


def _fnv1a(data: bytes) -> int:
    digest = 2166136261
    for byte in data:
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
    return digest
