// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/pair_groups.h"

#include <algorithm>
#include <cstring>

namespace mace::dwconv {
namespace {

using Index = ptrdiff_t;

constexpr Index kTaps = 9;
constexpr size_t kPairBytes = 4;

// With more outputs per group, a product fills its vectors too. On Zen 5, 32
// outputs take 0.67 times as long as a product with stride 1, but equally long
// with stride 2; 16 outputs take 0.5 and 0.57 times as long.
constexpr Index kMostOutputs = 32;
constexpr Index kMostStridedOutputs = 16;

Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }

Index OutputsOf(const Shape &s) { return s.out_c / s.groups; }
Index ChannelsOf(const Shape &s) { return s.in_c / s.groups; }

}  // namespace

bool FitsPairGroups(const Shape &s) {
  const Index right = (s.out_w - 1) * s.stride_w + 3 - s.pad_left - s.in_w;
  if (s.kernel_h != 3 || s.kernel_w != 3 || s.dilation_h != 1 ||
      s.dilation_w != 1 || s.stride_h != s.stride_w || s.stride_w > 2 ||
      s.pad_left > 1 || right > 1) {
    return false;
  }
  const Index channels = ChannelsOf(s);
  const Index outputs = OutputsOf(s);
  if (s.groups == 1 || channels % 2 != 0 || channels > kMaxPairChannels ||
      s.out_c < kPairLanes) {
    return false;
  }
  if (outputs >= kPairLanes) {
    return outputs <= (s.stride_w == 1 ? kMostOutputs : kMostStridedOutputs);
  }
  return outputs == channels && kPairLanes % outputs == 0;
}

ptrdiff_t PairVectorsBefore(const Shape &s, ptrdiff_t group) {
  const Index outputs = OutputsOf(s);
  if (outputs < kPairLanes) return DivideUp(group * outputs, kPairLanes);
  return group * DivideUp(outputs, kPairLanes);
}

ptrdiff_t FirstPairOutput(const Shape &s, ptrdiff_t vector) {
  const Index outputs = OutputsOf(s);
  if (outputs < kPairLanes) {
    return std::min(vector * kPairLanes, s.out_c - kPairLanes);
  }
  const Index per_group = DivideUp(outputs, kPairLanes);
  return vector / per_group * outputs +
         std::min(vector % per_group * kPairLanes, outputs - kPairLanes);
}

size_t PairFilterBytes(const Shape &s) {
  return static_cast<size_t>(PairVectorsBefore(s, s.groups) * kTaps *
                             (ChannelsOf(s) / 2) * kPairLanes) *
         kPairBytes;
}

void LayOutPairs(const Shape &s, const void *panels, void *to) {
  const Index pairs = ChannelsOf(s) / 2;
  const Index outputs = OutputsOf(s);
  const Index group_panels = DivideUp(outputs, kPairLanes);
  const Index vectors = PairVectorsBefore(s, s.groups);
  const char *from = static_cast<const char *>(panels);
  char *p = static_cast<char *>(to);
  for (Index v = 0; v < vectors; ++v) {
    const Index first = FirstPairOutput(s, v);
    for (Index pair = 0; pair < pairs; ++pair) {
      for (Index tap = 0; tap < kTaps; ++tap) {
        for (Index o = first; o < first + kPairLanes; ++o, p += kPairBytes) {
          const Index column = o % outputs;
          const Index panel = o / outputs * group_panels + column / kPairLanes;
          const Index at = ((panel * kTaps + tap) * pairs + pair) * kPairLanes +
                           column % kPairLanes;
          std::memcpy(p, from + static_cast<size_t>(at) * kPairBytes,
                      kPairBytes);
        }
      }
    }
  }
}

}  // namespace mace::dwconv
