// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/moves.h"

namespace mace::hexagon {
namespace {

constexpr int kWord = 4;
constexpr int kDouble = 8;
// Fewer bytes at multiples of 8 take fewer packets without vectors.
constexpr int kMostDoubles = 64;
// Fewer bytes at any address do.
constexpr int kFewBytes = 8;

// Of any type's memory.
using Double = int64_t __attribute__((may_alias));
using Word = int32_t __attribute__((may_alias));

bool AreAligned(uintptr_t bits, int bytes) {
  return (bits & static_cast<uintptr_t>(bytes - 1)) == 0;
}
uintptr_t Address(const void *p) { return reinterpret_cast<uintptr_t>(p); }

// How the bytes of a pixel are copied.
enum class Way { kBytes, kDoubles, kVectors };

// `bits`: all addresses and steps.
Way WayFor(uintptr_t bits, int bytes) {
  const bool aligned =
      AreAligned(bits | static_cast<uintptr_t>(bytes), kDouble);
  if (aligned && bytes <= kMostDoubles) return Way::kDoubles;
  return bytes < kFewBytes ? Way::kBytes : Way::kVectors;
}

__attribute__((always_inline)) inline void CopyBytes(const int8_t *x,
                                                     int8_t *y,
                                                     int bytes) {
  for (int i = 0; i < bytes; ++i) y[i] = x[i];
}
__attribute__((always_inline)) inline void CopyDoubles(const int8_t *x,
                                                       int8_t *y,
                                                       int bytes) {
  for (int i = 0; i < bytes; i += kDouble) {
    *reinterpret_cast<Double *>(y + i) =
        *reinterpret_cast<const Double *>(x + i);
  }
}
__attribute__((always_inline)) inline void CopyVectors(const int8_t *x,
                                                       int8_t *y,
                                                       int bytes) {
  ForVectors(bytes, y, [&](int i) { return LoadUnaligned(x + i); });
}

// from(p): where pixel p is.
template <typename From>
__attribute__((always_inline)) inline void Copy(
    Way way, const From &from, int8_t *y, int y_step, int bytes, int pixels) {
  switch (way) {
    case Way::kBytes:
      for (int p = 0; p < pixels; ++p)
        CopyBytes(from(p), y + p * y_step, bytes);
      break;
    case Way::kDoubles:
      for (int p = 0; p < pixels; ++p) {
        CopyDoubles(from(p), y + p * y_step, bytes);
      }
      break;
    case Way::kVectors:
      for (int p = 0; p < pixels; ++p) {
        CopyVectors(from(p), y + p * y_step, bytes);
      }
      break;
  }
}

// The words of 4 rows that begin at x: 128 columns.
void TransposeRows(const int8_t *x, int x_step, Vector *words) {
  const Pair low =
      Q6_W_vshuff_VVR(LoadUnaligned(x + x_step), LoadUnaligned(x), -1);
  const Pair high = Q6_W_vshuff_VVR(LoadUnaligned(x + 3 * x_step),
                                    LoadUnaligned(x + 2 * x_step), -1);
  const Pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -2);
  const Pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -2);
  words[0] = Q6_V_lo_W(first);
  words[1] = Q6_V_hi_W(first);
  words[2] = Q6_V_lo_W(second);
  words[3] = Q6_V_hi_W(second);
}

}  // namespace

void CopyPixels(
    const int8_t *x, int x_step, int8_t *y, int y_step, int bytes, int pixels) {
  if (x_step == bytes && y_step == bytes) {
    bytes *= pixels;
    pixels = 1;
  }
  const Way way = WayFor(
      Address(x) | Address(y) | static_cast<uintptr_t>(x_step | y_step), bytes);
  Copy(way, [&](int p) { return x + p * x_step; }, y, y_step, bytes, pixels);
}

void GatherPixels(const int8_t *x,
                  const int32_t *offsets,
                  int8_t *y,
                  int y_step,
                  int bytes,
                  int pixels) {
  uintptr_t bits = Address(x) | Address(y) | static_cast<uintptr_t>(y_step);
  for (int p = 0; p < pixels; ++p) bits |= static_cast<uintptr_t>(offsets[p]);
  Copy(
      WayFor(bits, bytes), [&](int p) { return x + offsets[p]; }, y, y_step,
      bytes, pixels);
}

void FillPixels(int8_t byte, int8_t *y, int y_step, int bytes, int pixels) {
  const Vector value = Q6_Vb_vsplat_R(byte);
  if (y_step == bytes) {
    bytes *= pixels;
    pixels = 1;
  }
  for (int p = 0; p < pixels; ++p) {
    ForVectors(bytes, y + p * y_step, [&](int) { return value; });
  }
}

void SpreadPixels(
    const int8_t *x, int x_step, int8_t *y, int y_step, int bytes, int pixels) {
  for (int p = 0; p < pixels; ++p) {
    const Vector value = Q6_Vb_vsplat_R(x[p * x_step]);
    ForVectors(bytes, y + p * y_step, [&](int) { return value; });
  }
}

void TransposeBytes(
    const int8_t *x, int x_step, int rows, int columns, int8_t *y, int y_step) {
  int r = 0;
  // Columns of 4 bytes.
  const bool aligned =
      AreAligned(Address(y) | static_cast<uintptr_t>(y_step), kWord);
  for (; aligned && r + kWord <= rows; r += kWord) {
    for (int c = 0; c < columns; c += kVectorBytes) {
      Vector words[kWord];
      TransposeRows(x + r * x_step + c, x_step, words);
      const auto *word = reinterpret_cast<const Word *>(words);
      const int left = columns - c;
      const int some = left < kVectorBytes ? left : kVectorBytes;
      int8_t *to = y + c * y_step + r;
      for (int i = 0; i < some; ++i, to += y_step) {
        *reinterpret_cast<Word *>(to) = word[i];
      }
    }
  }
  for (; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) y[c * y_step + r] = x[r * x_step + c];
  }
}

}  // namespace mace::hexagon
