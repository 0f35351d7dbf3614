// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compared with the floats of the scalar unit, which round as IEEE says.

#include "mace/kernels/hexagon/requantize.h"

#include "mace/kernels/hexagon/platform/expect.h"

namespace mace::hexagon {
namespace {

struct Random {
  uint64_t state = 1;
  uint32_t Next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  }
};

int32_t Wanted(int32_t a, float m) {
  const float product = static_cast<float>(a) * m;
  if (product > 1e6f) return 1000000;
  if (product < -1e6f) return -1000000;
  return Q6_R_convert_sf2w_R(product);
}

// What can't be told apart after the clamp.
int32_t Limited(int32_t y) { return y > 256 ? 256 : y < -256 ? -256 : y; }

void Compare(const int32_t *sums, const float *scales, bool is_float) {
  alignas(kVectorBytes) int32_t a[kVectorWords];
  alignas(kVectorBytes) int32_t mantissa[kVectorWords];
  alignas(kVectorBytes) int32_t shift[kVectorWords];
  alignas(kVectorBytes) int32_t y[kVectorWords];
  for (int i = 0; i < kVectorWords; ++i) {
    a[i] = sums[i];
    MACE_EXPECT_EQ(SplitMultiplier(scales[i], &mantissa[i], &shift[i]), true);
  }
  Store(RoundedProduct(Load(a), {Load(mantissa), Load(shift)}, is_float), y);
  for (int i = 0; i < kVectorWords; ++i) {
    MACE_EXPECT_EQ(Limited(y[i]), Limited(Wanted(a[i], scales[i])));
  }
}

float Scale(Random *random, int exponent) {
  const uint32_t bits = static_cast<uint32_t>(127 + exponent) << 23;
  return __builtin_bit_cast(float, bits | (random->Next() & 0x7fffffu));
}

void TestRandom() {
  Random random;
  int32_t sums[kVectorWords];
  float scales[kVectorWords];
  for (int round = 0; round < 4000; ++round) {
    const bool is_float = round % 2 == 0;
    for (int i = 0; i < kVectorWords; ++i) {
      const int bits = static_cast<int>(random.Next() % (is_float ? 25 : 32));
      auto a = static_cast<int32_t>(random.Next() >> (31 - bits));
      if (is_float && a > (1 << 24)) a &= (1 << 24) - 1;
      sums[i] = random.Next() % 2 == 0 ? a : -a;
      // Results of about 8 bits, some larger and smaller.
      const int exponent = 9 - bits + static_cast<int>(random.Next() % 4) - 2;
      scales[i] = Scale(&random, exponent);
    }
    Compare(sums, scales, is_float);
  }
}

// Products close to a half: sums for which a * m is one as nearly as floats
// allow.
void TestHalves() {
  Random random;
  int32_t sums[kVectorWords];
  float scales[kVectorWords];
  for (int round = 0; round < 4000; ++round) {
    for (int i = 0; i < kVectorWords; ++i) {
      auto a = static_cast<int32_t>(random.Next() >> (8 + random.Next() % 16));
      a += a == 0 ? 1 : 0;
      const float half = static_cast<float>(random.Next() % 300) + 0.5f;
      auto bits = __builtin_bit_cast(uint32_t, half / static_cast<float>(a));
      bits += random.Next() % 5 - 2;
      sums[i] = random.Next() % 2 == 0 ? a : -a;
      scales[i] = __builtin_bit_cast(float, bits);
    }
    Compare(sums, scales, true);
    for (int i = 0; i < kVectorWords; ++i) {
      sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) * 256u +
                                     random.Next() % 256);
      scales[i] *= 1.0f / 256;
    }
    Compare(sums, scales, false);
  }
}

void TestLimits() {
  constexpr uint32_t kFractions[] = {0, 1, 0x400000, 0x7fffff};
  constexpr int32_t kSums[] = {
      0,       1,        -1,       (1 << 24) - 1, 1 << 24,    -(1 << 24),
      1 << 30, 33554433, 33554435, 2147483647,    INT32_MIN,  INT32_MIN + 1,
      127,     -128,     255,      0x7fffffbf,    0x7fffffc0, 0x7fffffc1};
  int32_t sums[kVectorWords];
  float scales[kVectorWords];
  for (int exponent = -60; exponent < 40; ++exponent) {
    for (const uint32_t fraction : kFractions) {
      for (int i = 0; i < kVectorWords; ++i) {
        sums[i] = kSums[i % (sizeof(kSums) / sizeof(kSums[0]))];
        const uint32_t bits = static_cast<uint32_t>(127 + exponent) << 23;
        scales[i] = __builtin_bit_cast(float, bits | fraction);
      }
      Compare(sums, scales, false);
    }
  }
  int32_t mantissa = 0;
  int32_t shift = 0;
  constexpr float kWrong[] = {0.0f, -1.0f, 1e-40f, __builtin_inff()};
  for (const float wrong : kWrong) {
    MACE_EXPECT_EQ(SplitMultiplier(wrong, &mantissa, &shift), false);
  }
}

// All that is not doubtful is right, and little is doubtful.
void TestFast() {
  constexpr int kPair = 2 * kVectorWords;
  alignas(kVectorBytes) int32_t a[kPair];
  alignas(kVectorBytes) int32_t factors[kPair];
  alignas(kVectorBytes) int16_t y[kPair];
  alignas(kVectorBytes) int16_t close[kPair];
  float scales[kPair];
  Random random;
  int doubts = 0;
  int total = 0;
  for (int left = 3; left < 14; ++left) {
    for (int round = 0; round < 400; ++round) {
      const uint32_t most = (1u << (30 - left)) - 1;
      for (int i = 0; i < kPair; ++i) {
        scales[i] =
            Scale(&random, left - 18 - static_cast<int>(random.Next() % 9));
        MACE_EXPECT_EQ(FastFactor(scales[i], most, left, &factors[i]), true);
        a[i] = static_cast<int32_t>(random.Next() & most);
        // Also results that fit into 8 bits.
        a[i] >>= random.Next() % 8;
        if (random.Next() % 2 == 0) a[i] = -a[i];
      }
      const Vector t0 = FastProduct(Load(a), Load(factors), left);
      const Vector t1 = FastProduct(Load(a + kVectorWords),
                                    Load(factors + kVectorWords), left);
      Store(Rounded(t0, t1), y);
      Store(Closeness(t0, t1), close);
      for (int i = 0; i < kPair; ++i) {
        // The halfwords of the two vectors alternate.
        const int from = i % 2 * kVectorWords + i / 2;
        ++total;
        doubts += close[i] > kCertain ? 1 : 0;
        if (close[i] > kCertain) continue;
        MACE_EXPECT_EQ(Limited(y[i]), Limited(Wanted(a[from], scales[from])));
      }
    }
  }
  MACE_EXPECT_EQ(doubts * 6000 < total, true);
  MACE_EXPECT_EQ(doubts > 0, true);
  int32_t factor = 0;
  MACE_EXPECT_EQ(FastFactor(1.0f, 1 << 20, 8, &factor), false);
  MACE_EXPECT_EQ(FastFactor(0.001f, 1 << 30, 8, &factor), false);
  MACE_EXPECT_EQ(FastFactor(0.0f, 1, 8, &factor), false);
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  mace::hexagon::TestRandom();
  mace::hexagon::TestHalves();
  mace::hexagon::TestLimits();
  mace::hexagon::TestFast();
  return mace::hexagon::Finish();
}
