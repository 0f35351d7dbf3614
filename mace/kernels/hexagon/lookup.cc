// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/lookup.h"

namespace mace::hexagon {

void LookupRow(const int8_t *entries, const int8_t *x, int count, int8_t *y) {
  const Table table = LoadTable(entries);
  ForVectors(count, y,
             [&](int i) { return Lookup(table, LoadUnaligned(x + i)); });
}

void LookupChannels(const int8_t *entries,
                    const int8_t *x,
                    int channels,
                    int8_t *y) {
  for (int c = 0; c < channels; ++c, entries += kTableEntries) {
    y[c] = entries[static_cast<uint8_t>(x[c])];
  }
}

void FlipRow(const int8_t *x, int count, int8_t *y) {
  ForVectors(count, y, [&](int i) { return Flipped(LoadUnaligned(x + i)); });
}

}  // namespace mace::hexagon
