// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/step_packing.h"

#include <algorithm>
#include <cstring>

namespace mace::gemm {
namespace {

constexpr size_t kColumns = 16;
constexpr size_t kFour = 4;
// Sums of 16 bits that a four is multiplied to.
constexpr size_t kSums = kColumns * 2;
constexpr size_t kLine = 64;
// Fours that one may be joined with are looked for among so many that follow.
constexpr size_t kCandidates = 6;

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

SignSums SumSigns(const int8_t *four) {
  typedef uint16_t Pairs __attribute__((vector_size(2 * kTogether)));
  SignSums sums;
  for (size_t i = 0; i < kParts; ++i, four += sizeof(Pairs)) {
    Pairs pairs;
    std::memcpy(&pairs, four, sizeof(pairs));
    const Sums a = reinterpret_cast<Sums>(pairs << 8) >> 8;
    const Sums b = reinterpret_cast<Sums>(pairs) >> 8;
    sums.above[i] = (a & (a > 0)) + (b & (b > 0));
    sums.below[i] = sums.above[i] - a - b;
  }
  return sums;
}

// Whether the sums of both fit, in parts [begin, end).
bool Fit(const SignSums &a, const SignSums &b, size_t begin, size_t end) {
  Sums too_large = {};
  for (size_t i = begin; i < end; ++i) {
    too_large |= (a.above[i] + b.above[i] > kStepLimit) |
                 (a.below[i] + b.below[i] > kStepLimit);
  }
  return __builtin_reduce_or(too_large) == 0;
}

// Which halves of the columns do not fit: bit 0 the first, bit 1 the last.
size_t Exceeding(const SignSums &sums) {
  const SignSums none = {};
  return (Fit(sums, none, 0, kParts / 2) ? 0 : 1) |
         (Fit(sums, none, kParts / 2, kParts) ? 0 : 2);
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

// The weights and the mask.
void WriteFlipped(const int8_t *four, int8_t *to, int32_t *correction) {
  std::memcpy(to, four, kStepBytes);
  int8_t *mask = to + kStepBytes;
  std::memset(mask, 0, kStepBytes);
  for (size_t i = 0; i < kStepBytes; i += 2) {
    const auto a = int{four[i]};
    const auto b = int{four[i + 1]};
    if (a + b <= kStepLimit && a + b >= -kStepLimit) continue;
    const size_t at = b == INT8_MIN && a != INT8_MIN ? i : i + 1;
    const int weight = IsLeast(four + i) ? -INT8_MAX : four[at];
    to[at] = static_cast<int8_t>(-weight);
    mask[at] = -1;
    correction[i / kFour] += 255 * weight;
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
  size_t flipped = 0;
  for (size_t tap = 0; tap < taps_; ++tap) {
    PlanTap(fours + tap * fours_ * kStepBytes);
    flipped += counts_.back().AllFlipped();
  }
  const size_t steps = order_.size() - before;
  bytes_ += HeaderBytes(steps) + (steps + flipped) * kStepBytes;
}

void StepPacking::PlanTap(const int8_t *fours) {
  std::vector<uint32_t> plain;
  std::vector<uint32_t> flipped[4];  // by what exceeds; of 0 there is none
  std::vector<uint32_t> rests;
  std::vector<SignSums> sums;  // of the plain ones
  sums.reserve(fours_);
  for (size_t i = 0; i < fours_; ++i) {
    const int8_t *four = fours + i * kStepBytes;
    const auto index = static_cast<uint32_t>(i);
    const SignSums own = SumSigns(four);
    const size_t exceeding = Exceeding(own);
    if (exceeding == 0) {
      plain.push_back(index);
      sums.push_back(own);
      continue;
    }
    flipped[exceeding].push_back(index);
    if (HasRest(four)) rests.push_back(index | kRest);
  }
  const size_t begin = order_.size();
  std::vector<char> taken(plain.size(), 0);
  for (size_t i = 0; i < plain.size(); ++i) {
    if (taken[i] != 0) continue;
    const size_t end = std::min(plain.size(), i + 1 + kCandidates);
    for (size_t j = i + 1; j < end; ++j) {
      if (taken[j] != 0 || !Fit(sums[i], sums[j], 0, kParts)) continue;
      taken[i] = taken[j] = 1;
      order_.insert(order_.end(), {plain[i], plain[j]});
      break;
    }
  }
  StepCounts counts;
  counts.deep = static_cast<uint32_t>((order_.size() - begin) / 2);
  for (size_t i = 0; i < plain.size(); ++i) {
    if (taken[i] == 0) order_.push_back(plain[i]);
  }
  order_.insert(order_.end(), rests.begin(), rests.end());
  counts.plain = static_cast<uint32_t>(order_.size() - begin) - 2 * counts.deep;
  for (const auto &some : flipped) {
    order_.insert(order_.end(), some.begin(), some.end());
  }
  counts.first = static_cast<uint32_t>(flipped[1].size());
  counts.last = static_cast<uint32_t>(flipped[2].size());
  counts.flipped = static_cast<uint32_t>(flipped[3].size());
  counts_.push_back(counts);
  shares_.deep += 2 * counts.deep;
  shares_.plain += counts.plain;
  shares_.flipped += counts.AllFlipped();
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

  size_t steps = 0;
  for (size_t tap = 0; tap < taps_; ++tap) {
    steps += 2 * size_t{counts[tap].deep} + counts[tap].plain +
             counts[tap].AllFlipped();
  }
  StepPanel head = {};
  head.weights = HeaderBytes(steps);
  auto *offset = reinterpret_cast<uint32_t *>(panel + sizeof(head) +
                                              taps_ * sizeof(StepCounts));
  auto *weights = reinterpret_cast<int8_t *>(panel) + head.weights;
  std::memcpy(panel + sizeof(head), counts, taps_ * sizeof(StepCounts));
  const uint32_t *next = order_.data() + next_four_;
  for (size_t tap = 0; tap < taps_; ++tap) {
    const int8_t *of_tap = fours + tap * fours_ * kStepBytes;
    const size_t as_they_are = 2 * size_t{counts[tap].deep} + counts[tap].plain;
    for (size_t i = 0; i < as_they_are; ++i, weights += kStepBytes) {
      const uint32_t index = *next++;
      *offset++ = OffsetOf(index);
      const int8_t *four = of_tap + (index & ~kRest) * kStepBytes;
      if ((index & kRest) != 0) {
        WriteRest(four, weights);
      } else {
        std::memcpy(weights, four, kStepBytes);
      }
    }
    for (size_t i = 0; i < counts[tap].AllFlipped(); ++i) {
      const uint32_t index = *next++;
      *offset++ = OffsetOf(index);
      WriteFlipped(of_tap + index * kStepBytes, weights, head.correction);
      weights += 2 * kStepBytes;
    }
  }
  std::memcpy(panel, &head, sizeof(head));
  next_four_ += steps;
  next_byte_ += static_cast<size_t>(reinterpret_cast<char *>(weights) - panel);
}

}  // namespace mace::gemm
