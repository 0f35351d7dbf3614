# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Top-1 and top-5 accuracy of a classifier over a folder of labelled images.

The file that `accuracy_validation_script` names has a few lines:

    from mace.python.tools.validate.labelled_images import LabelledImages

    class AccuracyValidator(LabelledImages):
        images = "imagenet/val"
        labels = "imagenet/val.txt"
        size = (224, 224)
        shorter_side = 256
        mean = (123.675, 116.28, 103.53)
        scale = (1 / 58.395, 1 / 57.12, 1 / 57.375)

The attributes are explained at the class. (VA-07)
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from mace.python.tools.errors import MaceError
from mace.python.tools.validate.metrics import Array

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp")
# Colour orders, by the mode in which an image is read and the order of its channels.
_ORDERS = {"RGB": ("RGB", 1), "BGR": ("RGB", -1), "GRAY": ("L", 1)}
_FORMATS = ("NHWC", "NCHW")


class LabelledImagesError(MaceError):
    """The folder, its labels or an attribute of the script is wrong."""


class LabelledImages:
    """A sample for each image of a folder, and how many classes are right.

    Attributes:
        images: the folder; a relative path is one beside the script.
        labels: a text file with a line `NAME CLASS` for each image, its name below the
            folder and the number of its class. None: there is a folder for each class,
            and their names, sorted, are classes 0, 1 and so on (as ImageNet's wnids).
        input: the name of the model's input.
        output: the scores; None: the model's only output. All elements but those of the
            batch are classes.
        size: height and width of the input.
        shorter_side: the image is first scaled so that its shorter side has this many
            pixels, and the middle is cut out. None: it is scaled to `size`.
        colours: RGB, BGR or GRAY.
        mean, scale: of each channel or of all; (pixel - mean) * scale is the input,
            where pixels are from 0 to 255.
        data_format: NHWC or NCHW, as the deployment file declares the input.
        batch: how many images one run takes.
        first_class: the element of the scores that is class 0 (1 for models with a
            class "background").
        ranks: the numbers of best classes among which the right one counts.
    """

    images: str
    labels: str | None = None
    input: str = "input"
    output: str | None = None
    size: tuple[int, int]
    shorter_side: int | None = None
    colours: str = "RGB"
    mean: float | Sequence[float] = 0.0
    scale: float | Sequence[float] = 1.0
    data_format: str = "NHWC"
    batch: int = 1
    first_class: int = 0
    ranks: tuple[int, ...] = (1, 5)

    def __init__(self) -> None:
        for name in ("images", "size"):
            if not hasattr(self, name):
                raise LabelledImagesError(
                    f"class {type(self).__name__} must say {name}, see "
                    f"{LabelledImages.__module__}"
                )
        for name, accepted in (("colours", _ORDERS), ("data_format", _FORMATS)):
            if getattr(self, name) not in accepted:
                raise LabelledImagesError(
                    f"{name} = {getattr(self, name)!r}; accepted: "
                    + ", ".join(accepted)
                )
        beside = Path(inspect.getfile(type(self))).parent
        self._folder = beside / self.images
        found = (
            self._by_file(beside / self.labels) if self.labels else self._by_folder()
        )
        self._samples = list(found)
        if not self._samples:
            raise LabelledImagesError(
                f"{self._folder} has no images; accepted: files named "
                + ", ".join(f"*{suffix}" for suffix in _SUFFIXES)
                + " in a folder for each class, or labels = the path of a text file"
            )
        self._right = dict.fromkeys(self.ranks, 0)
        self._seen = 0

    def _by_folder(self) -> Iterator[tuple[Path, int]]:
        if not self._folder.is_dir():
            raise LabelledImagesError(f"images: there is no folder {self._folder}")
        classes = sorted(path for path in self._folder.iterdir() if path.is_dir())
        for number, folder in enumerate(classes):
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in _SUFFIXES:
                    yield path, number

    def _by_file(self, labels: Path) -> Iterator[tuple[Path, int]]:
        try:
            lines = labels.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise LabelledImagesError(f"labels: {labels}: {error.strerror}") from error
        for at, line in enumerate(lines, 1):
            name, _, number = line.strip().rpartition(" ")
            if line.strip() and not (name and number.isdecimal()):
                raise LabelledImagesError(
                    f"{labels}:{at}: {line!r}; a line is NAME CLASS, as in cat.png 281"
                )
            if name:
                yield self._folder / name.strip(), int(number)

    def sample_size(self) -> int:
        """How many images there are."""
        return len(self._samples)

    def batch_size(self) -> int:
        """How many one run takes."""
        return self.batch

    def preprocess(self, begin: int, end: int) -> dict[str, Array]:
        """Images [begin, end), of shape [end - begin, H, W, C] or [.., C, H, W]."""
        read = np.stack([self._read(path) for path, _ in self._samples[begin:end]])
        if self.data_format == "NCHW":
            read = read.transpose(0, 3, 1, 2)
        return {self.input: np.ascontiguousarray(read, np.float32)}

    def _read(self, path: Path) -> Array:
        from PIL import Image

        mode, step = _ORDERS[self.colours]
        height, width = self.size
        try:
            with Image.open(path) as file:
                image = file.convert(mode)
        except (OSError, SyntaxError, ValueError) as error:
            raise LabelledImagesError(f"{path} cannot be read: {error}") from error
        if self.shorter_side is None:
            image = image.resize((width, height), Image.Resampling.BILINEAR)
        else:
            factor = self.shorter_side / min(image.size)
            wide, high = (max(1, round(length * factor)) for length in image.size)
            image = image.resize((wide, high), Image.Resampling.BILINEAR)
            left, top = (wide - width) // 2, (high - height) // 2
            image = image.crop((left, top, left + width, top + height))
        pixels = np.asarray(image, np.float32).reshape(height, width, -1)[..., ::step]
        mean, scale = (np.asarray(x, np.float32) for x in (self.mean, self.scale))
        return np.asarray((pixels - mean) * scale, np.float32)

    def postprocess(self, begin: int, end: int, outputs: Mapping[str, Array]) -> None:
        """Counts in how many of images [begin, end) the right class is a best one."""
        name = self.output or (next(iter(outputs)) if len(outputs) == 1 else "")
        if name not in outputs:
            raise LabelledImagesError(
                f"output = {self.output!r}; the model has {', '.join(sorted(outputs))}"
            )
        scores = np.asarray(outputs[name]).reshape(end - begin, -1)
        for row, (path, number) in zip(scores, self._samples[begin:end]):
            right = number + self.first_class
            if right >= len(row):
                raise LabelledImagesError(
                    f"{path} is of class {number}, but the model has "
                    f"{len(row) - self.first_class} classes"
                )
            # Of equal scores, the right one counts as the worst: NaN is never right.
            better = len(row) - 1 - int(np.sum(row < row[right]))
            for rank in self.ranks:
                self._right[rank] += better < rank
            self._seen += 1

    def result(self) -> str:
        """As "top-1 76.13 %, top-5 92.86 % of 50000 images"."""
        shares = (
            f"top-{rank} {100 * right / self._seen:.2f} %"
            for rank, right in self._right.items()
        )
        return f"{', '.join(shares)} of {self._seen} images"
