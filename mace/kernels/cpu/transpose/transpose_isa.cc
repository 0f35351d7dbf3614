// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Moves are bound by memory, so one tile serves every ISA: as many rows as a
// 128-bit register has elements, in one register each.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::transpose::MACE_ISA {

namespace {

constexpr size_t kRegisterBytes = 16;

// Rows of a block: both the rows read and the columns written stay in L1 while
// it is worked through.
constexpr size_t kBlock = 32;

// A square of elements of type T, a row per register.
template <typename T>
struct Tile {
  static constexpr size_t kSide = kRegisterBytes / sizeof(T);
  typedef T Row __attribute__((vector_size(kRegisterBytes)));

  // The first or the last halves of two rows, element by element in turn.
  template <size_t kFrom, size_t... I>
  MACE_SIMD_INLINE Row Zip(Row a, Row b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (kFrom + I / 2 + (I % 2) * kSide)...);
  }

  // Half of a perfect shuffle; log2(kSide) of them transpose the square.
  template <size_t... I>
  MACE_SIMD_INLINE void Round(Row *rows, std::index_sequence<I...>) {
    constexpr auto kLanes = std::make_index_sequence<kSide>();
    const Row next[kSide] = {(
        I % 2 == 0
            ? Zip<0>(rows[I / 2], rows[I / 2 + kSide / 2], kLanes)
            : Zip<kSide / 2>(rows[I / 2], rows[I / 2 + kSide / 2], kLanes))...};
    ((rows[I] = next[I]), ...);
  }

  MACE_SIMD_INLINE void Move(const T *x,
                             size_t x_stride,
                             T *y,
                             size_t y_stride) {
    Row rows[kSide];
    for (size_t r = 0; r < kSide; ++r) {
      __builtin_memcpy(&rows[r], x + r * x_stride, kRegisterBytes);
    }
    for (size_t side = 1; side < kSide; side *= 2) {
      Round(rows, std::make_index_sequence<kSide>());
    }
    for (size_t r = 0; r < kSide; ++r) {
      __builtin_memcpy(y + r * y_stride, &rows[r], kRegisterBytes);
    }
  }
};

template <typename T>
void Block(const T *x,
           size_t x_stride,
           T *y,
           size_t y_stride,
           size_t rows,
           size_t columns) {
  constexpr size_t kSide = Tile<T>::kSide;
  size_t c = 0;
  for (; c + kSide <= columns; c += kSide) {
    size_t r = 0;
    for (; r + kSide <= rows; r += kSide) {
      Tile<T>::Move(x + r * x_stride + c, x_stride, y + c * y_stride + r,
                    y_stride);
    }
    for (; r < rows; ++r) {
      for (size_t k = 0; k < kSide; ++k) {
        y[(c + k) * y_stride + r] = x[r * x_stride + c + k];
      }
    }
  }
  for (; c < columns; ++c) {
    for (size_t r = 0; r < rows; ++r) {
      y[c * y_stride + r] = x[r * x_stride + c];
    }
  }
}

// Matrices of 2, 3 or 4 rows or columns without gaps, as of an image's colours
// or of a channel shuffle: the compiler has instructions for these.
template <size_t kCount, typename T>
void Interleave(const T *__restrict x,
                size_t x_stride,
                T *__restrict y,
                size_t columns) {
  for (size_t c = 0; c < columns; ++c) {
    for (size_t r = 0; r < kCount; ++r) y[c * kCount + r] = x[r * x_stride + c];
  }
}
template <size_t kCount, typename T>
void Deinterleave(const T *__restrict x,
                  T *__restrict y,
                  size_t y_stride,
                  size_t rows) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < kCount; ++c) y[c * y_stride + r] = x[r * kCount + c];
  }
}

// Whether it was such a matrix.
template <size_t kCount, typename T>
MACE_SIMD_INLINE bool MoveNarrow(const T *x,
                                 size_t x_stride,
                                 T *y,
                                 size_t y_stride,
                                 size_t rows,
                                 size_t columns) {
  if (rows == kCount && y_stride == kCount) {
    Interleave<kCount>(x, x_stride, y, columns);
    return true;
  }
  if (columns == kCount && x_stride == kCount) {
    Deinterleave<kCount>(x, y, y_stride, rows);
    return true;
  }
  return false;
}

template <typename T>
void MoveMatrix(const void *x,
                size_t x_stride,
                void *y,
                size_t y_stride,
                size_t rows,
                size_t columns) {
  const T *from = static_cast<const T *>(x);
  T *to = static_cast<T *>(y);
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    if (MoveNarrow<2>(from, x_stride, to, y_stride, rows, columns) ||
        MoveNarrow<3>(from, x_stride, to, y_stride, rows, columns) ||
        MoveNarrow<4>(from, x_stride, to, y_stride, rows, columns)) {
      return;
    }
  }
  for (size_t r = 0; r < rows; r += kBlock) {
    const size_t count = rows - r < kBlock ? rows - r : kBlock;
    Block(from + r * x_stride, x_stride, to + r, y_stride, count, columns);
  }
}

}  // namespace

extern const Kernels kKernels = {MoveMatrix<uint8_t>, MoveMatrix<uint16_t>,
                                 MoveMatrix<uint32_t>, MoveMatrix<uint64_t>};

}  // namespace mace::transpose::MACE_ISA
