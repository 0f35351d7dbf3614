// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/pooling/line_pooling.h"

#include <algorithm>
#include <limits>

namespace mace {
namespace {

// With as many channels, vectors of channels are half full on the widest ISA.
// pooling.py has the same number, for the part FewChannels.
constexpr int64_t kFewChannels = 8;
// Lines between the two steps: at most so many, and about so many bytes.
constexpr int64_t kMostLines = 32;
constexpr int64_t kLinesBytes = 16 * 1024;

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }

}  // namespace

bool LinePooling::Fits(const WindowGeometry &geometry, int64_t channels) {
  // Elements of a pixel lie side by side, so that windows a pixel apart are
  // elements of lines one apart. Those that are further apart are so only with
  // one channel.
  const WindowAxis &across = geometry.axis[1];
  const bool few = channels < kFewChannels;
  return few && (channels == 1 || across.stride == 1);
}

LinePooling::LinePooling(const PoolingAttributes &attributes,
                         const WindowGeometry &geometry,
                         int64_t channels,
                         const pool::LineKernels &kernels)
    : geometry_(geometry),
      channels_(channels),
      average_(attributes.mode == PoolingMode::AVG),
      include_pad_(attributes.count_include_pad),
      kernels_(kernels) {
  const WindowAxis &across = geometry_.axis[1];
  width_ = across.size * channels;
  outputs_ = across.output * channels;
  line_ = static_cast<int64_t>(
      pool::LineFloats(Size(outputs_), Size(across.kernel), Size(across.stride),
                       Size(across.dilation * channels)));
  line_ = std::max(line_, across.pad_before * channels + width_);
  const int64_t fit = kLinesBytes / (line_ * int64_t{sizeof(float)});
  rows_ = std::clamp<int64_t>(fit, 1, kMostLines);
  for (int64_t i = 0; i < outputs_; ++i) {
    const WindowTaps taps = TapsOf(across, i / channels);
    if (average_) divisors_.push_back(static_cast<float>(CountOf(taps)));
    if (taps.inside > 0) continue;
    empty_.resize(Size(outputs_));
    empty_[Size(i)] = 1;
  }
}

void LinePooling::Run(const float *x,
                      int64_t first,
                      const RowRange &rows,
                      void *scratch,
                      float *y) const {
  const auto &[down, across] = geometry_.axis;
  auto *lines = static_cast<float *>(scratch);
  std::fill_n(lines, rows_ * line_,
              average_ ? 0.0f : -std::numeric_limits<float>::infinity());
  pool::Across taps;
  taps.planes = 1;
  taps.row_stride = down.dilation * width_;
  taps.width = Size(width_);
  float divisors[kMostLines];
  int64_t count = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const WindowTaps v = TapsOf(down, row);
    taps.x = x + (v.first - first) * width_;
    taps.rows = Size(v.inside);
    taps.y = lines + count * line_ + across.pad_before * channels_;
    if (v.inside == 0) {
      std::fill_n(taps.y, width_, 0.0f);
    } else {
      (average_ ? kernels_.sum_across : kernels_.max_across)(taps);
    }
    divisors[count++] = v.inside == 0 ? 1.0f : static_cast<float>(CountOf(v));
    if (count < rows_ && row + 1 < rows.end) continue;
    RunAlong(lines, divisors, count, y);
    y += count * outputs_;
    count = 0;
  }
}

void LinePooling::RunAlong(const float *lines,
                           const float *divisors,
                           int64_t count,
                           float *y) const {
  const WindowAxis &across = geometry_.axis[1];
  pool::Along along;
  along.x = lines;
  along.x_stride = Size(line_);
  along.rows = Size(count);
  along.outputs = Size(outputs_);
  along.kernel = Size(across.kernel);
  along.stride = Size(across.stride);
  along.dilation = Size(across.dilation * channels_);
  along.row_divisors = divisors;
  along.divisors = divisors_.data();
  along.y = y;
  (average_ ? kernels_.average_along : kernels_.max_along)(along);
  if (empty_.empty()) return;
  for (int64_t i = 0; i < count * outputs_; ++i) {
    if (empty_[Size(i % outputs_)] != 0) y[i] = 0;
  }
}

}  // namespace mace
