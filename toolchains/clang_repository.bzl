# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Finds the one LLVM that builds MACE for every target."""

def _clang_repository_impl(ctx):
    version = ctx.attr.version
    paths = {}
    missing = []
    for tool in ["clang", "ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy", "llvm-objdump", "llvm-strip", "llvm-cov", "llvm-dwp"]:
        found = ctx.which("%s-%s" % (tool, version))
        if found:
            paths[tool] = str(found)
        else:
            missing.append("%s-%s" % (tool, version))
    if missing:
        fail("not on PATH: %s; MACE is built with LLVM %s (packages clang-%s lld-%s llvm-%s): run 'bash tools/setup.sh'" %
             (", ".join(missing), version, version, version, version))
    result = ctx.execute([paths["clang"], "-print-resource-dir"])
    if result.return_code:
        fail("%s -print-resource-dir: %s" % (paths["clang"], result.stderr))
    resource = result.stdout.strip()

    # With -no-canonical-prefixes clang names its own headers through the
    # path it was started by, so both spellings count as built in.
    includes = [
        resource,
        "/usr/lib/clang/" + version,
        "/usr/lib/llvm-%s/lib/clang/%s" % (version, version),
    ]

    # The driver for Hexagon knows lld by the name alone that it has in LLVM's folder.
    plain_lld = ctx.path(resource).dirname.dirname.dirname.get_child("bin").get_child("ld.lld")
    ctx.file("BUILD.bazel", "")
    ctx.file("paths.bzl", """\
CLANG_VERSION = %r
CLANG_TOOLS = %r
CLANG_BUILTIN_INCLUDES = %r
PLAIN_LLD = %r
""" % (
        version,
        paths,
        includes,
        str(plain_lld) if plain_lld.exists else paths["ld.lld"],
    ))

clang_repository = repository_rule(
    implementation = _clang_repository_impl,
    local = True,
    environ = ["PATH"],
    doc = "@name//:paths.bzl with the tools of one LLVM version.",
    attrs = {"version": attr.string(mandatory = True)},
)
