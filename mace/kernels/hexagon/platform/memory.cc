// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/platform/memory.h"

#include <stdint.h>

namespace {

// Of any type's memory.
using Word = uint64_t __attribute__((may_alias));

bool AreAligned(const void *a, const void *b) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) &
          (sizeof(Word) - 1)) == 0;
}

// From the first byte to the last: right also if `to` begins in front of
// `from`.
void CopyForwards(void *to, const void *from, size_t size) {
  auto *t = static_cast<char *>(to);
  const auto *f = static_cast<const char *>(from);
  if (AreAligned(to, from)) {
    for (; size >= sizeof(Word); size -= sizeof(Word)) {
      *reinterpret_cast<Word *>(t) = *reinterpret_cast<const Word *>(f);
      t += sizeof(Word);
      f += sizeof(Word);
    }
  }
  while (size-- > 0) *t++ = *f++;
}

void CopyBackwards(void *to, const void *from, size_t size) {
  auto *t = static_cast<char *>(to) + size;
  const auto *f = static_cast<const char *>(from) + size;
  if (AreAligned(t, f)) {
    for (; size >= sizeof(Word); size -= sizeof(Word)) {
      t -= sizeof(Word);
      f -= sizeof(Word);
      *reinterpret_cast<Word *>(t) = *reinterpret_cast<const Word *>(f);
    }
  }
  while (size-- > 0) *--t = *--f;
}

}  // namespace

extern "C" {

void *memcpy(void *to, const void *from, size_t size) {
  CopyForwards(to, from, size);
  return to;
}

// What the compiler calls if it knows that both are multiples of 8.
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to,
                                                            const void *from,
                                                            size_t size) {
  return memcpy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size) {
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) <
      size) {
    CopyBackwards(to, from, size);
  } else {
    CopyForwards(to, from, size);
  }
  return to;
}

void *memset(void *to, int byte, size_t size) {
  auto *t = static_cast<char *>(to);
  if (AreAligned(to, to)) {
    const Word word = 0x0101010101010101u * static_cast<uint8_t>(byte);
    for (; size >= sizeof(Word); size -= sizeof(Word)) {
      *reinterpret_cast<Word *>(t) = word;
      t += sizeof(Word);
    }
  }
  while (size-- > 0) *t++ = static_cast<char>(byte);
  return to;
}

int memcmp(const void *a, const void *b, size_t size) {
  const auto *x = static_cast<const uint8_t *>(a);
  const auto *y = static_cast<const uint8_t *>(b);
  for (; size > 0; --size, ++x, ++y) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}
}
