// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the kernel starts a program: number of arguments and arguments lie on the stack,
// which vectors want aligned to their size.

  .text
  .globl _start
  .type _start, @function
_start:
  r0 = r29
  r29 = and(r29, #-128)
  call mace_hexagon_main
  .size _start, . - _start
