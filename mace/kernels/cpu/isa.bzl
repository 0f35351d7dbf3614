# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""One kernel source, compiled once per instruction set.

Every source of a mace_isa_library is compiled with the flags of each ISA of
the target CPU and with
    MACE_ISA=<isa>        the namespace token: namespace mace::MACE_ISA
    MACE_ISA_<ISA>=1      for the preprocessor, in simd*.h alone
so it must define everything inside namespace MACE_ISA. Which table is used is
decided at run time (isa.h), so nothing outside that namespace may be compiled
with these flags: an inline function shared with the rest of the program could
be linked in its AVX-512 form and then run on a CPU without it. The test
<name>_symbols_test proves that no such symbol is left in the objects.
"""

load("@mace_clang//:paths.bzl", "CLANG_TOOLS")
load("@mace_host_cpu//:isas.bzl", "HAS_AVX2")
load("//mace:mace.bzl", "MACE_KERNEL_COPTS", "MACE_KERNEL_FEATURES", "mace_kernel_library")
load("//mace:precompiled.bzl", "PRECOMPILED_COPTS", "precompiled_headers")

_X86 = {
    "avx2": [
        "-mavx2",
        "-mfma",
        "-mf16c",
        # A hint: processors without it ignore it (Intel before Broadwell).
        "-mprfchw",
    ],
    "avx512": [
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mfma",
        "-mf16c",
        "-mprfchw",
        "-mprefer-vector-width=512",
    ],
    # Of processors so old that the size of all their kernels counts for more than a
    # per cent of time: loops are unrolled where the source says so, and nowhere else.
    "sse41": [
        "-msse4.1",
        "-fno-unroll-loops",
    ],
}

# Both ARM architectures call their one ISA "neon".
_ARM64 = {"neon": []}

_ARM32 = {"neon": ["-mfpu=neon-vfpv4"]}

# The one that //mace/kernels/cpu:one_isa leaves.
_ONE_ISA = "avx2" if HAS_AVX2 else "sse41"

# Setting -> name of the CPU, its ISAs, and whether it has extensions.
_CPUS = {
    "//mace/kernels/cpu:one_isa_x86_64": ("x86_64", {_ONE_ISA: _X86[_ONE_ISA]}, False),
    "//toolchains:arm32": ("arm32", _ARM32, True),
    "//toolchains:arm64": ("arm64", _ARM64, True),
    "//toolchains:x86_64": ("x86_64", _X86, True),
}

# Names of precompiled headers of a CPU for an ISA.
_HEADERS = "headers_%s_%s"

def _one_isa_impl(_ctx):
    return []

one_isa = rule(
    implementation = _one_isa_impl,
    build_setting = config.bool(flag = True),
    doc = """On x86-64, compiles kernels for AVX2 alone, or SSE4.1 on computers without it.

For tests under sanitizers: a kernel takes long to compile there, and each instruction
set runs the same lines.""",
)

# Defines for the library with isa.h: the kernels to leave out (see isa.h).
ONE_ISA_DEFINES = select({
    "//conditions:default": [],
    "//mace/kernels/cpu:one_isa_x86_64": ["MACE_ONLY_" + _ONE_ISA.upper()],
})

_AVX512_BF16 = _X86["avx512"] + ["-mavx512bf16"]

# Instructions on top of an ISA that only some families use: extension -> CPU ->
# its names and flags. isa.h lists the same names.
_EXTENSIONS = {
    "bf16": {
        "x86_64": {"avx512_bf16": _AVX512_BF16},
    },
    "int8": {
        "arm64": {"neon_dotprod": ["-march=armv8.2-a+dotprod"]},
        "x86_64": {
            "avx2_vnni": _X86["avx2"] + ["-mavxvnni"],
            "avx512_vnni": _X86["avx512"] + ["-mavx512vnni"],
        },
    },
    "amx": {
        "x86_64": {"amx_bf16": _AVX512_BF16 + ["-mamx-tile", "-mamx-bf16"]},
    },
    # In no table of isa.h.
    "amx_emulated": {
        "x86_64": {"amx_emulated": _AVX512_BF16},
    },
    "fp16": {
        "arm64": {"neon_fp16": ["-march=armv8.2-a+fp16"]},
    },
}

# Not an extension, but bases only: without instructions for dot products of int8, and
# without those that run kernels of others for them (MACE_FOR_EACH_NO_DOTS_ISA in isa.h).
_NO_DOTS = "no_dots"
_RUNS_OTHERS = ["avx512"]

# The types of images that a source is compiled for besides float, and what
# tells it so (simd_element.h). Each is an extension as well.
_ELEMENTS = {
    "bf16": "-DMACE_ELEMENT_BF16",
    "fp16": "-DMACE_ELEMENT_F16",
}

def _copts(isa, flags):
    """Flags of every kernel for an ISA."""
    return MACE_KERNEL_COPTS + flags + [
        "-DMACE_ISA=" + isa,
        "-DMACE_ISA_%s=1" % isa.upper(),
    ]

def _features(checked):
    """Features of kernels; `checked`: whether sanitizers look at their addresses."""
    return MACE_KERNEL_FEATURES + ([] if checked else ["addresses_checked_elsewhere"])

def _isas(extension, cpu, isas, has_extensions):
    """The ISAs of a CPU for a value of _CPUS: name -> flags, and which are checked."""
    if extension == _NO_DOTS:
        isas = {isa: flags for isa, flags in isas.items() if isa not in _RUNS_OTHERS}
    elif extension != None:
        isas = _EXTENSIONS[extension].get(cpu, {}) if has_extensions else {}

    # The instructions of an extension are not in every computer.
    return isas, isas.keys()[:1] if extension in [None, _NO_DOTS] else isas.keys()

def isa_headers(includes, deps):
    """Headers of kernels, precompiled for each ISA: most of them are the compiler's own,
    with its intrinsics, and take it longer to read than most kernels to compile.

    Args:
      includes: the headers, as sources include them.
      deps: libraries that have them.
    """
    made = {}
    for cpu, isas, has_extensions in _CPUS.values():
        for extension in [None] + _EXTENSIONS.keys():
            found, checked = _isas(extension, cpu, isas, has_extensions)
            for isa, flags in found.items():
                name = _HEADERS % (cpu, isa)
                if name in made:
                    continue
                made[name] = True
                precompiled_headers(
                    name = name,
                    copts = _copts(isa, flags),
                    features = _features(isa in checked),
                    includes = includes,
                    # Built only where kernels are.
                    tags = ["manual"],
                    deps = deps,
                )

# The first argument of MACE_FIND_TABLE (isa_table.h) for an extension.
_COPIES = {
    None: "BASE",
    "bf16": "BF16",
    "fp16": "FP16",
    _NO_DOTS: "NO_DOTS",
}

_FINDER = """\
// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
// Generated: `tables` of {target}.

{includes}
#include "mace/kernels/cpu/isa_table.h"

namespace mace::{family} {{

{finders}
}}  // namespace mace::{family}
"""

_FIND = """\
MACE_DECLARE_TABLES({copies}, {table}, k{table})

const {table} *{prefix}{table}For(CpuIsa isa) {{
  return MACE_FIND_TABLE({copies}, isa, k{table});
}}
"""

def _table_finder_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.write(source, _FINDER.format(
        family = ctx.files.hdrs[0].dirname.split("/")[-1],
        finders = "\n".join([
            _FIND.format(copies = ctx.attr.copies, prefix = ctx.attr.prefix, table = table)
            for table in ctx.attr.tables
        ]),
        includes = "\n".join([
            "#include \"%s\"" % header.short_path
            for header in ctx.files.hdrs
        ]),
        target = ctx.label,
    ))
    return [DefaultInfo(files = depset([source]))]

_table_finder = rule(
    implementation = _table_finder_impl,
    doc = "The source with the functions that find tables of a family.",
    attrs = {
        "copies": attr.string(mandatory = True),
        "hdrs": attr.label_list(allow_files = True),
        "prefix": attr.string(),
        "tables": attr.string_list(mandatory = True),
    },
)

def mace_isa_library(name, srcs, hdrs = [], deps = [], copts = [], extension = None, visibility = None, testonly = False, finder = {}):
    """A kernel family: srcs once per ISA of the target, hdrs once.

    With `extension`, once per ISA that has it instead; none on CPUs without.

    Args:
      name: of the library to depend on.
      srcs: sources (and private headers) in namespace MACE_ISA.
      hdrs: public headers: declarations of the tables, no inline code.
      deps: what the sources include.
      copts: further flags.
      extension: a key of _EXTENSIONS, "no_dots" or None.
      visibility: as in cc_library.
      testonly: as in cc_library.
      finder: sources that are compiled once, and their copts and features.
    """
    libraries = {}
    made = {}
    for setting, (cpu, isas, has_extensions) in _CPUS.items():
        libraries[setting] = []
        found, checked = _isas(extension, cpu, isas, has_extensions)
        for isa, flags in found.items():
            library = "%s_%s_%s" % (name, cpu, isa)
            libraries[setting].append(":" + library)
            if library in made:
                continue
            made[library] = True
            headers = "//mace/kernels/cpu:" + _HEADERS % (cpu, isa)
            native.cc_library(
                name = library,
                testonly = testonly,
                srcs = srcs + hdrs,
                copts = _copts(isa, flags) + copts + PRECOMPILED_COPTS,
                features = _features(isa in checked),
                # Built only as a part of the library below.
                tags = ["manual"],
                toolchains = [headers],
                visibility = ["//visibility:private"],
                deps = deps + [headers],
            )
    native.filegroup(
        name = name + "_objects",
        testonly = testonly,
        srcs = select(libraries),
        visibility = ["//visibility:private"],
    )
    native.sh_test(
        name = name + "_symbols_test",
        size = "small",
        srcs = ["//toolchains:isa_symbols_test.sh"],
        args = [
            CLANG_TOOLS["llvm-nm"],
            "$(rootpaths :%s_objects)" % name,
        ],
        data = [":%s_objects" % name],
        # Without optimisation inline functions of headers are emitted.
        tags = ["opt_only"],
        target_compatible_with = select({
            setting: [] if libraries[setting] else ["//toolchains:nowhere"]
            for setting in libraries
        }),
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        testonly = testonly,
        hdrs = hdrs,
        visibility = visibility,
        deps = deps + select(libraries),
        **finder
    )

def mace_isa_kernels(name, srcs, hdrs, tables = [], elements = [], copts = [], extension = None, testonly = False, deps = []):
    """The kernels of a family, which its library links.

    For a type `Kernels` in `tables`, the sources define the constant kKernels in
    namespace MACE_ISA, and `hdrs` declare, in the namespace that is called like the
    folder of the first of them, what this defines:

        const Kernels *KernelsFor(CpuIsa isa);

    The function for images of an element is called Fp16KernelsFor or Bf16KernelsFor.
    A family that has to do more to choose a table does so by isa_table.h.

    Args:
      name: <family>_isa.
      srcs: sources (and private headers) in namespace MACE_ISA.
      hdrs: public headers: declarations of the tables, no inline code.
      tables: types of tables; not for an extension of which other ISAs have a copy too.
      elements: keys of _ELEMENTS: <family>_<element>_isa has the same sources
        for images of that type.
      copts: further flags.
      extension: a key of _EXTENSIONS, "no_dots" or None.
      testonly: as in cc_library.
      deps: what the sources include besides isa.h and simd.h.
    """
    variants = [(name, extension, copts)]
    for element in elements:
        variant = "%s_%s_isa" % (name[:-len("_isa")], element)
        variants.append((variant, element, copts + [_ELEMENTS[element]]))
    for variant, variant_extension, variant_copts in variants:
        finder = {}
        if tables:
            _table_finder(
                name = variant + "_tables",
                copies = _COPIES[variant_extension],
                hdrs = hdrs,
                prefix = "" if variant == name else variant_extension.capitalize(),
                tables = tables,
                visibility = ["//visibility:private"],
            )
            finder = dict(
                copts = MACE_KERNEL_COPTS,
                features = MACE_KERNEL_FEATURES,
                srcs = [":%s_tables" % variant],
            )
        mace_isa_library(
            name = variant,
            testonly = testonly,
            srcs = srcs,
            hdrs = hdrs,
            copts = variant_copts,
            extension = variant_extension,
            visibility = ["//visibility:private"],
            finder = finder,
            deps = deps + [
                "//mace/kernels/cpu:isa",
                "//mace/kernels/cpu:simd",
            ],
        )

def mace_kernel_family(name, folder = None, srcs = [], hdrs = [], tables = ["Kernels"], deps = [], extensions = []):
    """The library of a family that is a header and one source of kernels: <name>.h and
    <name>_isa.cc in a folder without a BUILD file.

    Args:
      name: of the library.
      folder: in this package; called like the library if it is not given.
      srcs: sources in the folder besides, for no instruction set.
      hdrs: their headers.
      tables: as in mace_isa_kernels.
      deps: what the header and the kernels include.
      extensions: kernels for further instructions, which the library links, too.
    """
    folder = (folder or name) + "/"
    header = folder + name + ".h"
    mace_isa_kernels(
        name = name + "_isa",
        srcs = [folder + name + "_isa.cc"],
        hdrs = [header],
        deps = deps,
        tables = tables,
    )
    mace_kernel_library(
        name = name,
        srcs = [folder + source for source in srcs],
        hdrs = [header] + [folder + other for other in hdrs],
        deps = deps + extensions + [
            ":%s_isa" % name,
            "//mace/kernels/cpu:isa",
        ],
    )
