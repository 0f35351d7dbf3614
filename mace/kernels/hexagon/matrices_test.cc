// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/matrices.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMostP = 3000;
constexpr int kMostQ = 40000;
alignas(8) int8_t g_p[kMostP + kSlackBytes];
alignas(8) int8_t g_q[kMostQ + kSlackBytes];
alignas(kVectorBytes) int8_t g_packed[100000];
Written<4000> g_written;
Random g_random(41);

int Pixel(int channels) { return (channels + 7) / 8 * 8; }

void Test(int rows, int depth, int columns, bool is_transposed) {
  g_random.Fill(g_p, sizeof(g_p));
  g_random.Fill(g_q, sizeof(g_q));
  MatrixProduct m;
  m.packed = g_packed;
  m.depth = depth;
  m.columns = columns;
  m.p_step = Pixel(depth);
  m.y_step = Pixel(columns);
  m.p_zero = g_random.Byte();
  m.q_zero = g_random.Next() % 2 == 0 ? -128 : g_random.Byte();
  m.multiplier = 0.3f / static_cast<float>(64 * depth);
  m.range = {g_random.Byte(), -128, 127};
  const int q_step = Pixel(is_transposed ? depth : columns);
  MACE_EXPECT_EQ(rows * m.p_step <= kMostP, true);
  MACE_EXPECT_EQ((is_transposed ? columns : depth) * q_step <= kMostQ, true);
  MACE_EXPECT_EQ(PackedMatrixBytes(depth, columns) <=
                     static_cast<int64_t>(sizeof(g_packed)),
                 true);
  // By parts, the last one first.
  const MatrixColumns packed = {g_q,   q_step,  is_transposed,
                                depth, columns, g_packed};
  const int unit = packed.unit();
  for (int n = (columns - 1) / unit * unit; n >= 0; n -= unit) {
    PackColumns(packed, n, n + unit < columns ? n + unit : columns);
  }
  MultiplyRows(m, g_p, rows, g_written.Start(8));
  g_written.Expect(rows, m.y_step, columns, [&](int at) {
    const int row = at / m.y_step;
    const int n = at % m.y_step;
    int32_t sum = 0;
    for (int k = 0; k < depth; ++k) {
      const int8_t q =
          is_transposed ? g_q[n * q_step + k] : g_q[k * q_step + n];
      sum += (g_p[row * m.p_step + k] - m.p_zero) * (q - m.q_zero);
    }
    return Clamped(Scaled(sum, m.multiplier), m.range);
  });
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  constexpr bool kEach[] = {false, true};
  for (const bool is_transposed : kEach) {
    mace::hexagon::Test(1, 1, 1, is_transposed);
    mace::hexagon::Test(5, 7, 9, is_transposed);
    mace::hexagon::Test(4, 64, 128, is_transposed);
    mace::hexagon::Test(6, 66, 130, is_transposed);
    mace::hexagon::Test(9, 130, 260, is_transposed);
    mace::hexagon::Test(2, 33, 300, is_transposed);
  }
  return mace::hexagon::Finish();
}
