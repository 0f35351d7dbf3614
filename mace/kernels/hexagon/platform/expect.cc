// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/platform/expect.h"

#include "mace/kernels/hexagon/platform/emulated.h"

namespace mace::hexagon {
namespace {

constexpr int kMostShown = 20;
constexpr int kError = 2;

int g_compared = 0;
int g_different = 0;

void Print(const char *text) {
  size_t size = 0;
  while (text[size] != 0) ++size;
  emulated::Write(kError, text, size);
}

void PrintNumber(int64_t number) {
  char text[24];
  char *first = text + sizeof(text) - 1;
  *first = 0;
  const auto bits = static_cast<uint64_t>(number);
  uint64_t rest = number < 0 ? 0 - bits : bits;
  do {
    *--first = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--first = '-';
  Print(first);
}

}  // namespace

void Expect(int64_t found, int64_t wanted, const char *file, int line) {
  ++g_compared;
  if (found == wanted) return;
  if (++g_different > kMostShown) return;
  Print(file);
  Print(":");
  PrintNumber(line);
  Print(": ");
  PrintNumber(found);
  Print(" instead of ");
  PrintNumber(wanted);
  Print("\n");
}

int Finish() {
  PrintNumber(g_compared);
  Print(" compared, ");
  PrintNumber(g_different);
  Print(" different\n");
  return g_different == 0 && g_compared != 0 ? 0 : 1;
}

}  // namespace mace::hexagon
