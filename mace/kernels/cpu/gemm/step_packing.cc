// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/step_packing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mace::gemm {
namespace {

constexpr size_t kFour = 4;
constexpr size_t kLine = 64;
// Fours that one may be joined with are looked for among so many that follow:
// twice as many gain 1 % of the instructions.
constexpr size_t kCandidates = 16;

// In StepPacking::order_: what is left of a four.
constexpr uint32_t kRest = uint32_t{1} << 31;

constexpr size_t RoundUp(size_t x) { return (x + kLine - 1) / kLine * kLine; }

// A half of the columns: 32 weights of a four, and two sums of 16 bits for each
// of its eight columns. The constants of wider vectors are aligned like them,
// which keeps the linker from merging those of the whole library: 17 KB.
constexpr size_t kHalfBytes = kStepBytes / 2;
typedef int8_t Bytes __attribute__((vector_size(kHalfBytes / 2)));
// A number for each of these sums; 255 is 255 or more, as only what exceeds
// kStepLimit matters.
typedef uint8_t Sums __attribute__((vector_size(kHalfBytes / 2)));

Sums Add(Sums a, Sums b) { return __builtin_elementwise_add_sat(a, b); }
Sums Larger(Sums a, Sums b) { return __builtin_elementwise_max(a, b); }
Sums Smaller(Sums a, Sums b) { return __builtin_elementwise_min(a, b); }

bool Exceeds(Sums sums) {
  return __builtin_reduce_or(
             __builtin_elementwise_sub_sat(sums, Sums{} + kStepLimit)) != 0;
}

// The weights above 0 of each sum, and those below 0, as positive numbers.
struct SignSums {
  Sums above;
  Sums below;

  Sums Largest() const { return Larger(above, below); }
};

SignSums operator+(const SignSums &a, const SignSums &b) {
  return {Add(a.above, b.above), Add(a.below, b.below)};
}

SignSums Opposite(const SignSums &a) { return {a.below, a.above}; }

SignSums SignsOf(Bytes weights) {
  const auto numbers = reinterpret_cast<Sums>(weights);
  const auto below = reinterpret_cast<Sums>(weights < 0);
  return {numbers & ~below, -numbers & below};
}

// Which halves of the columns something is true of: bit 0 the first, bit 1 the
// last.
using Halves = unsigned;
constexpr Halves kBothHalves = 3;
constexpr size_t kHalves = 2;

struct Four {
  SignSums own[kHalves];
  // The second weight of each pair with the other sign.
  SignSums half_flipped[kHalves];
  Halves exceeding = 0;    // in which it does not fit alone
  bool has_least = false;  // a weight of -128
  bool has_rest = false;   // a pair of them
};

Four FourOf(const int8_t *weights) {
  Four four;
  for (size_t half = 0; half < kHalves; ++half, weights += kHalfBytes) {
    Bytes low;
    Bytes high;
    std::memcpy(&low, weights, sizeof(low));
    std::memcpy(&high, weights + sizeof(low), sizeof(high));
    const Bytes first = __builtin_shufflevector(
        low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Bytes second = __builtin_shufflevector(
        low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const SignSums a = SignsOf(first);
    const SignSums b = SignsOf(second);
    four.own[half] = a + b;
    four.half_flipped[half] = a + Opposite(b);
    if (Exceeds(four.own[half].Largest())) four.exceeding |= 1u << half;
    const Bytes a_least = first == INT8_MIN;
    const Bytes b_least = second == INT8_MIN;
    four.has_least |= __builtin_reduce_or(a_least | b_least) != 0;
    four.has_rest |= __builtin_reduce_or(a_least & b_least) != 0;
  }
  return four;
}

// The halves in which the sums of both do not fit.
Halves ExceedingTogether(const Four &a, const Four &b) {
  Halves halves = 0;
  for (size_t half = 0; half < kHalves; ++half) {
    if (Exceeds((a.own[half] + b.own[half]).Largest())) halves |= 1u << half;
  }
  return halves;
}

// Whether the sums of a half do not, whichever weights of `b` change their
// signs.
bool ExceedsAnyway(const Four &a, const Four &b, size_t half) {
  const SignSums &own = a.own[half];
  Sums least = Sums{} - 1;
  for (const SignSums &some : {b.own[half], b.half_flipped[half]}) {
    least = Smaller(least, (own + some).Largest());
    least = Smaller(least, (own + Opposite(some)).Largest());
  }
  return Exceeds(least);
}

// What a step takes for each vector of columns and row, in instructions of
// which two are for a half, without those that load. One that masks a half has
// one more, and one that masks both two.
constexpr int kSingle = 6;
constexpr int kDeep = 10;
constexpr int kCosts[] = {0, 1, 1, 2};  // by the masked halves

int CostOf(const Four &four) { return kSingle + kCosts[four.exceeding]; }

int GainOf(const Four &a, const Four &b, Halves masked) {
  return CostOf(a) + CostOf(b) - kDeep - kCosts[masked];
}
// More halves are never masked than those in which one of both does not fit.
constexpr int kMostGain = 2 * kSingle - kDeep;

// Whether `first` fits with `second`, of which signs change in the masked
// halves.
bool FitsMasked(const Four &first, const Four &second, Halves masked) {
  if (first.exceeding != 0 || second.has_least) return false;
  for (size_t half = 0; half < kHalves; ++half) {
    const bool is_masked = (masked >> half & 1) != 0;
    if (is_masked && ExceedsAnyway(first, second, half)) return false;
  }
  return true;
}

// How a four is joined with another one.
struct Join {
  size_t candidate;  // as many as there are: with none
  Halves masked;
  bool swapped;  // the other four is the first one of the step
};

// What gains most: without a mask, which is read, too, the last one of those,
// else the first one.
Join BestJoin(const Four *fours,
              uint32_t index,
              const uint32_t *candidates,
              size_t count) {
  const Four &a = fours[index];
  Halves together[kCandidates];
  for (size_t i = count; i-- > 0;) {
    const Four &b = fours[candidates[i]];
    together[i] = a.exceeding | b.exceeding;
    if (together[i] != kBothHalves) together[i] = ExceedingTogether(a, b);
    if (together[i] == 0) return {i, 0, false};
  }
  Join best = {count, 0, false};
  int most = 0;
  for (size_t i = 0; i < count && most < kMostGain; ++i) {
    const Four &b = fours[candidates[i]];
    if (a.exceeding != 0 && b.exceeding != 0) continue;
    const Halves masked = together[i];
    const int gain = GainOf(a, b, masked);
    if (gain <= most) continue;
    const bool as_they_are = FitsMasked(a, b, masked);
    if (!as_they_are && !FitsMasked(b, a, masked)) continue;
    best = {i, masked, !as_they_are};
    most = gain;
  }
  return best;
}

bool IsLeast(const int8_t *pair) {
  return pair[0] == INT8_MIN && pair[1] == INT8_MIN;
}

void WriteRest(const int8_t *four, int8_t *to) {
  std::memset(to, 0, kStepBytes);
  for (size_t i = 0; i < kStepBytes; i += 2) {
    if (IsLeast(four + i)) to[i + 1] = -1;
  }
}

// Two sums of 16 bits for each of four columns, as numbers with a sign.
typedef int16_t Wide __attribute__((vector_size(16)));
constexpr size_t kWideBytes = sizeof(Wide);

// The weights of pairs.
struct Pairs {
  Wide first;
  Wide second;
};

Pairs PairsOf(const int8_t *weights) {
  typedef uint16_t Bits __attribute__((vector_size(kWideBytes)));
  Bits bits;
  std::memcpy(&bits, weights, sizeof(bits));
  return {reinterpret_cast<Wide>(bits << 8) >> 8,
          reinterpret_cast<Wide>(bits) >> 8};
}

// Ones where the sums of pairs and of others fit.
Wide Fit(const Pairs &pairs, const Pairs &others) {
  Wide above = {};
  Wide below = {};
  for (const Wide w :
       {pairs.first, pairs.second, others.first, others.second}) {
    above += w & (w > 0);
    below += w & (w < 0);
  }
  return (above <= kStepLimit) & (below >= -kStepLimit);
}

// The weights of a four; `mask` is that of what changes its sign. `beside`:
// what they are added to, or null.
void WriteMasked(const int8_t *four,
                 const int8_t *beside,
                 int8_t *to,
                 int8_t *mask,
                 int32_t *correction) {
  for (size_t i = 0; i < kStepBytes; i += kWideBytes) {
    Pairs own = PairsOf(four + i);
    Pairs others = {};
    if (beside != nullptr) {
      others = PairsOf(beside + i);
    } else {
      // What WriteRest writes is left of the second weight.
      own.second -= (own.first == INT8_MIN) & (own.second == INT8_MIN);
    }
    // None, the second one rather than the first one, or both.
    const Wide none = Fit(own, others);
    const Wide second = ~none & Fit({own.first, -own.second}, others) &
                        (own.second != INT8_MIN);
    const Wide first = ~none & ~second & Fit({-own.first, own.second}, others) &
                       (own.first != INT8_MIN);
    const Wide both = ~(none | first | second);
    const Pairs flips = {first | both, second | both};
    Wide bytes = (flips.first & 0xff) | flips.second << 8;
    std::memcpy(mask + i, &bytes, sizeof(bytes));
    const Pairs flipped = {own.first & flips.first, own.second & flips.second};
    own.first -= 2 * flipped.first;
    own.second -= 2 * flipped.second;
    bytes = (own.first & 0xff) | own.second << 8;
    std::memcpy(to + i, &bytes, sizeof(bytes));
    const Wide sums = flipped.first + flipped.second;
    for (size_t k = 0; k < kWideBytes / sizeof(sums[0]); ++k) {
      correction[(i + 2 * k) / kFour] += 255 * sums[k];
    }
  }
}

// Plans taps one by one.
class TapPlanner {
 public:
  // Of so many fours.
  explicit TapPlanner(size_t fours) : count_(fours) {
    fours_.reserve(fours);
    steps_.reserve(fours);
  }

  // Appends the fours of the steps to `order`.
  void Plan(const int8_t *weights, std::vector<uint32_t> *order);
  // Of the last call.
  const StepCounts &counts() const { return counts_; }
  size_t rests() const { return rests_; }

 private:
  // Steps in their order in a panel: those of two fours, by the masked halves,
  // and then those of one.
  static constexpr unsigned kSingles = kBothHalves + 1;
  static constexpr unsigned kKinds = 2 * kSingles;

  struct Step {
    unsigned kind;
    uint32_t fours[2];
  };

  void JoinFours();

  const uint32_t count_;
  std::vector<Four> fours_;
  std::vector<Step> steps_;
  StepCounts counts_ = {};
  size_t rests_ = 0;
};

void TapPlanner::JoinFours() {
  // The next ones that are in no step yet.
  uint32_t open[1 + kCandidates];
  size_t count = 0;
  uint32_t next = 0;
  steps_.clear();
  while (true) {
    while (count <= kCandidates && next < count_) open[count++] = next++;
    if (count == 0) return;
    const uint32_t first = open[0];
    std::copy(open + 1, open + count, open);
    --count;
    const Join join = BestJoin(fours_.data(), first, open, count);
    if (join.candidate == count) {
      steps_.push_back({kSingles + fours_[first].exceeding, {first}});
      continue;
    }
    uint32_t *other = open + join.candidate;
    Step step = {join.masked, {first, *other}};
    if (join.swapped) std::swap(step.fours[0], step.fours[1]);
    steps_.push_back(step);
    std::copy(other + 1, open + count, other);
    --count;
  }
}

void TapPlanner::Plan(const int8_t *weights, std::vector<uint32_t> *order) {
  fours_.clear();
  for (size_t i = 0; i < count_; ++i) {
    fours_.push_back(FourOf(weights + i * kStepBytes));
  }
  JoinFours();
  const size_t joined = steps_.size();
  for (uint32_t i = 0; i < count_; ++i) {
    if (fours_[i].has_rest) steps_.push_back({kSingles, {i | kRest}});
  }
  rests_ = steps_.size() - joined;
  uint32_t counts[kKinds] = {};
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    const size_t fours = kind < kSingles ? 2 : 1;
    for (const Step &step : steps_) {
      if (step.kind != kind) continue;
      order->insert(order->end(), step.fours, step.fours + fours);
      ++counts[kind];
    }
  }
  static_assert(sizeof(counts) == sizeof(counts_));
  std::memcpy(&counts_, counts, sizeof(counts));
}

}  // namespace

StepPacking::StepPacking(size_t panels, size_t taps, size_t depth)
    : panels_(panels),
      taps_(taps),
      depth_(depth),
      fours_((depth + kFour - 1) / kFour) {
  counts_.reserve(panels * taps);
  order_.reserve(panels * taps * fours_);
}

void StepPacking::Plan(const int8_t *fours) {
  const size_t before = order_.size();
  size_t masks = 0;
  TapPlanner planner(fours_);
  for (size_t tap = 0; tap < taps_; ++tap) {
    planner.Plan(fours + tap * fours_ * kStepBytes, &order_);
    const StepCounts &counts = planner.counts();
    counts_.push_back(counts);
    masks += counts.Masks();
    shares_.deep += 2 * size_t{counts.Pairs()};
    shares_.masked += 2 * size_t{counts.masked.All()};
    shares_.plain += counts.plain;
    shares_.flipped += counts.flipped.All();
    shares_.rests += planner.rests();
  }
  const size_t written = order_.size() - before;
  bytes_ += HeaderBytes(written) + (written + masks) * kStepBytes;
}

size_t StepPacking::HeaderBytes(size_t steps) const {
  return RoundUp(sizeof(StepPanel) + taps_ * sizeof(StepCounts) +
                 steps * sizeof(uint32_t));
}

size_t StepPacking::TableBytes() const {
  return RoundUp(panels_ * sizeof(int64_t));
}

size_t StepPacking::Bytes() const { return TableBytes() + bytes_; }

// The last four ends with the depth.
uint32_t StepPacking::OffsetOf(uint32_t four) const {
  return static_cast<uint32_t>(
      std::min((four & ~kRest) * kFour, depth_ - kFour));
}

void StepPacking::Write(const int8_t *fours, void *to) {
  auto *table = static_cast<char *>(to);
  if (written_ == 0) next_byte_ = TableBytes();
  char *panel = table + next_byte_;
  const auto distance =
      static_cast<int64_t>(next_byte_ - written_ * sizeof(int64_t));
  std::memcpy(table + written_ * sizeof(distance), &distance, sizeof(distance));
  const StepCounts *counts = counts_.data() + written_ * taps_;
  ++written_;

  size_t written = 0;
  for (size_t tap = 0; tap < taps_; ++tap) written += counts[tap].Fours();
  StepPanel head = {};
  head.weights = HeaderBytes(written);
  auto *offset = reinterpret_cast<uint32_t *>(panel + sizeof(head) +
                                              taps_ * sizeof(StepCounts));
  auto *weights = reinterpret_cast<int8_t *>(panel) + head.weights;
  std::memcpy(panel + sizeof(head), counts, taps_ * sizeof(StepCounts));
  const uint32_t *next = order_.data() + next_four_;
  for (size_t tap = 0; tap < taps_; ++tap) {
    const int8_t *of_tap = fours + tap * fours_ * kStepBytes;
    // The next one as it is.
    const auto write_plain = [&] {
      const uint32_t index = *next++;
      *offset++ = OffsetOf(index);
      const int8_t *four = of_tap + (index & ~kRest) * kStepBytes;
      if ((index & kRest) != 0) {
        WriteRest(four, weights);
      } else {
        std::memcpy(weights, four, kStepBytes);
      }
      weights += kStepBytes;
      return four;
    };
    const auto write_masked = [&](const int8_t *beside) {
      const uint32_t index = *next++;
      *offset++ = OffsetOf(index);
      WriteMasked(of_tap + index * kStepBytes, beside, weights,
                  weights + kStepBytes, head.correction);
      weights += 2 * kStepBytes;
    };
    for (size_t i = 0; i < 2 * size_t{counts[tap].deep}; ++i) write_plain();
    for (size_t i = 0; i < counts[tap].masked.All(); ++i) {
      write_masked(write_plain());
    }
    for (size_t i = 0; i < counts[tap].plain; ++i) write_plain();
    for (size_t i = 0; i < counts[tap].flipped.All(); ++i) {
      write_masked(nullptr);
    }
  }
  std::memcpy(panel, &head, sizeof(head));
  next_four_ += written;
  next_byte_ += static_cast<size_t>(reinterpret_cast<char *>(weights) - panel);
}

}  // namespace mace::gemm
