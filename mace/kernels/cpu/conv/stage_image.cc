// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The copy of an image that products read: in 16 bits, with channels padded to
// pairs, and with its padding.

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

#define MACE_PLAIN_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")

// Copies `runs` runs of `count` numbers to runs of `padded` numbers, the last
// of which are 0.
template <typename T>
void CopyRuns(const T *from, Index runs, Index count, Index padded, T *to) {
  if (count == padded) {
    std::memcpy(to, from, static_cast<size_t>(runs * count) * sizeof(T));
    return;
  }
  for (Index i = 0; i < runs; ++i, from += count, to += padded) {
    // Short runs, like the 3 channels of a photo, would not fill a vector.
    MACE_PLAIN_LOOP for (Index j = 0; j < count; ++j) to[j] = from[j];
    MACE_PLAIN_LOOP for (Index j = count; j < padded; ++j) to[j] = T{0};
  }
}

// Copies `count` pixels, from number `pixel` of the image on, that are
// contiguous in both images.
void StageRun(const DirectPlan &plan,
              const Args &args,
              Index pixel,
              Index count,
              void *into) {
  const Index at = pixel * plan.shape.groups * plan.channels;
  const Index groups = plan.shape.groups;
  const Index padded = plan.shape.in_c / groups;
  const auto runs = static_cast<size_t>(count * groups);
  if (gemm::kBf16Exists && plan.image != plan.element) {
    const float *from = static_cast<const float *>(args.input) + at;
    uint16_t *to = static_cast<uint16_t *>(into);
    if (padded == plan.channels) {
      plan.arithmetic->narrow(from, to, runs * static_cast<size_t>(padded));
    } else {
      plan.arithmetic->narrow_padded(from, to, runs,
                                     static_cast<size_t>(plan.channels));
    }
  } else if (gemm::kBf16Exists && plan.image != Element::kF32) {
    CopyRuns(static_cast<const uint16_t *>(args.input) + at, count * groups,
             plan.channels, padded, static_cast<uint16_t *>(into));
  } else {
    CopyRuns(static_cast<const float *>(args.input) + at, count * groups,
             plan.channels, padded, static_cast<float *>(into));
  }
}

}  // namespace

void StagePixels(const DirectPlan &plan,
                 const Args &args,
                 ptrdiff_t begin,
                 ptrdiff_t end) {
  const Shape &s = plan.shape;
  const Index to_pixel =
      s.in_c * static_cast<Index>(ElementBytes(plan.element));
  char *to = static_cast<char *>(args.staged) + begin * to_pixel;
  if (s.in_h == plan.image_h && s.in_w == plan.image_w) {
    StageRun(plan, args, begin, end - begin, to);
    return;
  }
  while (begin < end) {
    // Pixels of one row.
    const Index row = begin / s.in_w;
    const Index w_begin = begin % s.in_w;
    const Index w_end = std::min(s.in_w, w_begin + end - begin);
    const Index h = row % s.in_h - plan.border_top;
    Index inside_begin = w_end;
    Index inside_end = w_end;
    if (h >= 0 && h < plan.image_h) {
      inside_begin = std::clamp(plan.border_left, w_begin, w_end);
      inside_end = std::clamp(plan.border_left + plan.image_w, w_begin, w_end);
    }
    std::memset(to, 0,
                static_cast<size_t>((inside_begin - w_begin) * to_pixel));
    to += (inside_begin - w_begin) * to_pixel;
    if (inside_begin < inside_end) {
      const Index pixel = (row / s.in_h * plan.image_h + h) * plan.image_w +
                          inside_begin - plan.border_left;
      StageRun(plan, args, pixel, inside_end - inside_begin, to);
      to += (inside_end - inside_begin) * to_pixel;
    }
    std::memset(to, 0, static_cast<size_t>((w_end - inside_end) * to_pixel));
    to += (w_end - inside_end) * to_pixel;
    begin += w_end - w_begin;
  }
}

}  // namespace mace::conv
