# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and encrypts a converted model into one file.

    python seal.py --new-key model.key
    python seal.py --key model.key model.pb model.data model.sealed

The file is a header and chunks, each encrypted and authenticated by
XChaCha20-Poly1305. Numbers are little-endian.

    header, 64 bytes: "MACESEAL", version (4), bytes of a chunk (4), bytes of the
        graph (8), bytes of the weights (8), salt (16), tag (16)
    chunk: size of what is stored, bit 31: it is compressed by zlib (4), tag (16),
        what is stored

The graph's chunks come first, then those of the weights; none belongs to both. The
nonce of a chunk is the salt and the chunk's number from 1 on; the header is number 0.
A chunk's tag also authenticates the header and the chunk's size, so that no chunk can
be changed, moved, left out or taken from another file.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
import zlib
from pathlib import Path
from typing import BinaryIO, Iterator

try:
    from nacl.bindings import (
        crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt,
    )
    from nacl.bindings import (
        crypto_aead_xchacha20poly1305_ietf_KEYBYTES as KEY_BYTES,
    )
except ImportError:
    sys.exit(
        "seal.py: PyNaCl is missing: bash tools/setup.sh --for protect installs it"
    )

_MAGIC = b"MACESEAL"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQQ16s")
_WORD = struct.Struct("<I")
_TAG_BYTES = 16
_SALT_BYTES = 16
_COMPRESSED = 1 << 31
# Less is not worth the time, and keeps a reader's memory below one chunk.
_LARGEST_SHARE = 7 / 8
_LARGEST_CHUNK = 16 << 20


class SealError(Exception):
    """What the user can change."""


def seal(
    key: bytes, graph: Path, data: Path, target: Path, chunk_bytes: int, compress: bool
) -> None:
    """Writes `target`, completely or not at all."""
    salt = os.urandom(_SALT_BYTES)
    sizes = graph.stat().st_size, data.stat().st_size
    header = _HEADER.pack(_MAGIC, _VERSION, chunk_bytes, *sizes, salt)
    header += encrypt(b"", header, salt + struct.pack("<Q", 0), key)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as out:
            out.write(header)
            number = 1
            for path, size in zip((graph, data), sizes):
                with path.open("rb") as source:
                    for plain in _chunks(source, chunk_bytes):
                        nonce = salt + struct.pack("<Q", number)
                        out.write(_sealed(plain, header, nonce, key, compress))
                        number += 1
                    if source.tell() != size:
                        raise SealError(f"{path} was changed while it was read")
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def _chunks(source: BinaryIO, size: int) -> Iterator[bytes]:
    while chunk := source.read(size):
        yield chunk


def _sealed(
    plain: bytes, header: bytes, nonce: bytes, key: bytes, compress: bool
) -> bytes:
    packed = zlib.compress(plain) if compress else plain
    smaller = len(packed) <= len(plain) * _LARGEST_SHARE
    stored = packed if smaller else plain
    word = _WORD.pack(len(stored) | (_COMPRESSED if smaller else 0))
    sealed = encrypt(stored, header + word, nonce, key)
    return word + sealed[-_TAG_BYTES:] + sealed[:-_TAG_BYTES]


def _write_key(path: Path) -> None:
    # Never over a key that a model may need, and for its owner alone.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(os.urandom(KEY_BYTES))


def _read_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SealError(f"{path} has {len(key)} bytes; a key has {KEY_BYTES}")
    return key


def main() -> int:
    """Writes a key or a sealed model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--new-key", type=Path, metavar="FILE", help="write a key")
    parser.add_argument("--key", type=Path, metavar="FILE", help="encrypt with it")
    parser.add_argument("--chunk-kib", type=int, default=1024, metavar="N")
    parser.add_argument("--no-compression", action="store_true")
    parser.add_argument("graph", type=Path, nargs="?", help="<model>.pb")
    parser.add_argument("data", type=Path, nargs="?", help="<model>.data")
    parser.add_argument("target", type=Path, nargs="?", help="the file to write")
    args = parser.parse_args()
    try:
        if args.new_key is not None:
            _write_key(args.new_key)
        if args.target is not None:
            if args.key is None:
                raise SealError("--key: which file has the key? --new-key makes one")
            chunk_bytes = args.chunk_kib << 10
            if not 0 < chunk_bytes <= _LARGEST_CHUNK:
                raise SealError(f"--chunk-kib: 1 to {_LARGEST_CHUNK >> 10}")
            key = _read_key(args.key)
            compress = not args.no_compression
            seal(key, args.graph, args.data, args.target, chunk_bytes, compress)
        elif args.new_key is None:
            parser.error("what shall be done? --new-key FILE, or GRAPH DATA TARGET")
    except (SealError, OSError) as error:
        print(f"seal.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
