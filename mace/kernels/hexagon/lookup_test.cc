// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/lookup.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMost = 700;
constexpr int kCounts[] = {1, 16, 127, 128, 129, 256, 700};

int8_t g_x[kMost + kSlackBytes];
int8_t g_entries[3 * kTableEntries];
Written<kMost> g_written;

int8_t Entry(int table, int8_t x) {
  return g_entries[table * kTableEntries + static_cast<uint8_t>(x)];
}

void Test() {
  Random random(9);
  random.Fill(g_entries, sizeof(g_entries));
  random.Fill(g_x, sizeof(g_x));
  // Each byte is there.
  for (int i = 0; i < kTableEntries; ++i) g_x[i] = static_cast<int8_t>(i);
  int offset = 0;
  for (const int count : kCounts) {
    LookupRow(g_entries + offset, g_x, count, g_written.Start(offset));
    g_written.Expect(count, [&](int i) {
      return g_entries[offset + static_cast<uint8_t>(g_x[i])];
    });
    FlipRow(g_x + offset, count, g_written.Start(0));
    g_written.Expect(count, [&](int i) {
      return static_cast<int8_t>(g_x[offset + i] ^ -128);
    });
    offset += 9;
  }
  LookupChannels(g_entries, g_x, 3, g_written.Start(0));
  g_written.Expect(3, [&](int i) { return Entry(i, g_x[i]); });
  static int8_t y[kMost];
  memcpy(y, g_x, kMost);
  LookupRow(g_entries, y, kMost, y);
  for (int i = 0; i < kMost; ++i) MACE_EXPECT_EQ(y[i], Entry(0, g_x[i]));
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  mace::hexagon::Test();
  return mace::hexagon::Finish();
}
