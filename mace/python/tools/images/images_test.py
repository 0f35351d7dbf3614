# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Images to tensors and back."""

from __future__ import annotations

import importlib.util
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.images import image_to_tensor, tensor_to_image

Image: Any = pytest.importorskip("PIL.Image", reason="it makes the images")


def _pixels(*shape: int) -> Any:
    return np.random.default_rng(5).integers(0, 256, shape).astype(np.uint8)


def _run(tool: Any, source: Path, shape: str, *more: str) -> int:
    """Runs a tool; results go beside the source, into `out`."""
    folder = source if source.is_dir() else source.parent
    flags = [f"--input={source}", f"--output_dir={folder / 'out'}"]
    return int(tool.main([*flags, f"--image_shape={shape}", *more]))


def _to_tensor(source: Path, shape: str, *more: str) -> int:
    return _run(image_to_tensor, source, shape, *more)


def _to_image(source: Path, shape: str, *more: str) -> int:
    return _run(tensor_to_image, source, shape, *more)


@pytest.mark.parametrize("size", [(5, 7), (14, 30), (3, 4), (7, 10)])
def test_resizing_is_that_of_another_program(size: tuple[int, int]) -> None:
    """TensorFlow 1 resizes like Resize of ONNX with asymmetric positions."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="it is the reference here")
    from onnx import TensorProto, helper

    x = _pixels(7, 10, 3).astype(np.float32)
    node = helper.make_node(
        "Resize",
        ["x", "", "", "sizes"],
        ["y"],
        mode="linear",
        coordinate_transformation_mode="asymmetric",
    )
    sizes = helper.make_tensor("sizes", TensorProto.INT64, [4], [1, 3, *size])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 7, 10])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [sizes],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (wanted,) = session.run(None, {"x": x.transpose(2, 0, 1)[np.newaxis]})
    got = image_to_tensor.resize(x, *size)
    np.testing.assert_allclose(got, wanted[0].transpose(1, 2, 0), 1e-5, 1e-3)


def test_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pixels = _pixels(4, 6, 3)
    Image.fromarray(pixels).save(tmp_path / "colour.png")
    Image.fromarray(pixels[:, :, 0]).save(tmp_path / "gray.bmp")
    (tmp_path / ".hidden").touch()
    assert _to_tensor(tmp_path, "4,6,3") == 0
    assert capsys.readouterr().out.count("\n") == 2
    assert sorted(os.listdir(tmp_path / "out")) == ["colour.dat", "gray.dat"]
    got = np.fromfile(tmp_path / "out" / "colour.dat", np.float32).reshape(4, 6, 3)
    np.testing.assert_allclose(got, pixels / 127.5 - 1, 0, 1e-6)
    gray = np.fromfile(tmp_path / "out" / "gray.dat", np.float32).reshape(4, 6, 3)
    np.testing.assert_allclose(gray, pixels[:, :, :1] / 127.5 - [1, 1, 1], 0, 1e-6)


def test_mean(tmp_path: Path) -> None:
    pixels = _pixels(4, 6, 3)
    Image.fromarray(pixels).save(tmp_path / "x.png")
    for mean in ("10", "10,20,30.5"):
        assert _to_tensor(tmp_path / "x.png", "4,6,3", f"--mean={mean}") == 0
        got = np.fromfile(tmp_path / "out" / "x.dat", np.float32).reshape(4, 6, 3)
        numbers = [float(n) for n in mean.split(",")]
        np.testing.assert_allclose(got, (pixels - numbers) / 255, 0, 1e-6)


def test_tensors_become_images(tmp_path: Path) -> None:
    gray = np.linspace(-0.1, 1.1, 64, dtype=np.float32).reshape(8, 8, 1)
    gray.tofile(tmp_path / "gray.dat")
    assert _to_image(tmp_path / "gray.dat", "8,8,1") == 0
    with Image.open(tmp_path / "out" / "gray.jpg") as image:
        assert (image.mode, image.size) == ("L", (8, 8))
        got = np.asarray(image, np.float32)
    np.testing.assert_allclose(got, np.clip(gray[:, :, 0] * 255, 0, 255), 0, 3)
    colour = np.full((8, 8, 3), [0.2, 0.5, 0.9], np.float32)
    colour.tofile(tmp_path / "colour.out")
    assert _to_image(tmp_path / "colour.out", "8,8,3") == 0
    with Image.open(tmp_path / "out" / "colour.jpg") as image:
        np.testing.assert_allclose(np.asarray(image)[4, 4], [51, 127, 229], 0, 3)


def test_the_second_of_two_channels(tmp_path: Path) -> None:
    """As of a network that tells a person from the background."""
    scores = np.zeros((8, 8, 2), np.float32)
    scores[:, :4] = [0.0, 2.0]
    scores[:, 4:] = [1000.0, 0.0]
    scores.tofile(tmp_path / "mask")
    pixels = tensor_to_image.tensor_to_pixels(tmp_path / "mask", (8, 8, 2), True)
    assert pixels.shape == (8, 8)
    share = 1 / (1 + np.exp(-2.0))
    assert (pixels[0, 0], pixels[0, 7]) == (int(share * 255.5), 0)
    assert _to_image(tmp_path / "mask", "8,8,2", "--add_softmax") == 0
    with Image.open(tmp_path / "out" / "mask.jpg") as image:
        assert image.mode == "L"


def test_what_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.jpg").write_text("no image")
    Image.fromarray(_pixels(4, 4, 3)).save(tmp_path / "x.png")
    wide = Image.fromarray(np.zeros((4, 4), np.uint16))
    (tmp_path / "wide").mkdir()
    wide.save(tmp_path / "wide" / "wide.png")
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "a.png").touch()
    (tmp_path / "same" / "a.jpg").touch()
    (tmp_path / "none").mkdir()
    np.array([np.nan] * 3, np.float32).tofile(tmp_path / "nan")
    x = str(tmp_path / "x.png")
    for run, path, shape, more, said in (
        (_to_tensor, "missing", "4,4,3", (), "no such file or folder"),
        (_to_tensor, "none", "4,4,3", (), "the folder has no files"),
        (_to_tensor, "text.jpg", "4,4,3", (), "text.jpg cannot be read as an image: "),
        (_to_tensor, "wide", "4,4,1", (), "wide.png has I;16 pixels"),
        (_to_tensor, "same", "4,4,3", (), "a.jpg and a.png would both become a.dat"),
        (_to_tensor, x, "4,4", (), "found '4,4', accepted: HEIGHT,WIDTH,CHANNELS"),
        (_to_tensor, x, "4,0,3", (), "found '4,0,3'"),
        (_to_tensor, x, "4,4,2", (), "found 2 channels, accepted: 1 (gray), 3"),
        (_to_tensor, x, "4,4,3", ("--mean=1,2",), "found 2 numbers for 3 channels"),
        (_to_tensor, x, "4,4,3", ("--mean=red",), "found 'red', accepted: numbers"),
        (_to_image, x, "4,4,4", (), "found 4 channels, accepted: 1 (gray), 2"),
        (
            _to_image,
            x,
            "4,4,3",
            (),
            "but --image_shape=4,4,3 of float32 has 192",
        ),
        (_to_image, "nan", "1,1,3", (), "has numbers that are not finite"),
    ):
        assert run(tmp_path / path, shape, *more) == 2, said
        error = capsys.readouterr().err
        assert error.startswith("error: ") and error.count("\n") == 1
        assert said in error
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("*.dat"))


def test_damaged_images_give_errors_not_crashes(tmp_path: Path) -> None:
    rng = random.Random(20261127)
    refused = 0
    for suffix in ("png", "jpg", "gif", "bmp", "webp", "tiff"):
        path = tmp_path / f"x.{suffix}"
        Image.fromarray(_pixels(6, 5, 3)).save(path)
        good = path.read_bytes()
        for _ in range(20):
            data = bytearray(good)
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data[: rng.randrange(len(data)) or None])
            status = _to_tensor(path, "6,5,3")
            assert status in (0, 2)
            refused += status == 2
    assert refused > 25


def test_a_missing_package_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert _to_tensor(tmp_path, "4,4,3") == 2
    assert "pillow is missing" in capsys.readouterr().err
