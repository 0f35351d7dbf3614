// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The eight tile registers of AMX, by number. Included only by amx_gemm_isa.cc,
// which is compiled a second time with MACE_AMX_EMULATED for tests on
// processors without AMX.
//
//   sums    [rows][16] of float
//   left    [rows][depth] of bf16
//   right   [depth / 2][16][2] of bf16: a panel of kBf16Pairs
//
// Configure defines the shapes of the registers and sets all of them to 0.

#ifndef MACE_KERNELS_CPU_GEMM_AMX_TILE_H_
#define MACE_KERNELS_CPU_GEMM_AMX_TILE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

namespace sv = simd::MACE_ISA;

inline constexpr size_t kTileRows = 16;
inline constexpr size_t kTileDepth = 32;
inline constexpr int kTileCount = 8;

// The layout that the instruction LDTILECFG reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

#ifndef MACE_AMX_EMULATED

MACE_SIMD_INLINE void Configure(const TileConfig &config) {
  _tile_loadconfig(&config);
}
// Leaves the registers in their initial state, so that the operating system
// need not save them when it switches threads.
MACE_SIMD_INLINE void ReleaseTiles() { _tile_release(); }
template <int kTile>
MACE_SIMD_INLINE void ClearTile() {
  _tile_zero(kTile);
}
// `stride`: bytes from row to row.
template <int kTile>
MACE_SIMD_INLINE void LoadTile(const void *from, ptrdiff_t stride) {
  _tile_loadd(kTile, from, static_cast<size_t>(stride));
}
template <int kTile>
MACE_SIMD_INLINE void StoreTile(void *to, ptrdiff_t stride) {
  _tile_stored(kTile, to, static_cast<size_t>(stride));
}
template <int kSums, int kLeft, int kRight>
MACE_SIMD_INLINE void MultiplyTiles() {
  _tile_dpbf16ps(kSums, kLeft, kRight);
}

#else

struct EmulatedTile {
  size_t rows;
  size_t row_bytes;
  alignas(64) char bytes[kTileRows][64];
};
static thread_local EmulatedTile emulated_tiles[kTileCount];

inline void Configure(const TileConfig &config) {
  for (int i = 0; i < kTileCount; ++i) {
    emulated_tiles[i] = EmulatedTile{};
    emulated_tiles[i].rows = config.rows[i];
    emulated_tiles[i].row_bytes = config.row_bytes[i];
  }
}
inline void ReleaseTiles() { Configure(TileConfig()); }
template <int kTile>
void ClearTile() {
  __builtin_memset(emulated_tiles[kTile].bytes, 0,
                   sizeof(emulated_tiles[kTile].bytes));
}
template <int kTile>
void LoadTile(const void *from, ptrdiff_t stride) {
  EmulatedTile &t = emulated_tiles[kTile];
  ClearTile<kTile>();
  for (size_t r = 0; r < t.rows; ++r) {
    __builtin_memcpy(
        t.bytes[r],
        static_cast<const char *>(from) + static_cast<ptrdiff_t>(r) * stride,
        t.row_bytes);
  }
}
template <int kTile>
void StoreTile(void *to, ptrdiff_t stride) {
  const EmulatedTile &t = emulated_tiles[kTile];
  for (size_t r = 0; r < t.rows; ++r) {
    __builtin_memcpy(
        static_cast<char *>(to) + static_cast<ptrdiff_t>(r) * stride,
        t.bytes[r], t.row_bytes);
  }
}
// Like the instruction: pairs in ascending order; subnormal numbers count as 0.
// The instruction traps if the shapes of the operands do not match.
template <int kSums, int kLeft, int kRight>
void MultiplyTiles() {
  EmulatedTile &sums = emulated_tiles[kSums];
  const EmulatedTile &left = emulated_tiles[kLeft];
  const EmulatedTile &right = emulated_tiles[kRight];
  if (sums.rows == 0 || sums.rows != left.rows ||
      sums.row_bytes != right.row_bytes || left.row_bytes != 4 * right.rows) {
    __builtin_trap();
  }
  for (size_t r = 0; r < sums.rows; ++r) {
    sv::V sum = sv::Load(reinterpret_cast<const float *>(sums.bytes[r]));
    for (size_t k = 0; k < right.rows; ++k) {
      sum = sv::DotBf16Pairs(
          sum,
          sv::SetBf16Pair(reinterpret_cast<const uint16_t *>(left.bytes[r]) +
                          2 * k),
          sv::LoadBf16Pairs(
              reinterpret_cast<const uint16_t *>(right.bytes[k])));
    }
    sv::Store(reinterpret_cast<float *>(sums.bytes[r]), sum);
  }
}

#endif  // MACE_AMX_EMULATED

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_AMX_TILE_H_
