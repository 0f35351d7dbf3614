# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the files that a deployment names locally, or downloads them once."""

from mace.python.tools.fetch.fetch import (
    FetchError,
    fetch,
    fetch_file,
    fetch_files,
    file_sha256,
)

__all__ = ["FetchError", "fetch", "fetch_file", "fetch_files", "file_sha256"]
