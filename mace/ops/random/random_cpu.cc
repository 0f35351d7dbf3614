// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/random/random_schema.h"

namespace mace {
namespace {

// Numbers of one value of the counter.
constexpr int64_t kBlock = 4;

// Philox 4x32-10: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2,
// 3, SC 2011.
void Philox(uint64_t key, uint64_t block, uint64_t run, uint32_t *words) {
  auto first = static_cast<uint32_t>(key);
  auto second = static_cast<uint32_t>(key >> 32);
  words[0] = static_cast<uint32_t>(block);
  words[1] = static_cast<uint32_t>(block >> 32);
  words[2] = static_cast<uint32_t>(run);
  words[3] = static_cast<uint32_t>(run >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t{words[0]} * 0xd2511f53u;
    const uint64_t right = uint64_t{words[2]} * 0xcd9e8d57u;
    words[0] = static_cast<uint32_t>(right >> 32) ^ words[1] ^ first;
    words[1] = static_cast<uint32_t>(right);
    words[2] = static_cast<uint32_t>(left >> 32) ^ words[3] ^ second;
    words[3] = static_cast<uint32_t>(left);
    first += 0x9e3779b9u;
    second += 0xbb67ae85u;
  }
}

// Everything below is integer arithmetic, or float operations that no compiler
// fuses: the bits are the same everywhere, and those of random.py.

float Uniform(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

// -2 ln(u) in units of 2^-30, u = (bits + 1) / 2^32. The error is 1e-8.
int64_t MinusTwoLog(uint32_t bits) {
  // ln(1 + f) for f in [0, 1], a sum of powers of f.
  constexpr int64_t kLog[] = {2147482205, -1073679411, 714890035,
                              -529841166, 398781541,   -272530832,
                              146206850,  -51227095,   8440121};
  constexpr int64_t kLn2 = 1488522236;
  int64_t x = int64_t{bits} + 1;
  int64_t halvings = 0;
  for (; x < int64_t{1} << 32; x *= 2) ++halvings;
  const int64_t fraction = (x - (int64_t{1} << 32)) >> 1;
  int64_t log = 0;
  for (size_t i = std::size(kLog); i-- > 0;) {
    log = ((log + kLog[i]) * fraction) >> 31;
  }
  return std::max<int64_t>(halvings * kLn2 - log, 0);
}

// sin(part * pi / 2), both in units of 2^-30. The error is 4e-9.
int64_t Sine(int64_t part) {
  constexpr int64_t kSine[] = {1686629674, -693597876, 85564855, -5016767,
                               161943};
  const int64_t square = (part * part) >> 30;
  int64_t total = 0;
  for (size_t i = std::size(kSine); i-- > 0;) {
    total = kSine[i] + ((total * square) >> 30);
  }
  return (total * part) >> 30;
}

// Box and Muller's method: two numbers of two.
void Normal(const uint32_t *bits, float *out) {
  const float radius =
      std::sqrt(static_cast<float>(MinusTwoLog(bits[0])) * 0x1p-30f);
  const uint32_t quarter = bits[1] >> 30;
  const int64_t part = bits[1] & 0x3fffffffu;
  int64_t sine = Sine(part);
  int64_t cosine = Sine((int64_t{1} << 30) - part);
  if (quarter % 2 == 1) std::swap(sine, cosine);
  if (quarter >= 2) sine = -sine;
  if (quarter == 1 || quarter == 2) cosine = -cosine;
  out[0] = radius * (static_cast<float>(cosine) * 0x1p-30f);
  out[1] = radius * (static_cast<float>(sine) * 0x1p-30f);
}

struct RandomPlan final : OpPlan {
  // How many runs there were. Runs with one plan never overlap.
  mutable uint64_t runs = 0;
};

class RandomOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<RandomAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->Keep(std::make_unique<RandomPlan>());
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *seed = context->input(kRandomSeedInput);
    const uint64_t key =
        seed != nullptr ? Key(seed->As<int32_t>()[0], seed->As<int32_t>()[1])
                        : Key(attributes_.seed[0], attributes_.seed[1]);
    const uint64_t run =
        seed != nullptr ? 0 : context->PlanAs<RandomPlan>().runs++;
    const bool normal = attributes_.distribution == RandomDistribution::NORMAL;
    Tensor *output = context->output(0);
    auto *out = output->MutableAs<float>();
    const int64_t count = output->elements();
    // As much work as about 64 elements of a simple operator.
    context->thread_pool()->ParallelFor(
        (count + kBlock - 1) / kBlock, RowGrain(64 * kBlock),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t block = begin; block < end; ++block) {
            uint32_t bits[kBlock];
            float numbers[kBlock];
            Philox(key, static_cast<uint64_t>(block), run, bits);
            if (normal) {
              for (int i = 0; i < kBlock; i += 2) Normal(bits + i, numbers + i);
            } else {
              for (int i = 0; i < kBlock; ++i) numbers[i] = Uniform(bits[i]);
            }
            std::copy_n(numbers, std::min(kBlock, count - block * kBlock),
                        out + block * kBlock);
          }
        });
    return MaceStatus();
  }

 private:
  static uint64_t Key(int64_t first, int64_t second) {
    return static_cast<uint32_t>(first) |
           uint64_t{static_cast<uint32_t>(second)} << 32;
  }

  RandomAttributes attributes_;
};

MACE_REGISTER_OP(Random, CPU, RandomOp);

}  // namespace
}  // namespace mace
