// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/kernels/cpu/resize/resize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/grid_sample/grid_sample_schema.h"

namespace mace {
namespace {

constexpr size_t kMaxAxes = 3;
constexpr int kMaxAxisTaps = 4;
constexpr int kMaxTaps = 16;  // 4 x 4, or 2 x 2 x 2
constexpr float kCubicSlope = -0.75f;

// The elements along one axis from which a value is computed.
struct AxisTaps {
  int64_t index[kMaxAxisTaps];  // -1: outside, with the value 0
  float weight[kMaxAxisTaps];
};

// To the nearest integer; of two, to the even one.
float RoundToEven(float x) {
  const float below = std::floor(x);
  const float rest = x - below;
  if (rest != 0.5f) return rest < 0.5f ? below : below + 1;
  return std::fmod(below, 2.0f) == 0 ? below : below + 1;
}

class GridAxis {
 public:
  GridAxis() = default;
  GridAxis(const GridSampleAttributes &attributes, int64_t length)
      : mode_(attributes.mode),
        padding_(attributes.padding),
        align_corners_(attributes.align_corners),
        length_(length),
        low_(align_corners_ ? 0.0f : -0.5f),
        high_(static_cast<float>(length) - (align_corners_ ? 1.0f : 0.5f)) {}

  AxisTaps TapsAt(float place) const {
    const float position = Clamped(PositionOf(place));
    AxisTaps taps;
    if (mode_ == GridSampleMode::NEAREST) {
      taps.index[0] = IndexOf(static_cast<int64_t>(position));
      taps.weight[0] = 1;
      return taps;
    }
    const float base = std::floor(position);
    const float t = position - base;
    auto index = static_cast<int64_t>(base);
    int count = 2;
    if (mode_ == GridSampleMode::LINEAR) {
      taps.weight[0] = 1 - t;
      taps.weight[1] = t;
    } else {
      taps.weight[0] = Far(t + 1);
      taps.weight[1] = Near(t);
      taps.weight[2] = Near(1 - t);
      taps.weight[3] = Far(2 - t);
      count = 4;
      --index;
    }
    const bool inside = index >= 0 && index + count <= length_;
    for (int k = 0; k < count; ++k, ++index) {
      taps.index[k] = inside ? index : IndexOf(index);
    }
    return taps;
  }

 private:
  // Keys' convolution kernel.
  static float Near(float d) {
    return ((kCubicSlope + 2) * d - (kCubicSlope + 3)) * d * d + 1;
  }
  static float Far(float d) {
    return ((kCubicSlope * d - 5 * kCubicSlope) * d + 8 * kCubicSlope) * d -
           4 * kCubicSlope;
  }

  float PositionOf(float place) const {
    const auto length = static_cast<float>(length_);
    const float x = align_corners_ ? (place + 1) / 2 * (length - 1)
                                   : ((place + 1) * length - 1) / 2;
    return mode_ == GridSampleMode::NEAREST ? RoundToEven(x) : x;
  }

  // Inside the image, if it is padded by its own elements; within 3 elements of
  // it otherwise. NaN is at the lower border, or outside.
  float Clamped(float x) const {
    const auto length = static_cast<float>(length_);
    float least = -3;
    if (padding_ != GridSamplePadding::ZEROS) {
      const bool border = padding_ == GridSamplePadding::BORDER;
      if (x < low_) {
        x = border ? 0 : Reflected(x);
      } else if (x > high_) {
        x = border ? length - 1 : Reflected(x);
      }
      if (!(x == x)) x = 0;
    }
    return x > least ? std::min(x, length + 2) : least;
  }

  float Reflected(float x) const {
    const float width = high_ - low_;
    if (width == 0) return 0;
    const bool below = x < low_;
    const float distance = below ? low_ - x : x - high_;
    const float rest = std::fmod(distance, width);
    const bool even = std::fmod(std::trunc(distance / width), 2.0f) == 0;
    return below == even ? low_ + rest : high_ - rest;
  }

  int64_t IndexOf(int64_t index) const {
    if (padding_ == GridSamplePadding::ZEROS) {
      return index >= 0 && index < length_ ? index : -1;
    }
    if (padding_ == GridSamplePadding::REFLECTION) {
      const auto x = static_cast<float>(index);
      if (x < low_ || x > high_) index = static_cast<int64_t>(Reflected(x));
    }
    return std::clamp<int64_t>(index, 0, length_ - 1);
  }

  GridSampleMode mode_ = GridSampleMode::LINEAR;
  GridSamplePadding padding_ = GridSamplePadding::ZEROS;
  bool align_corners_ = false;
  int64_t length_ = 0;
  float low_ = 0;
  float high_ = 0;
};

// out[c] = the sum of weights[k] * rows[k][c].
void BlendFew(const float *const *rows,
              const float *weights,
              int taps,
              int64_t channels,
              float *out) {
  for (int64_t c = 0; c < channels; ++c) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += weights[k] * rows[k][c];
    out[c] = sum;
  }
}

class GridSampleOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<GridSampleAttributes>();
    kernels_ = resize::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const int64_t channels =
        context->input(kGridSampleInputInput)->shape.back();
    context->RequestScratch(static_cast<size_t>(channels) * sizeof(float));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kGridSampleInputInput);
    const Tensor *grid = context->input(kGridSampleGridInput);
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    Image image;
    image.axis_count = input->shape.rank() - 2;
    image.channels = input->shape.back();
    for (size_t i = 0; i < image.axis_count; ++i) {
      image.axes[i] = GridAxis(attributes_, input->shape[i + 1]);
      image.strides[i] = input->shape.Elements(i + 2, input->shape.rank());
    }
    image.zeros = static_cast<const float *>(context->scratch());
    std::memset(context->scratch(), 0,
                static_cast<size_t>(image.channels) * sizeof(float));
    const int64_t points = grid->shape.Elements(1, image.axis_count + 1);
    const int64_t pixels = input->shape.Elements(1, input->shape.rank());
    context->thread_pool()->ParallelFor(
        input->shape[0] * points, RowGrain(8 * image.channels + 64),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t i = begin; i < end; ++i) {
            Sample(
                image, input->As<float>() + i / points * pixels,
                grid->As<float>() + i * static_cast<int64_t>(image.axis_count),
                output->MutableAs<float>() + i * image.channels);
          }
        });
    return MaceStatus();
  }

 private:
  struct Image {
    size_t axis_count = 0;
    GridAxis axes[kMaxAxes];
    int64_t strides[kMaxAxes] = {};
    int64_t channels = 0;
    const float *zeros = nullptr;
  };

  void Sample(const Image &image,
              const float *pixels,
              const float *place,
              float *out) const {
    const int axis_taps = attributes_.mode == GridSampleMode::NEAREST  ? 1
                          : attributes_.mode == GridSampleMode::LINEAR ? 2
                                                                       : 4;
    const float *rows[kMaxTaps] = {pixels};
    float weights[kMaxTaps] = {1};
    int taps = 1;
    for (size_t a = 0; a < image.axis_count; ++a) {
      const AxisTaps axis =
          image.axes[a].TapsAt(place[image.axis_count - 1 - a]);
      // From the last one, because each one becomes several.
      for (int i = taps - 1; i >= 0; --i) {
        const float *row = rows[i];
        const float weight = weights[i];
        for (int k = axis_taps - 1; k >= 0; --k) {
          const bool outside = row == image.zeros || axis.index[k] < 0;
          rows[i * axis_taps + k] =
              outside ? image.zeros : row + axis.index[k] * image.strides[a];
          weights[i * axis_taps + k] = weight * axis.weight[k];
        }
      }
      taps *= axis_taps;
    }
    if (taps == 1) {
      std::memcpy(out, rows[0],
                  static_cast<size_t>(image.channels) * sizeof(float));
    } else if (image.channels < static_cast<int64_t>(kernels_->lanes)) {
      BlendFew(rows, weights, taps, image.channels, out);
    } else {
      kernels_->blend(rows, weights, static_cast<size_t>(taps),
                      static_cast<size_t>(image.channels), out);
    }
  }

  GridSampleAttributes attributes_;
  const resize::Kernels *kernels_ = nullptr;
};

MACE_REGISTER_OP(GridSample, CPU, GridSampleOp);

}  // namespace
}  // namespace mace
