# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of reports for the documentation, from the example model.

    python docs/screenshots.py

Needs `chromium` (apt install chromium) and an otherwise idle computer, because the
pictures show times. Writes docs/user/images/*.png.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

_ROOT = Path(__file__).resolve().parent.parent
_IMAGES = _ROOT / "docs/user/images"
_CONFIG = "mace/examples/digits/digits.yml"
_COLOURS = 96


@dataclass(frozen=True)
class _Picture:
    """A page of the report, as a window of this size shows it."""

    name: str
    page: str
    width: int
    height: int


_PICTURES = (
    _Picture("report", "digits_host_cpu.html", 1000, 1150),
    _Picture("graph", "digits_host_cpu.graph.html", 1000, 560),
)


def main() -> int:
    browser = shutil.which("chromium")
    if browser is None:
        sys.stderr.write("chromium is missing: apt install chromium\n")
        return 2
    _IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for command in (
            ["convert", f"--config={_CONFIG}"],
            [
                *("run", f"--config={_CONFIG}", "--validate", "--benchmark"),
                *("--duration=2", "--warmup_rounds=50", f"--report_dir={folder}"),
            ],
        ):
            converter = [sys.executable, "tools/converter.py"]
            subprocess.run([*converter, *command], cwd=_ROOT, check=True)
        for picture in _PICTURES:
            _take(browser, picture, Path(folder))
    return 0


def _take(browser: str, picture: _Picture, folder: Path) -> None:
    raw = folder / f"{picture.name}.png"
    subprocess.run(
        [
            browser,
            "--headless",
            # As root in a container, it has no sandbox of its own.
            "--no-sandbox",
            "--hide-scrollbars",
            f"--user-data-dir={folder / 'browser'}",
            f"--window-size={picture.width},{picture.height}",
            "--virtual-time-budget=2000",
            # All of the page is painted before the picture is taken.
            "--disable-gpu",
            "--run-all-compositor-stages-before-draw",
            f"--screenshot={raw}",
            (folder / picture.page).as_uri(),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    with Image.open(raw) as image:
        small = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(_IMAGES / raw.name, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
