// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/moves.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMost = 8000;
int8_t g_x[kMost + kSlackBytes];
Written<kMost> g_written;

struct Case {
  int x_offset;
  int x_step;
  int y_offset;
  int y_step;
  int bytes;
  int pixels;
};

constexpr Case kCases[] = {
    {0, 8, 0, 8, 8, 5},       {0, 24, 8, 40, 24, 7},
    {8, 64, 64, 192, 64, 4},  {0, 64, 64, 64, 64, 9},
    {3, 24, 5, 24, 21, 5},    {0, 8, 0, 8, 3, 9},
    {0, 136, 8, 144, 129, 5}, {16, 320, 0, 640, 320, 3},
    {1, 200, 7, 137, 130, 6}, {0, 0, 0, 40, 40, 6},
    {0, 0, 16, 256, 250, 3},  {0, 1, 0, 1, 1, 300},
};

void TestCopies(const Case &t) {
  const int8_t *x = g_x + t.x_offset;
  CopyPixels(x, t.x_step, g_written.Start(t.y_offset), t.y_step, t.bytes,
             t.pixels);
  g_written.Expect(t.pixels, t.y_step, t.bytes, [&](int at) {
    return x[at / t.y_step * t.x_step + at % t.y_step];
  });
  int32_t offsets[300];
  for (int p = 0; p < t.pixels; ++p) offsets[p] = p * 7 % 5 * t.x_step;
  GatherPixels(x, offsets, g_written.Start(t.y_offset), t.y_step, t.bytes,
               t.pixels);
  g_written.Expect(t.pixels, t.y_step, t.bytes, [&](int at) {
    return x[offsets[at / t.y_step] + at % t.y_step];
  });
  FillPixels(-5, g_written.Start(t.y_offset), t.y_step, t.bytes, t.pixels);
  g_written.Expect(t.pixels, t.y_step, t.bytes, [](int) { return -5; });
  SpreadPixels(x, t.x_step, g_written.Start(t.y_offset), t.y_step, t.bytes,
               t.pixels);
  g_written.Expect(t.pixels, t.y_step, t.bytes,
                   [&](int at) { return x[at / t.y_step * t.x_step]; });
}

void TestTranspose(int rows, int columns, int y_offset, int y_step) {
  const int x_step = columns + 3;
  TransposeBytes(g_x, x_step, rows, columns, g_written.Start(y_offset), y_step);
  g_written.Expect(columns, y_step, rows, [&](int at) {
    return g_x[at % y_step * x_step + at / y_step];
  });
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  using namespace mace::hexagon;
  Random(17).Fill(g_x, sizeof(g_x));
  for (const Case &test : kCases) TestCopies(test);
  TestTranspose(8, 8, 0, 8);
  TestTranspose(13, 200, 0, 16);
  TestTranspose(5, 130, 4, 8);
  TestTranspose(3, 7, 0, 8);
  TestTranspose(9, 140, 1, 9);
  return Finish();
}
