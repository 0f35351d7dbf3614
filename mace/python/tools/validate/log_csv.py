# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`log.csv`: the last validation of a model, for spreadsheets (OT-12)."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.validate.comparison import Comparison

COLUMNS = ("output_name", "similarity", "sqnr", "pixel_accuracy")


def write_log(path: Path, comparisons: Sequence[Comparison]) -> None:
    """Replaces the file; numbers have all their digits."""
    with atomic_write(path, "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for item in comparisons:
            m = item.metrics
            writer.writerow(
                (item.name, repr(m.similarity), repr(m.sqnr), repr(m.pixel_accuracy))
            )
