// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums whose products are as close to a half as floats allow, compared with the
// floats of the scalar unit.

#include "mace/kernels/hexagon/scaled.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr ByteRange kRange = {-3, -120, 121};
constexpr int kSums = kVectorWords * kWordsOfByte;
Random g_random(77);

int32_t Limited(float product) {
  return product > 1e6f    ? 1000000
         : product < -1e6f ? -1000000
                           : Q6_R_convert_sf2w_R(product);
}

// Sums of up to `bits` bits.
void Test(int bits) {
  const uint32_t most = 1u << bits;
  // Results of up to 100 at least.
  const float multiplier =
      static_cast<float>(g_random.Between(1 << 23, (1 << 24) - 1)) *
      (200.0f / (1 << 24)) / static_cast<float>(most);
  if (!IsMultiplier(multiplier)) return;
  alignas(kVectorBytes) int32_t sums[kSums];
  for (int32_t &sum : sums) {
    const float half = static_cast<float>(g_random.Between(0, 97)) + 0.5f;
    auto near = static_cast<int32_t>(half / multiplier);
    near += g_random.Between(-2, 2);
    sum = g_random.Next() % 2 == 0 ? near : -near;
  }
  const ScaledSums scaled(multiplier, most, kRange);
  const auto *vectors = reinterpret_cast<const Vector *>(sums);
  const SpreadWords words = {vectors[0], vectors[1], vectors[2], vectors[3]};
  alignas(kVectorBytes) int8_t y[kVectorBytes];
  const auto wanted = [&](int i) {
    return Clamped(Limited(static_cast<float>(sums[i]) * multiplier), kRange);
  };
  Store(scaled.ToBytes(words), y);
  for (int i = 0; i < kSums; ++i) MACE_EXPECT_EQ(y[i], wanted(i));
  Store(scaled.ToBytesInOrder(words), y);
  for (int i = 0; i < kSums; ++i) {
    const int at = i % kWordsOfByte * kVectorWords + i / kWordsOfByte;
    MACE_EXPECT_EQ(y[i], wanted(at));
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  for (int bits = 8; bits <= 29; ++bits) {
    for (int i = 0; i < 40; ++i) mace::hexagon::Test(bits);
  }
  return mace::hexagon::Finish();
}
