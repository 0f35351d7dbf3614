# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The loader gives working classes, uses its cache, and names what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools import proto

PROTO = "mace/proto/mace.proto"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path))
    proto.load_proto.cache_clear()


def test_messages_survive_a_round_trip() -> None:
    messages = proto.load_proto(PROTO)
    model = messages.Model(name="m", data_size=3)
    model.constants.add(name="w", data_type=messages.DT_FLOAT16)
    copy = messages.Model.FromString(model.SerializeToString())
    assert copy == model
    assert copy.constants[0].data_type == 2
    assert messages.enum_names("ConstantLayout")[1] == "CL_PACKED_O16"


def test_the_second_load_needs_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto.load_proto(PROTO)
    proto.load_proto.cache_clear()
    monkeypatch.setattr(proto, "compile_proto", None)
    assert proto.load_proto(PROTO).Model(name="x").name == "x"


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    proto.load_proto(PROTO)
    for file in (tmp_path / "proto").iterdir():
        file.write_bytes(b"\xff\xff\xff")
    proto.load_proto.cache_clear()
    assert proto.load_proto(PROTO).Model(name="x").name == "x"


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(proto.ProtoError, match="protobuf-compiler"):
        proto.load_proto(PROTO)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no Nothing"):
        _ = proto.load_proto(PROTO).Nothing
