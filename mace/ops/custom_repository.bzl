# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Operators in folders of users' own, outside of the checkout.

The environment variable MACE_CUSTOM_OPS names the folders, with colons between them.
Each holds custom_ops.yaml and rooms, as mace/ops does. Their targets are those of
rooms.bzl, in @mace_custom_ops; without the variable there are none.
"""

# Of rooms and importers' handlers: raised when those of an earlier release no longer
# build, or mean something else. mace/python/tools/custom_ops.py has it too.
INTERFACE = 1

_VARIABLE = "MACE_CUSTOM_OPS"
_MANIFEST = "custom_ops.yaml"

_BUILD = """\
load("@mace//mace/ops:rooms.bzl", "mace_custom_op_rooms")

package(default_visibility = ["//visibility:public"])

package_group(
    name = "packages",
    packages = ["//..."],
)

mace_custom_op_rooms(folders = {folders})
"""

def _check(folder, path):
    where = "%s: %s" % (_VARIABLE, folder)
    if not folder.startswith("/"):
        fail("%s: must be an absolute path" % where)
    if not path.exists:
        fail("%s: there is no such folder" % where)
    if not path.get_child(_MANIFEST).exists:
        fail("%s has no %s: write 'interface: %d' into it" % (where, _MANIFEST, INTERFACE))
    for place in [path] + path.readdir():
        for name in ["BUILD", "BUILD.bazel"]:
            if place.get_child(name).exists:
                fail("%s: remove %s/%s; the targets of rooms are made without it" %
                     (where, place, name))

def _custom_ops_repository_impl(ctx):
    folders = []
    named = {folder: True for folder in ctx.os.environ.get(_VARIABLE, "").split(":")}
    for folder in named:
        if not folder:
            continue
        path = ctx.path(folder) if folder.startswith("/") else None
        _check(folder, path)
        lines = ctx.read(path.get_child(_MANIFEST)).splitlines()
        if "interface: %d" % INTERFACE not in [line.strip() for line in lines]:
            fail("%s: %s/%s: this release needs 'interface: %d'" % (
                _VARIABLE,
                folder,
                _MANIFEST,
                INTERFACE,
            ))

        # So that "mace/ops/<op>/<op>.h" is found here as in the checkout. A link to
        # the folder, not to each room: Bazel notices new rooms.
        own = "folder%d/mace/ops" % len(folders)
        ctx.symlink(path, own)
        folders.append(own)
    ctx.file("BUILD.bazel", _BUILD.format(folders = folders))

custom_ops_repository = repository_rule(
    implementation = _custom_ops_repository_impl,
    doc = "@name//:<op>, @name//:<op>_test and so on of all rooms in the folders.",
    environ = [_VARIABLE],
)
