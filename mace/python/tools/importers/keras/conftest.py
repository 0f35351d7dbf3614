# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One process reads the HDF5 files of all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mace.python.tools.importers.keras.hdf5 import kept_worker


@pytest.fixture(scope="session", autouse=True)
def _one_worker() -> Iterator[None]:
    with kept_worker():
        yield
