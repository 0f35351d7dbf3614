// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/transposed_axis.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace mace::conv {
namespace {

// (output, input, tap): which input contributes to which output by which tap.
using Meetings = std::set<std::tuple<int64_t, int64_t, int64_t>>;

Meetings ByDefinition(const TransposedAxis &axis, int64_t in, int64_t out) {
  Meetings all;
  for (int64_t i = 0; i < in; ++i) {
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t o = i * axis.stride - axis.pad_before + k * axis.dilation;
      if (o >= 0 && o < out) all.insert({o, i, k});
    }
  }
  return all;
}

Meetings ByPhases(const TransposedAxis &axis, int64_t in, int64_t out) {
  Meetings all;
  for (const TransposedPhase &phase : TransposedPhases(axis)) {
    for (int64_t t = 0; t < PhaseOutputs(phase, axis, out); ++t) {
      const int64_t o = phase.first + t * axis.stride;
      EXPECT_LT(o, out);
      for (int64_t j = 0; j < phase.taps; ++j) {
        const int64_t i = t - phase.pad + j * phase.dilation;
        if (i < 0 || i >= in) continue;
        EXPECT_TRUE(
            all.insert({o, i, phase.last_tap - j * phase.tap_step}).second);
      }
    }
  }
  return all;
}

TEST(TransposedAxisTest, PhasesMeetWhatTheDefinitionSays) {
  for (int64_t kernel = 1; kernel <= 5; ++kernel) {
    for (int64_t stride = 1; stride <= 6; ++stride) {
      for (int64_t dilation = 1; dilation <= 4; ++dilation) {
        for (int64_t pad = 0; pad <= 7; ++pad) {
          SCOPED_TRACE(testing::Message()
                       << "kernel " << kernel << " stride " << stride
                       << " dilation " << dilation << " pad " << pad);
          const TransposedAxis axis = {kernel, stride, dilation, pad, 0, 2};
          for (const int64_t out : {1, 4, 19}) {
            EXPECT_EQ(ByPhases(axis, 4, out), ByDefinition(axis, 4, out));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mace::conv
