// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_CRC32_H_
#define MACE_CORE_BASE_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace mace {

// CRC-32 of IEEE 802.3, as zlib computes it.
uint32_t Crc32(const void *data, size_t size);

}  // namespace mace

#endif  // MACE_CORE_BASE_CRC32_H_
