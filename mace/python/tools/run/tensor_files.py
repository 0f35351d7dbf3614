# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the files of tensors are called."""

from __future__ import annotations

import re

# Of bytes: file systems take 255 in a name, and more is added to this one.
_LONGEST = 128
# Of a longer name.
_KEPT = 100


def tensor_file_name(name: str) -> str:
    """A tensor's name as part of a file name, as `SanitizeName` of
    mace/tools/tensor_io.h makes it on the device.
    """
    # Those of other alphabets stay.
    plain = re.sub("[^0-9A-Za-z\x80-\U0010ffff]", "_", name).encode()
    if len(plain) <= _LONGEST:
        return plain.decode()
    kept = plain[:_KEPT].decode(errors="ignore")
    return f"{kept}_{_fnv1a(name.encode()):08x}"


def _fnv1a(data: bytes) -> int:
    digest = 2166136261
    for byte in data:
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
    return digest
