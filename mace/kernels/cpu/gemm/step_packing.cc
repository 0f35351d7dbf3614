// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/step_packing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mace::gemm {
namespace {

constexpr size_t kColumns = 16;
constexpr size_t kFour = 4;
// Sums of 16 bits that a four is multiplied to.
constexpr size_t kSums = kColumns * 2;
constexpr size_t kLine = 64;
// Fours that one may be joined with are looked for among so many that follow:
// twice as many gain 1 % of the instructions.
constexpr size_t kCandidates = 16;

// In StepPacking::order_: what is left of a four.
constexpr uint32_t kRest = uint32_t{1} << 31;

constexpr size_t RoundUp(size_t x) { return (x + kLine - 1) / kLine * kLine; }

// A number for each of eight sums of 16 bits. The constants of wider vectors
// are aligned like them, which keeps the linker from merging those of the whole
// library: 17 KB.
constexpr size_t kTogether = 8;
typedef int16_t Sums __attribute__((vector_size(2 * kTogether)));
constexpr size_t kParts = kSums / kTogether;

// The weights above 0 of each sum, and those below 0, as positive numbers.
struct SignSums {
  Sums above[kParts];
  Sums below[kParts];
};

// Of the pairs of weights a and b.
void SumSigns(Sums a, Sums b, size_t part, SignSums *sums) {
  sums->above[part] = (a & (a > 0)) + (b & (b > 0));
  sums->below[part] = sums->above[part] - a - b;
}

// Which halves of the columns something is true of: bit 0 the first, bit 1 the
// last.
using Halves = unsigned;
constexpr Halves kBothHalves = 3;

Halves HalvesOf(const Sums (&is_true)[kParts]) {
  Halves halves = 0;
  for (size_t i = 0; i < kParts; ++i) {
    if (__builtin_reduce_or(is_true[i]) != 0) halves |= 1u << (2 * i / kParts);
  }
  return halves;
}

Sums Exceed(Sums above, Sums below) {
  return (above > kStepLimit) | (below > kStepLimit);
}

struct Four {
  SignSums own;
  SignSums half_flipped;  // the second weight of each pair with the other sign
  Halves exceeding;       // in which it does not fit alone
  bool has_least;         // a weight of -128
};

Four FourOf(const int8_t *weights) {
  typedef uint16_t Pairs __attribute__((vector_size(2 * kTogether)));
  Four four;
  Sums exceed[kParts];
  Sums least = {};
  for (size_t i = 0; i < kParts; ++i, weights += sizeof(Pairs)) {
    Pairs pairs;
    std::memcpy(&pairs, weights, sizeof(pairs));
    const Sums a = reinterpret_cast<Sums>(pairs << 8) >> 8;
    const Sums b = reinterpret_cast<Sums>(pairs) >> 8;
    SumSigns(a, b, i, &four.own);
    SumSigns(a, -b, i, &four.half_flipped);
    exceed[i] = Exceed(four.own.above[i], four.own.below[i]);
    least |= (a == INT8_MIN) | (b == INT8_MIN);
  }
  four.exceeding = HalvesOf(exceed);
  four.has_least = __builtin_reduce_or(least) != 0;
  return four;
}

// The halves in which the sums of both do not fit.
Halves ExceedingTogether(const Four &a, const Four &b) {
  Sums exceed[kParts];
  for (size_t i = 0; i < kParts; ++i) {
    exceed[i] = Exceed(a.own.above[i] + b.own.above[i],
                       a.own.below[i] + b.own.below[i]);
  }
  return HalvesOf(exceed);
}

// The halves in which they do not, whichever weights of `b` change their signs.
Halves ExceedingAnyway(const Four &a, const Four &b) {
  Sums exceed[kParts];
  for (size_t i = 0; i < kParts; ++i) {
    const Sums above = a.own.above[i];
    const Sums below = a.own.below[i];
    exceed[i] = Sums{} - 1;
    for (const SignSums *some : {&b.own, &b.half_flipped}) {
      exceed[i] &= Exceed(above + some->above[i], below + some->below[i]) &
                   Exceed(above + some->below[i], below + some->above[i]);
    }
  }
  return HalvesOf(exceed);
}

// What a step takes for each vector of columns and row, in instructions of
// which two are for a half, without those that load. One that masks a half has
// one more, and one that masks both two.
constexpr int kSingle = 6;
constexpr int kDeep = 10;
constexpr int kCosts[] = {0, 1, 1, 2};  // by the masked halves

int CostOf(const Four &four) { return kSingle + kCosts[four.exceeding]; }

// How two fours are joined.
struct Join {
  int gain = 0;  // of instructions as above
  Halves masked = 0;
  bool swapped = false;  // the later four is the first one of the step
};

Join JoinOf(const Four &a, const Four &b) {
  Join join;
  if (a.exceeding != 0 && b.exceeding != 0) return join;
  const int both = CostOf(a) + CostOf(b);
  const Halves masked = ExceedingTogether(a, b);
  const int gain = both - kDeep - kCosts[masked];
  if (gain <= 0) return join;
  // Where the sums do not fit, `first` does, with some signs of the other.
  const auto fits = [masked](const Four &first, const Four &second) {
    return first.exceeding == 0 && !second.has_least &&
           (ExceedingAnyway(first, second) & masked) == 0;
  };
  if (masked == 0 || fits(a, b)) return {gain, masked, false};
  if (fits(b, a)) return {gain, masked, true};
  return join;
}

bool IsLeast(const int8_t *pair) {
  return pair[0] == INT8_MIN && pair[1] == INT8_MIN;
}

bool HasRest(const int8_t *four) {
  for (size_t i = 0; i < kStepBytes; i += 2) {
    if (IsLeast(four + i)) return true;
  }
  return false;
}

void WriteRest(const int8_t *four, int8_t *to) {
  std::memset(to, 0, kStepBytes);
  for (size_t i = 0; i < kStepBytes; i += 2) {
    if (IsLeast(four + i)) to[i + 1] = -1;
  }
}

// Whether the sum of a pair and of `above` and `below` fits, if those weights
// change their signs that `flips` has bits for.
bool FitsFlipped(const int8_t *pair, unsigned flips, int above, int below) {
  for (unsigned i = 0; i < 2; ++i) {
    const bool flip = (flips >> i & 1) != 0;
    if (flip && pair[i] == INT8_MIN) return false;
    const int weight = flip ? -pair[i] : pair[i];
    (weight > 0 ? above : below) += std::abs(weight);
  }
  return above <= kStepLimit && below <= kStepLimit;
}

// The weights of a four; `mask` is that of what changes its sign. `beside`:
// what they are added to, or null.
void WriteMasked(const int8_t *four,
                 const int8_t *beside,
                 int8_t *to,
                 int8_t *mask,
                 int32_t *correction) {
  std::memcpy(to, four, kStepBytes);
  std::memset(mask, 0, kStepBytes);
  for (size_t i = 0; i < kStepBytes; i += 2) {
    int above = 0;
    int below = 0;
    for (size_t k = i; beside != nullptr && k < i + 2; ++k) {
      (beside[k] > 0 ? above : below) += std::abs(beside[k]);
    }
    // What WriteRest writes is left of the second weight.
    if (beside == nullptr && IsLeast(four + i)) to[i + 1] = -INT8_MAX;
    // The second one, rather than the first one.
    constexpr unsigned kOrder[] = {0, 2, 1, 3};
    unsigned flips = 0;
    for (const unsigned some : kOrder) {
      flips = some;
      if (FitsFlipped(to + i, flips, above, below)) break;
    }
    for (size_t k = i; k < i + 2; ++k, flips >>= 1) {
      if ((flips & 1) == 0) continue;
      correction[i / kFour] += 255 * to[k];
      to[k] = static_cast<int8_t>(-to[k]);
      mask[k] = -1;
    }
  }
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
  for (size_t tap = 0; tap < taps_; ++tap) {
    PlanTap(fours + tap * fours_ * kStepBytes);
    masks += counts_.back().Masks();
  }
  const size_t written = order_.size() - before;
  bytes_ += HeaderBytes(written) + (written + masks) * kStepBytes;
}

void StepPacking::PlanTap(const int8_t *weights) {
  std::vector<Four> fours;
  fours.reserve(fours_);
  std::vector<uint32_t> rests;
  for (size_t i = 0; i < fours_; ++i) {
    const int8_t *four = weights + i * kStepBytes;
    fours.push_back(FourOf(four));
    if (HasRest(four)) rests.push_back(static_cast<uint32_t>(i) | kRest);
  }
  // By their masked halves.
  std::vector<uint32_t> joined[kBothHalves + 1];
  std::vector<uint32_t> single[kBothHalves + 1];
  std::vector<char> taken(fours_, 0);
  for (size_t i = 0; i < fours_; ++i) {
    if (taken[i] != 0) continue;
    Join best;
    size_t other = i;
    size_t candidates = 0;
    for (size_t j = i + 1; j < fours_ && candidates < kCandidates; ++j) {
      if (taken[j] != 0) continue;
      ++candidates;
      const Join join = JoinOf(fours[i], fours[j]);
      if (join.gain < best.gain) continue;
      // A mask is read, too.
      if (join.gain == best.gain && (join.gain == 0 || join.masked != 0)) {
        continue;
      }
      best = join;
      other = j;
    }
    auto first = static_cast<uint32_t>(i);
    if (other == i) {
      single[fours[i].exceeding].push_back(first);
      continue;
    }
    taken[other] = 1;
    auto second = static_cast<uint32_t>(other);
    if (best.swapped) std::swap(first, second);
    joined[best.masked].insert(joined[best.masked].end(), {first, second});
  }
  std::vector<uint32_t> &plain = single[0];
  plain.insert(plain.end(), rests.begin(), rests.end());
  for (const auto *kind : {joined, single}) {
    for (Halves masked = 0; masked <= kBothHalves; ++masked) {
      order_.insert(order_.end(), kind[masked].begin(), kind[masked].end());
    }
  }
  const auto pairs = [&](Halves masked) {
    return static_cast<uint32_t>(joined[masked].size() / 2);
  };
  const auto singles = [&](Halves masked) {
    return static_cast<uint32_t>(single[masked].size());
  };
  const StepCounts counts = {pairs(0),
                             {pairs(1), pairs(2), pairs(3)},
                             singles(0),
                             {singles(1), singles(2), singles(3)}};
  counts_.push_back(counts);
  shares_.deep += 2 * size_t{counts.Pairs()};
  shares_.masked += 2 * size_t{counts.masked.All()};
  shares_.plain += counts.plain;
  shares_.flipped += counts.flipped.All();
  shares_.rests += rests.size();
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
