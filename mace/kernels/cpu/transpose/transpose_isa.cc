// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A tile has as many columns as 128 bits have elements, and as many rows as a
// register has elements: each 128-bit lane is a separate square, which every
// ISA can transpose with shuffles. Two lanes halve the number of stores. Four
// write whole cache lines: 12 to 18 % less time on Sapphire Rapids, none on
// Zen 4.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::transpose::MACE_ISA {

namespace {

constexpr size_t kLaneBytes = 16;
constexpr size_t kVectorBytes = sizeof(simd::MACE_ISA::V);
constexpr size_t kMostLanes = kVectorBytes / kLaneBytes;

// Rows of a block: both the rows that are read and the columns that are written
// stay in L1 for the whole block.
constexpr size_t kBlock = 32;

template <typename T, size_t kLanes>
struct Tile {
  static constexpr size_t kColumns = kLaneBytes / sizeof(T);
  static constexpr size_t kRows = kColumns * kLanes;
  typedef T Row __attribute__((vector_size(kLaneBytes * kLanes)));

  // Interleaves the first or the last halves of two registers, lane by lane.
  template <size_t kFrom, size_t... I>
  MACE_SIMD_INLINE Row Zip(Row a, Row b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b,
                                   (I / kColumns * kColumns + kFrom +
                                    I % kColumns / 2 + (I % 2) * kRows)...);
  }

  // Half of a perfect shuffle; log2(kColumns) of them transpose the squares.
  template <size_t... I>
  MACE_SIMD_INLINE void Round(Row *rows, std::index_sequence<I...>) {
    constexpr auto kElements = std::make_index_sequence<kRows>();
    constexpr size_t kHalf = kColumns / 2;
    const Row next[kColumns] = {
        (I % 2 == 0
             ? Zip<0>(rows[I / 2], rows[I / 2 + kHalf], kElements)
             : Zip<kHalf>(rows[I / 2], rows[I / 2 + kHalf], kElements))...};
    ((rows[I] = next[I]), ...);
  }

  template <bool kToMemory = false>
  MACE_SIMD_INLINE void Move(const T *x,
                             size_t x_stride,
                             T *y,
                             size_t y_stride) {
    Row rows[kColumns];
    for (size_t r = 0; r < kRows; ++r) {
      char *lane = reinterpret_cast<char *>(&rows[r % kColumns]) +
                   r / kColumns * kLaneBytes;
      __builtin_memcpy(lane, x + r * x_stride, kLaneBytes);
    }
    for (size_t side = 1; side < kColumns; side *= 2) {
      Round(rows, std::make_index_sequence<kColumns>());
    }
    for (size_t c = 0; c < kColumns; ++c) {
      if constexpr (kToMemory) {
        __builtin_nontemporal_store(rows[c],
                                    reinterpret_cast<Row *>(y + c * y_stride));
      } else {
        __builtin_memcpy(y + c * y_stride, &rows[c], sizeof(Row));
      }
    }
  }
};

// Transposes as many rows from r on as fill tiles of kLanes lanes or fewer;
// returns the first remaining row.
template <typename T, size_t kLanes>
MACE_SIMD_INLINE size_t MoveTiles(
    const T *x, size_t x_stride, T *y, size_t y_stride, size_t r, size_t rows) {
  constexpr size_t kRows = Tile<T, kLanes>::kRows;
  for (; r + kRows <= rows; r += kRows) {
    Tile<T, kLanes>::Move(x + r * x_stride, x_stride, y + r, y_stride);
  }
  if constexpr (kLanes > 1) {
    r = MoveTiles<T, kLanes / 2>(x, x_stride, y, y_stride, r, rows);
  }
  return r;
}

template <typename T>
void Block(const T *x,
           size_t x_stride,
           T *y,
           size_t y_stride,
           size_t rows,
           size_t columns) {
  constexpr size_t kColumns = Tile<T, 1>::kColumns;
  size_t c = 0;
  for (; c + kColumns <= columns; c += kColumns) {
    T *to = y + c * y_stride;
    size_t r = MoveTiles<T, kMostLanes>(x + c, x_stride, to, y_stride, 0, rows);
    for (; r < rows; ++r) {
      for (size_t k = 0; k < kColumns; ++k) {
        to[k * y_stride + r] = x[r * x_stride + c + k];
      }
    }
  }
  for (; c < columns; ++c) {
    for (size_t r = 0; r < rows; ++r) {
      y[c * y_stride + r] = x[r * x_stride + c];
    }
  }
}

// Matrices with 2, 3 or 4 rows or columns and no gaps, as for an image's
// colours or a channel shuffle: the compiler has instructions for these.
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

// Returns whether it was such a matrix.
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

#if defined(__x86_64__) || defined(__i386__)

// Rows of a cache line, which is written as a whole: the columns of a block are
// too far apart for the processor to fetch their lines ahead. Measured on Zen 4
// with 200704 rows and 32 columns: 2.6 ms instead of 9.1.
constexpr size_t kLine = 64;

void MoveToMemory(const void *x,
                  size_t x_stride,
                  void *y,
                  size_t y_stride,
                  size_t rows,
                  size_t columns) {
  using Tile = Tile<uint32_t, kMostLanes>;
  constexpr size_t kLineRows = kLine / sizeof(uint32_t);
  const size_t place =
      reinterpret_cast<size_t>(y) | y_stride * sizeof(uint32_t);
  if (place % kLine != 0) {
    MoveMatrix<uint32_t>(x, x_stride, y, y_stride, rows, columns);
    return;
  }
  const auto *from = static_cast<const uint32_t *>(x);
  auto *to = static_cast<uint32_t *>(y);
  const size_t whole_rows = rows / kLineRows * kLineRows;
  const size_t whole_columns = columns / Tile::kColumns * Tile::kColumns;
  for (size_t r = 0; r < whole_rows; r += kLineRows) {
    for (size_t c = 0; c < whole_columns; c += Tile::kColumns) {
      for (size_t i = r; i < r + kLineRows; i += Tile::kRows) {
        Tile::template Move<true>(from + i * x_stride + c, x_stride,
                                  to + c * y_stride + i, y_stride);
      }
    }
  }
  if (whole_columns < columns) {
    MoveMatrix<uint32_t>(from + whole_columns, x_stride,
                         to + whole_columns * y_stride, y_stride, whole_rows,
                         columns - whole_columns);
  }
  if (whole_rows < rows) {
    MoveMatrix<uint32_t>(from + whole_rows * x_stride, x_stride,
                         to + whole_rows, y_stride, rows - whole_rows, columns);
  }
  // Other stores, by which another thread learns of these, come after them.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
constexpr Matrix kToMemory = &MoveToMemory;

#else
constexpr Matrix kToMemory = nullptr;
#endif

}  // namespace

extern const Kernels kKernels = {MoveMatrix<uint8_t>, MoveMatrix<uint16_t>,
                                 MoveMatrix<uint32_t>, MoveMatrix<uint64_t>,
                                 kToMemory};

}  // namespace mace::transpose::MACE_ISA
