# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles that attack their reader. `model_test.py` has good ones."""

from __future__ import annotations

import io
import struct
import time
import zipfile

import pytest

from mace.python.tools.importers.frame.zip_file import ZipFile
from mace.python.tools.importers.pytorch import pickled
from mace.python.tools.importers.pytorch.pickled import PickleError, load_tensors


def _load(body: bytes) -> object:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("w/data.pkl", b"\x80\x02" + body + b".")
    return load_tensors(ZipFile(memoryview(stream.getvalue())))


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _refusal(body: bytes) -> str:
    begin = time.process_time()
    with pytest.raises(PickleError) as caught:
        _load(body)
    # An attack takes minutes.
    assert time.process_time() - begin < 10
    return str(caught.value)


# Tuples of one object each that is in the memo: the key holds 2**60 numbers.
_SHARED = b"K\x01" + b"".join(
    b"q" + bytes([index]) + b"h" + bytes([index]) + b"\x86" for index in range(60)
)


def test_keys_that_take_forever_to_hash() -> None:
    assert "a key of type tuple" in _refusal(b"}" + _SHARED + b"K\x01s")
    pairs = _global("collections", "OrderedDict") + b"](" + _SHARED + b"K\x01\x86e\x85R"
    assert "a key of type tuple" in _refusal(pairs)


@pytest.mark.parametrize("number", [1 << 28, 800_000_000, 0x7FFFFFFF])
def test_a_large_number_of_an_object_takes_no_memory(number: int) -> None:
    # The memo of pickle.Unpickler would have as many places.
    assert _load(b"}r" + struct.pack("<I", number)) == {}


def test_deep_nesting() -> None:
    assert "nested more than 100 deep" in _refusal(b"(" * 200 + b"t" * 200)
    assert "nested more than 100 deep" in _refusal(b")" + b"\x85" * 300_000)
    assert "more than 16384 open" in _refusal(b"]" * 300_000 + b"a" * 299_999)
    assert _load(b"]" * 16_000 + b"a" * 15_999)
    assert _load(b")" + b"\x85" * 90)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x8e" + struct.pack("<Q", 1 << 40) + b"x", "cannot be read"),
        (b"\x96" + struct.pack("<Q", 12 << 30) + b"x", "cannot be read"),
        (b"\x8f", "EMPTY_SET, which torch.save does not write"),
        (b"N2", "DUP, which"),
        (b"i" + b"torch._utils\n_rebuild_tensor_v2\n", "INST, which"),
        (_global("torch", "Size") + b")\x81", "NEWOBJ, which"),
        (b"K\x01)R", "calls what is no function"),
        (_global("torch", "Size") + b"K\x01R", "calls what is no function"),
        (b"K\x01K\x02a", "adds to what is no list"),
        (b"K\x01K\x02K\x03s", "adds to what is no dictionary"),
        (b"t", "begins nowhere"),
        (b"(R", "begins nowhere"),
        (b"h\x05", "cannot be read"),
        (b"Q", "cannot be read"),
        (b"L" + b"9" * 5000 + b"L\n", "cannot be read|LONG, which"),
    ],
)
def test_what_torch_does_not_write(body: bytes, reason: str) -> None:
    said = _refusal(body)
    assert any(part in said for part in reason.split("|")), said


@pytest.mark.parametrize(
    "name", ["builtins eval", "builtins getattr", "torch hub.load", "numpy load"]
)
def test_other_names_are_refused(name: str) -> None:
    module, _, function = name.partition(" ")
    assert f"it holds objects of {module}.{function}" == _refusal(
        _global(module, function)
    )
    stacked = b"".join(b"\x8c" + bytes([len(t)]) + t.encode() for t in name.split())
    assert f"it holds objects of {module}.{function}" == _refusal(stacked + b"\x93")


def test_functions_are_not_changed() -> None:
    """BUILD sets attributes of what is on the stack."""
    before = pickled._rebuild.__defaults__
    function = _global("torch._utils", "_rebuild_tensor_v2")
    _load(function + b"(N}X\x0c\x00\x00\x00__defaults__(K\x01tstb")
    assert pickled._rebuild.__defaults__ == before
