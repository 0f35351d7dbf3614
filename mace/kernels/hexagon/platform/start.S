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

// Takes flags, end of the stack, function, argument, and the word to clear.
// The kernel wants flags, stack, where the parent gets the number of the thread, the word, and
// the thread's own memory; the new thread has all registers of the old one but the stack.
  .globl mace_hexagon_clone
  .type mace_hexagon_clone, @function
mace_hexagon_clone:
  r8 = r2
  r9 = r3
  r2 = #0
  r3 = r4
  r4 = #0
  r6 = #220
  trap0(#1)
  p0 = cmp.eq(r0, #0)
  if (!p0) jumpr r31
  r0 = r9
  callr r8
  r0 = #0
  r6 = #93
  trap0(#1)
  .size mace_hexagon_clone, . - mace_hexagon_clone
