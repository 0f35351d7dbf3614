# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""The library as one object, which libmace.a and libmace.so are made of."""

load("@mace_clang//:paths.bzl", "CLANG_TOOLS")

# --whole-archive keeps the operators, which only their own static
# registrations refer to. --force-group-allocation dissolves section groups:
# a group of ours that an application has too would be dropped by its linker,
# and with it code that is no longer visible under that name.
_MERGE = """\
set -eu
{lld} -r --whole-archive --force-group-allocation -o "$1.merged" @"$2"
{objcopy} --localize-hidden "$1.merged" "$1"
rm "$1.merged"
"""

def _archives(ctx):
    """The static libraries below deps."""
    archives = []
    for dep in ctx.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linker_input.libraries:
                archive = library.pic_static_library or library.static_library
                if not archive:
                    fail("%s: no static library" % linker_input.owner)
                archives.append(archive)
    return archives

def _merged_object_impl(ctx):
    libraries = _archives(ctx)
    output = ctx.actions.declare_file(ctx.label.name + ".pic.o")
    parameters = ctx.actions.declare_file(ctx.label.name + ".params")
    ctx.actions.write(parameters, "".join([
        archive.path + "\n"
        for archive in libraries
    ]))
    ctx.actions.run_shell(
        outputs = [output],
        inputs = libraries + [parameters],
        arguments = [output.path, parameters.path],
        command = _MERGE.format(
            lld = CLANG_TOOLS["ld.lld"],
            objcopy = CLANG_TOOLS["llvm-objcopy"],
        ),
        mnemonic = "MergeObjects",
        progress_message = "Merging %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]))]

merged_object = rule(
    implementation = _merged_object_impl,
    doc = """One relocatable object of all libraries below deps.

Hidden symbols become local to it: an application cannot clash with them.""",
    attrs = {"deps": attr.label_list(mandatory = True, providers = [CcInfo])},
)

def _merged_archive_impl(ctx):
    # By the ending Bazel knows that all of it is to be linked.
    output = ctx.actions.declare_file(ctx.label.name + ".lo")
    libraries = _archives(ctx)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(script, "\n".join(
        ["create " + output.path] +
        ["addlib " + archive.path for archive in libraries] +
        ["save", "end", ""],
    ))
    ctx.actions.run_shell(
        outputs = [output],
        inputs = libraries + [script],
        arguments = [script.path],
        command = CLANG_TOOLS["llvm-ar"] + ' -M < "$1"',
        mnemonic = "MergeArchives",
        progress_message = "Merging %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]))]

merged_archive = rule(
    implementation = _merged_archive_impl,
    doc = """One archive of all objects below deps, all of which are linked.

Unlike those of a merged_object they can still be optimised together.""",
    attrs = {"deps": attr.label_list(mandatory = True, providers = [CcInfo])},
)

def _object_archive_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run(
        outputs = [output],
        inputs = ctx.files.object,
        executable = CLANG_TOOLS["llvm-ar"],
        arguments = ["rcsD", output.path] + [f.path for f in ctx.files.object],
        mnemonic = "Archive",
        progress_message = "Archiving %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]))]

object_archive = rule(
    implementation = _object_archive_impl,
    doc = "An archive of one object; the name of the target is that of the file.",
    attrs = {"object": attr.label(mandatory = True)},
)
