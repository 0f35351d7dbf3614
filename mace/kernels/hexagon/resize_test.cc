// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/resize.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kColumns = 6;
constexpr int kMostBytes = 264;
constexpr int kRow = kColumns * kMostBytes;
constexpr int kPixels = 7;
constexpr int kOne = 1 << kResizeBits;

int8_t g_rows[2 * kRow + kSlackBytes];
Written<kPixels * kMostBytes> g_written;
Random g_random(21);

void Test(int bytes, int pixel_bytes, float multiplier, int offset) {
  g_random.Fill(g_rows, sizeof(g_rows));
  ResizeTap columns[kPixels];
  for (ResizeTap &column : columns) {
    const int at = g_random.Between(0, kColumns - 2);
    // Also the whole weight.
    const int weight =
        g_random.Between(0, 3) == 0 ? kOne : g_random.Between(0, kOne);
    column = {at * pixel_bytes, (at + 1) * pixel_bytes, kOne - weight, weight};
  }
  const int v = g_random.Between(0, kOne);
  const ResizeRows rows = {g_rows, g_rows + kRow, v, kOne - v};
  const Resize resize = {multiplier,
                         g_random.Byte(),
                         {g_random.Byte(), -128, 120},
                         bytes,
                         pixel_bytes};
  ResizeRow(resize, rows, columns, kPixels, g_written.Start(offset));
  g_written.Expect(kPixels, pixel_bytes, bytes, [&](int at) {
    const ResizeTap &column = columns[at / pixel_bytes];
    const int8_t *a = g_rows + at % pixel_bytes;
    const int8_t *b = a + kRow;
    const auto blend = [&](const int8_t *row) {
      return column.first_weight * (row[column.first] - resize.x_zero) +
             column.second_weight * (row[column.second] - resize.x_zero);
    };
    return Clamped(Scaled(v * blend(a) + (kOne - v) * blend(b), multiplier),
                   resize.range);
  });
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  constexpr float kUnit = 1.0f / (1 << 22);
  for (int i = 0; i < 6; ++i) {
    mace::hexagon::Test(24, 24, kUnit, 0);
    mace::hexagon::Test(128, 128, 1.3f * kUnit, 8);
    mace::hexagon::Test(21, 24, 0.7f * kUnit, 3);
    mace::hexagon::Test(257, 264, kUnit, 0);
    mace::hexagon::Test(64, 64, 40 * kUnit, 64);
  }
  return mace::hexagon::Finish();
}
