# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What hatchling, which builds the Python package, asks of this project.

It is imported where nothing but hatchling may be installed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, List

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# Set by tools/build-wheel.sh: the tag of the platform, and a folder that holds the
# native files for it.
PLATFORM_VARIABLE = "MACE_WHEEL_PLATFORM"
CONTENTS_VARIABLE = "MACE_WHEEL_CONTENTS"
# What a build that is no release has after its version: that of the commit, say.
LABEL_VARIABLE = "MACE_WHEEL_LABEL"

# The lists of Python packages, whose sections are extras, but for that of the package.
_LISTS = ("requirements.txt", "optionals.txt", "pip.txt")
_SECTION = re.compile(r"^# \[(.+)\]$", re.MULTILINE)
_PACKAGE = "convert"


def version() -> str:
    """The version of the package: PEP 440's, whose local part is the label."""
    text = Path(__file__).resolve().parents[2].joinpath("mace/version.bzl").read_text()
    found = re.search('MACE_VERSION = "([^"]+)"', text)
    if found is None:
        raise ValueError("mace/version.bzl has no MACE_VERSION")
    label = os.environ.get(LABEL_VARIABLE)
    return f"{found[1]}+{label}" if label else found[1]


def requirements(folder: Path) -> Dict[str, List[str]]:
    """The Python packages of each section of the lists in `setup/`."""
    found = {}
    for name in _LISTS:
        parts = _SECTION.split((folder / name).read_text(encoding="utf-8"))
        for section, text in zip(parts[1::2], parts[2::2]):
            lines = (line.split("#")[0].strip() for line in text.splitlines())
            found[section] = [line for line in lines if line]
    return found


class MetadataHook(MetadataHookInterface):
    """Takes the dependencies from the lists that tools/setup.sh installs."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: Dict[str, Any]) -> None:
        extras = requirements(Path(self.root, "setup"))
        metadata["dependencies"] = extras.pop(_PACKAGE)
        metadata["optional-dependencies"] = extras


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the native files; without them the package only converts."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        contents = os.environ.get(CONTENTS_VARIABLE)
        if contents:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{os.environ[PLATFORM_VARIABLE]}"
            build_data["force_include"][contents] = "mace"
