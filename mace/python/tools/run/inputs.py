# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Input arrays of a run, in the user's layout (VA-04, DS-05, DS-06)."""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.config.subgraph import BorderTensor, SubgraphConfig
from mace.python.tools.config.values import FileRef
from mace.python.tools.data_type import DataType
from mace.python.tools.errors import MaceError
from mace.python.tools.fetch import fetch_file
from mace.python.tools.importers.frame.model_file import other_format

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


_LOG = logging.getLogger(__name__)

Array = npt.NDArray[Any]

SEED = 20260
_DEFAULT_RANGE = (-1.0, 1.0)


class InputDataError(MaceError):
    """A file with values does not match its tensor."""


def element_type(data_type: DataType) -> np.dtype[Any]:
    """How elements of a type are stored."""
    if data_type is DataType.BFLOAT16:
        import ml_dtypes

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return data_type.numpy


def make_inputs(subgraph: SubgraphConfig, seed: int = SEED) -> dict[str, Array]:
    """One array per input: the file it names, or random values.

    Random values are uniform in the input's range, [-1, 1] without one; they
    depend on the seed and the tensor's name alone. States are zero, as before the
    first run.

    Raises:
        InputDataError: a file does not fit, or a dimension is not known.
        FetchError: a file cannot be had.
    """
    inputs = {}
    for info in subgraph.inputs:
        if info.name in (subgraph.states or {}):
            inputs[info.name] = _state(info)
        elif info.validation_data is not None:
            inputs[info.name] = _from_file(info, info.validation_data)
        else:
            inputs[info.name] = _random(info, seed)
    return inputs


def load_tensor(ref: FileRef, shape: tuple[int, ...], data_type: DataType) -> Array:
    """Reads a tensor from `.npy`, or raw elements from any other file.

    A `.npy` file may have another type if the tensor's can hold its values; floats are
    rounded.

    Raises:
        InputDataError: it cannot, or the shape does not fit.
        FetchError: the file cannot be had.
    """
    path = fetch_file(ref)
    fitted = fit(_read(path, ref, data_type), shape, data_type)
    if isinstance(fitted, str):
        raise InputDataError(f"{ref.place}: {ref.location} {fitted}")
    return fitted


def fit(array: Array, shape: tuple[int, ...], data_type: DataType) -> Array | str:
    """The array as a tensor of that shape and type, or why it cannot be one."""
    shaped = fit_shape(array, shape)
    if isinstance(shaped, str):
        return shaped
    converted = _as_type(shaped, element_type(data_type))
    if isinstance(converted, str):
        return f"holds {array.dtype}, and the tensor is {data_type.value}: {converted}"
    return converted


def is_numpy_file(path: Path) -> bool:
    """Whether a file begins like one of `numpy.save`."""
    with open(path, "rb") as stream:
        return stream.read(6) == b"\x93NUMPY"


def _from_file(info: BorderTensor, ref: FileRef) -> Array:
    return load_tensor(ref, info.shape, info.data_type)


def _state(info: BorderTensor) -> Array:
    ref = info.validation_data
    if ref is not None and _from_file(info, ref).any():
        raise InputDataError(
            f"{ref.place}: {ref.location} is for the state {info.name}, which is zero "
            "before the first run; give a file of zeros"
        )
    return np.zeros(info.shape, element_type(info.data_type))


def _read(path: Path, ref: FileRef, data_type: DataType) -> Array:
    is_npy = is_numpy_file(path)
    if not is_npy and path.suffix == ".npy":
        what = other_format(path).partition(":")[0]
        raise InputDataError(
            f"{ref.place}: {ref.location} is no NumPy file"
            f"{f', but {what}' if what else ''}: write it with numpy.save"
        )
    try:
        if is_npy:
            array: Array = np.load(path, allow_pickle=False)
            return array
        return np.fromfile(path, element_type(data_type))
    except (ValueError, EOFError, OSError) as error:
        raise InputDataError(
            f"{ref.place}: {ref.location} is not a readable .npy file: {error}"
        ) from error


def _as_type(array: Array, dtype: np.dtype[Any]) -> Array | str:
    """The array in that type, or why the type cannot hold it."""
    if array.dtype == dtype:
        return array
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        return f"save it with array.astype({str(dtype)!r})"
    with np.errstate(all="ignore"):
        converted = array.astype(dtype)
        back = converted.astype(array.dtype)
    floats = dtype.kind == "f" or dtype.name == "bfloat16"
    if floats and (array.dtype.kind == "f" or array.dtype.name == "bfloat16"):
        lost = np.isfinite(array) & ~np.isfinite(converted)
    else:
        lost = back != array
    if not lost.any():
        return converted
    example = array[lost].flat[0]
    return (
        f"{np.count_nonzero(lost)} of {array.size} values cannot be written in that "
        f"type, such as {example}"
    )


def fit_shape(array: Array, shape: tuple[int, ...]) -> Array | str:
    """The array in that shape, or why it does not fit; -1 matches any dimension.
    Dimensions of 1 may be missing (an image saved without its batch), and a raw file
    has no shape.
    """
    if len(array.shape) == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, array.shape)
    ):
        return array
    squeezed = tuple(dim for dim in array.shape if dim != 1)
    wanted = tuple(dim for dim in shape if dim != 1)
    static = all(dim >= 0 for dim in shape)
    same_size = static and array.size == int(np.prod(shape))
    if same_size and (squeezed == wanted or array.ndim == 1):
        return array.reshape(shape)
    return (
        f"holds an array of shape {list(array.shape)}, and the tensor has shape "
        f"{list(shape)}"
    )


def _random(info: BorderTensor, seed: int) -> Array:
    shape = _static_shape(info)
    # crc32: the same on every machine and Python, unlike hash().
    generator = np.random.default_rng([seed, zlib.crc32(info.name.encode())])
    values: Array
    if info.data_type.is_float:
        low, high = info.range or _DEFAULT_RANGE
        values = generator.uniform(low, high, shape)
    else:
        # Without a range: pixels, or indices that are valid in any table with at least
        # two rows.
        low, high = info.range or ((0.0, 255.0) if info.is_scaled else (0.0, 1.0))
        values = generator.integers(
            int(np.ceil(low)), int(np.floor(high)), shape, endpoint=True
        )
    return values.astype(element_type(info.data_type))


def _static_shape(info: BorderTensor) -> tuple[int, ...]:
    if info.largest:
        return info.largest
    unknown = [axis for axis, dim in enumerate(info.shape) if dim < 0]
    if any(axis > 0 for axis in unknown):
        raise InputDataError(
            f"input {info.name} has shape {list(info.shape)}: random values need "
            "every dimension but the first; give numbers for them (--dims, or "
            "input_shapes in a deployment file), an upper limit in input_shapes, such "
            "as 1..512, or validation_inputs_data"
        )
    if unknown:
        _LOG.info("input %s: 1 is taken for its batch dimension", info.name)
    return tuple(max(dim, 1) if dim < 0 else dim for dim in info.shape)
