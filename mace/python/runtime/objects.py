# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models that a program has in memory, as files that the converter reads."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Optional

from mace.python.tools.errors import UsageError

# What a file is called whose contents do not tell their framework.
NAME = "model"
# Larger messages cannot be written whole.
_LARGEST_MESSAGE = 2**31 - 1

ACCEPTED = (
    "the path of a file, its bytes, an onnx.ModelProto, a keras.Model, "
    "a torch.export.ExportedProgram, or a torch.nn.Module with example_inputs="
)


@contextlib.contextmanager
def as_file(
    given: Any, example_inputs: Any = None, dynamic_shapes: Any = None
) -> Iterator[Path]:
    """The file of a model: a path as it is, all else in a file while the body runs.

    Args:
        given: a path, the bytes of a file, or an object of a framework.
        example_inputs: of a module of PyTorch: a tensor, or a tuple of its arguments.
        dynamic_shapes: of a module of PyTorch: as `torch.export.export` has it.

    Raises:
        UsageError: it is nothing that can be loaded.
    """
    write = _writer(given)
    if write is _write_module:
        if example_inputs is None:
            name = type(given).__name__
            raise UsageError(
                f"{name}, a module of PyTorch, does not say what it takes: give it "
                "example_inputs=(tensor, ...), and dynamic_shapes= as "
                "torch.export.export has it, if shapes differ"
            )
    elif example_inputs is not None or dynamic_shapes is not None:
        raise UsageError(
            "example_inputs and dynamic_shapes are for a torch.nn.Module; a "
            f"{type(given).__name__} says itself what it takes"
        )
    if is_path(given):
        yield Path(given)
        return
    if write is None:
        raise UsageError(
            f"found {type(given).__module__}.{type(given).__name__}, accepted: "
            f"{ACCEPTED}"
        )
    with tempfile.TemporaryDirectory(prefix="mace_model_") as folder:
        more = (example_inputs, dynamic_shapes) if write is _write_module else ()
        # What is loaded from it stays mapped when the file is gone.
        yield write(given, Path(folder), *more)


def is_path(given: Any) -> bool:
    """Whether it names a file."""
    return isinstance(given, (str, os.PathLike))


def is_stable(given: Any) -> bool:
    """Whether it is written as the same bytes each time."""
    return _writer(given) in (_write_bytes, _write_onnx)


def _writer(given: Any) -> Optional[Callable[..., Path]]:
    """By the class of the object: its framework is loaded by the program, if it is."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return _write_bytes
    writers: dict[tuple[str, str], Callable[..., Path]] = {
        ("onnx", "ModelProto"): _write_onnx,
        ("torch", "ExportedProgram"): _write_program,
        ("torch", "Module"): _write_module,
        ("keras", "Model"): _write_keras,
        ("tf_keras", "Model"): _write_keras,
    }
    for package, name in _classes(type(given)):
        if (package, name) in writers:
            return writers[package, name]
    return None


def _classes(kind: type) -> Iterator[tuple[str, str]]:
    for base in kind.__mro__:
        # protobuf's messages of ONNX are of the module of their schema.
        package = base.__module__.partition(".")[0]
        yield ("onnx" if package.startswith("onnx") else package), base.__name__


def _write_bytes(given: Any, folder: Path) -> Path:
    # Late: most programs load files.
    from mace.python.tools.importers.frame.opened import recognise
    from mace.python.tools.load.complete import suffix_of

    path, content = folder / NAME, bytes(given)
    path.write_bytes(content)
    found = recognise(path)
    if found is not None and found.platform is not None:
        suffix = suffix_of(found.platform)
    elif found is not None and found.is_converted:
        suffix = ".pb"
    else:
        what = f"are {found.what}: {found.advice}" if found else "are no known model"
        raise UsageError(f"the {len(content)} bytes {what}")
    return path.rename(path.with_suffix(suffix))


def _write_onnx(model: Any, folder: Path) -> Path:
    import onnx

    path = folder / f"{NAME}.onnx"
    large = model.ByteSize() > _LARGEST_MESSAGE
    onnx.save(model, path, save_as_external_data=large, location=f"{NAME}.data")
    return path


def _write_program(program: Any, folder: Path) -> Path:
    import torch

    path = folder / f"{NAME}.pt2"
    torch.export.save(program, path)
    return path


def _write_module(
    module: Any, folder: Path, example_inputs: Any, dynamic_shapes: Any
) -> Path:
    import torch

    single = isinstance(example_inputs, torch.Tensor)
    arguments = (example_inputs,) if single else tuple(example_inputs)
    # As it is for users, whatever it was in the middle of.
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            program = torch.export.export(
                module, arguments, dynamic_shapes=dynamic_shapes
            )
    # Whatever PyTorch raises on the code of a module.
    except Exception as error:
        name, reason = type(module).__name__, _first(error)
        raise UsageError(
            f"torch.export.export cannot export {name}: {reason}"
        ) from error
    finally:
        for part, training in modes.items():
            part.training = training
    return _write_program(program, folder)


def _write_keras(model: Any, folder: Path) -> Path:
    path = folder / f"{NAME}.keras"
    model.save(path)
    return path


def _first(error: Exception) -> str:
    """The first paragraph of a message; those of PyTorch go on for pages."""
    return str(error).strip().partition("\n\n")[0]
