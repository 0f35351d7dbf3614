// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of pooling against loops and the scalar unit's floats.

#include "mace/kernels/hexagon/pooling.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMostImage = 90000;
int8_t g_image[kMostImage];
Written<4000> g_written;
Random g_random(3);

struct Case {
  int rows;
  int columns;
  int dilation;
  int stride;
  int channels;
  int pixel_bytes;
  int pixels;
  int offset;
};

void Test(const Case &t, float multiplier) {
  g_random.Fill(g_image, sizeof(g_image));
  const int image_columns =
      (t.pixels - 1) * t.stride + (t.columns - 1) * t.dilation + 1;
  const int row = image_columns * t.pixel_bytes;
  MACE_EXPECT_EQ(
      ((t.rows - 1) * t.dilation + 1) * row + kSlackBytes <= kMostImage, true);
  const Pool pool = {t.rows,
                     t.columns,
                     row * t.dilation,
                     t.pixel_bytes * t.dilation,
                     t.pixel_bytes * t.stride,
                     t.pixel_bytes,
                     t.channels};
  const auto window = [&](int at, int element) {
    const int pixel = at / t.pixel_bytes;
    const int r = element / t.columns;
    const int c = element % t.columns;
    return g_image[r * pool.row_bytes + c * pool.column_bytes +
                   pixel * pool.step_bytes + at % t.pixel_bytes];
  };
  const int elements = t.rows * t.columns;
  LargestRow(pool, g_image, t.pixels, g_written.Start(t.offset));
  g_written.Expect(t.pixels, t.pixel_bytes, t.channels, [&](int at) {
    int8_t largest = INT8_MIN;
    for (int e = 0; e < elements; ++e) {
      largest = window(at, e) > largest ? window(at, e) : largest;
    }
    return largest;
  });
  const Average average = {
      multiplier, g_random.Byte(), {g_random.Byte(), -120, 125}};
  AverageRow(pool, average, g_image, t.pixels, g_written.Start(t.offset));
  g_written.Expect(t.pixels, t.pixel_bytes, t.channels, [&](int at) {
    int32_t sum = 0;
    for (int e = 0; e < elements; ++e) sum += window(at, e) - average.x_zero;
    return Clamped(Scaled(sum, multiplier), average.range);
  });
}

constexpr Case kCases[] = {
    // rows, columns, dilation, stride, channels, pixel_bytes, pixels, offset
    {1, 1, 1, 1, 8, 8, 5, 0},     {2, 2, 1, 2, 24, 24, 7, 8},
    {3, 3, 1, 2, 64, 64, 9, 0},   {3, 3, 1, 1, 192, 192, 5, 64},
    {3, 3, 2, 1, 129, 136, 3, 3}, {7, 7, 1, 1, 320, 320, 1, 0},
    {16, 17, 1, 1, 8, 8, 2, 0},   {24, 23, 1, 1, 130, 136, 1, 16},
    {1, 5, 1, 3, 5, 8, 6, 1},
};

void TestRuns() {
  constexpr int kCounts[] = {1, 3, 127, 128, 200, 1001};
  for (const int count : kCounts) {
    g_random.Fill(g_image, sizeof(g_image));
    const int8_t *x = g_image + count % 7;
    int32_t sum = 0;
    int8_t largest = INT8_MIN;
    for (int i = 0; i < count; ++i) {
      sum += x[i];
      largest = x[i] > largest ? x[i] : largest;
    }
    MACE_EXPECT_EQ(SumOfRun(x, count), sum);
    MACE_EXPECT_EQ(LargestOfRun(x, count), largest);
  }
  // A negative one.
  memset(g_image, -90, sizeof(g_image));
  g_image[70] = -89;
  MACE_EXPECT_EQ(LargestOfRun(g_image, 71), -89);
  MACE_EXPECT_EQ(LargestOfRun(g_image, 70), -90);
}

void TestScaledByte() {
  constexpr float kMultipliers[] = {0.5f, 1e-3f, 0.0391f, 1e20f, 1e-30f};
  for (const float m : kMultipliers) {
    for (int i = 0; i < 100; ++i) {
      const int32_t sum = g_random.Between(-4000, 4000);
      const ByteRange range = {g_random.Byte(), -100, 127};
      const float product = static_cast<float>(sum) * m;
      const int64_t whole = product > 1e6f    ? 1000000
                            : product < -1e6f ? -1000000
                                              : Scaled(sum, m);
      MACE_EXPECT_EQ(ScaledByte(sum, m, range), Clamped(whole, range));
    }
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  using mace::hexagon::kCases;
  for (const auto &test : kCases) {
    const auto elements = static_cast<float>(test.rows * test.columns);
    // Of an average with the image's scale, which often is exactly between two
    // integers, and of others.
    mace::hexagon::Test(test, 1.0f / elements);
    mace::hexagon::Test(test, 1.37f / elements);
  }
  mace::hexagon::Test(kCases[1], 0.9f);
  mace::hexagon::TestRuns();
  mace::hexagon::TestScaledByte();
  return mace::hexagon::Finish();
}
