# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Repositories made of files that the distribution installs.

Every rule fails with one message that names the package to install, instead
of the missing-header errors that would follow.
"""

def _host_headers_impl(ctx):
    for name in ctx.attr.headers:
        source = ctx.path(ctx.attr.root + "/" + name)
        if not source.exists:
            fail("%s not found; %s" % (source, ctx.attr.hint))

        # Copied, not linked: a link into /usr/include would let a cross
        # compiler see the host's whole include tree through it.
        ctx.execute(["mkdir", "-p", "include"])
        result = ctx.execute(["cp", "-RL", str(source), "include/"])
        if result.return_code:
            fail("cannot copy %s: %s" % (source, result.stderr))
    ctx.file("BUILD.bazel", """\
cc_library(
    name = "%s",
    hdrs = glob(["include/**"]),
    defines = %r,
    includes = %r,
    visibility = ["//visibility:public"],
)
""" % (
        ctx.name,
        ctx.attr.defines,
        ["include"] + ["include/" + name for name in ctx.attr.include_folders],
    ))

host_headers = repository_rule(
    implementation = _host_headers_impl,
    local = True,
    doc = "A header-only library: @name//:name with just the listed headers.",
    attrs = {
        "defines": attr.string_list(doc = "As in cc_library."),
        "headers": attr.string_list(
            mandatory = True,
            doc = "Files or folders below root.",
        ),
        "hint": attr.string(mandatory = True),
        "include_folders": attr.string_list(
            doc = "Those of headers in which headers are looked for, too.",
        ),
        "root": attr.string(default = "/usr/include"),
    },
)

def _host_sources_impl(ctx):
    root = ctx.path(ctx.attr.path)
    if not root.exists:
        fail("%s not found; %s" % (root, ctx.attr.hint))
    for entry in root.readdir():
        if entry.basename not in ["BUILD", "BUILD.bazel", "WORKSPACE"]:
            ctx.symlink(entry, entry.basename)
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

host_sources = repository_rule(
    implementation = _host_sources_impl,
    local = True,
    doc = "A source tree of the distribution with a BUILD file of ours.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "hint": attr.string(mandatory = True),
        "path": attr.string(mandatory = True),
    },
)

def _host_path_impl(ctx):
    if not ctx.path(ctx.attr.path).exists:
        fail("%s not found; %s" % (ctx.attr.path, ctx.attr.hint))
    ctx.file("BUILD.bazel", """\
filegroup(
    name = "files",
    visibility = ["//visibility:public"],
)
""")

host_path = repository_rule(
    implementation = _host_path_impl,
    local = True,
    doc = "Checks that a path exists when (and only when) a target needs it.",
    attrs = {
        "hint": attr.string(mandatory = True),
        "path": attr.string(mandatory = True),
    },
)
