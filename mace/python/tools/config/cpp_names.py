# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which model names can be the name of a namespace in generated C++ code."""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# [lex.name] of C++17: of the language's implementation.
_RESERVED = re.compile(r"_|.*__")
# [lex.key] of C++17 plus the alternative tokens and what C++20 adds, so that
# generated code compiles under both.
_KEYWORD_TEXT = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char
    char16_t char32_t char8_t class co_await co_return co_yield compl concept
    const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef
    typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq
"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())
# Macros with small letters, of compilers and of the headers that generated code
# includes. A test asks the compilers for more.
_MACRO_TEXT = """
    L_ctermid L_cuserid L_tmpnam P_tmpdir errno i386 linux sched_priority stderr
    stdin stdout unix
"""
_MACROS = frozenset(_MACRO_TEXT.split())


def cpp_name_problem(name: str) -> str:
    """Why `name` cannot name a namespace, '' if it can."""
    if name in _KEYWORDS:
        return "is a C++ keyword"
    if not _IDENTIFIER.fullmatch(name):
        return 'is not a C++ name (letters, digits and "_", not beginning with a digit)'
    if _RESERVED.match(name):
        return 'begins with "_" or has "__" in it, as names of the C++ system do'
    if name == "std":
        return "is the namespace of the C++ library"
    if name in _MACROS:
        return "is a macro of C++ systems"
    if name.upper() == name:
        return 'is without small letters, as macros are ("EOF")'
    return ""
