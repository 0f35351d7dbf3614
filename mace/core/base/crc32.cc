// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/crc32.h"

#include <array>
#include <cstring>

namespace mace {
namespace {

// Eight bytes per step ("slicing by 8"): table k advances a byte by k further
// bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

Tables MakeTables() {
  constexpr uint32_t kPolynomial = 0xedb88320u;  // bits in reverse order
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][i] = value;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t value = tables[k - 1][i];
      tables[k][i] = (value >> 8) ^ tables[0][value & 0xff];
    }
  }
  return tables;
}

}  // namespace

uint32_t Crc32(const void *data, size_t size) {
  // Created when first needed, which is rare: the library is 8 KB smaller.
  static const Tables kTables = MakeTables();
  const auto *bytes = static_cast<const unsigned char *>(data);
  uint32_t crc = 0xffffffffu;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint32_t low;
    uint32_t high;
    std::memcpy(&low, bytes, 4);
    std::memcpy(&high, bytes + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
          kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; size > 0; --size, ++bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ *bytes) & 0xff];
  }
  return ~crc;
}

}  // namespace mace
