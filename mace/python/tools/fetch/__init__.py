# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files a deployment names: found locally, or downloaded once."""

from mace.python.tools.fetch.fetch import (
    FetchError,
    fetch,
    fetch_file,
    fetch_files,
    file_sha256,
)

__all__ = ["FetchError", "fetch", "fetch_file", "fetch_files", "file_sha256"]
