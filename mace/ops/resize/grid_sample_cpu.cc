// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/kernels/cpu/resize/resize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/resize/grid_sample_schema.h"

namespace mace {
namespace {

constexpr size_t kMaxAxes = 3;
constexpr int kMaxAxisTaps = 4;
constexpr int kMaxTaps = 16;  // 4 x 4, or 2 x 2 x 2
constexpr float kCubicSlope = -0.75f;

// Points of a block whose positions are computed together.
constexpr int64_t kBlock = 64;

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
    // Rounded down: a position is not far outside.
    auto index = static_cast<int64_t>(position);
    index -= static_cast<float>(index) > position ? 1 : 0;
    const float t = position - static_cast<float>(index);
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

  // The first of two taps, and the weight of the second one, of `count` points;
  // place[2 * i] is that of point i. Not with REFLECTION.
  void LinearTaps(const float *place,
                  int64_t count,
                  int32_t *index,
                  float *weight) const {
    const bool zeros = padding_ == GridSamplePadding::ZEROS;
    const auto length = static_cast<float>(length_);
    const float least = zeros ? -3.0f : 0.0f;
    const float most = zeros ? length + 2 : length - 1;
    for (int64_t i = 0; i < count; ++i) {
      float x = align_corners_ ? (place[2 * i] + 1) / 2 * (length - 1)
                               : ((place[2 * i] + 1) * length - 1) / 2;
      x = x > least ? x : least;  // also NaN
      x = x < most ? x : most;
      auto below = static_cast<int32_t>(x);
      below -= static_cast<float>(below) > x ? 1 : 0;
      index[i] = below;
      weight[i] = x - static_cast<float>(below);
    }
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

  // Inside the image, if that does not change the result; within 3 elements of
  // it otherwise. NaN is at the lower border, or outside.
  float Clamped(float x) const {
    const auto length = static_cast<float>(length_);
    const bool zeros = padding_ == GridSamplePadding::ZEROS;
    if (padding_ == GridSamplePadding::REFLECTION) {
      if (x < low_ || x > high_) x = Reflected(x);
    } else if (!zeros && mode_ != GridSampleMode::CUBIC) {
      // As in PyTorch, a cubic curve goes on to the nearest elements.
      x = std::min(std::max(x, 0.0f), length - 1);
    }
    if (x != x) return zeros ? -3 : 0;
    return std::min(std::max(x, -3.0f), length + 2);
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

  GridSampleMode mode_ = GridSampleMode::LINEAR;
  GridSamplePadding padding_ = GridSamplePadding::ZEROS;
  bool align_corners_ = false;
  int64_t length_ = 0;
  float low_ = 0;
  float high_ = 0;
};

// out[c] = the sum of weights[k] * rows[k][c], for pixels smaller than a
// vector.
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
      image.lengths[i] = input->shape[i + 1];
      image.strides[i] = input->shape.Elements(i + 2, input->shape.rank());
    }
    image.zeros = static_cast<const float *>(context->scratch());
    std::memset(context->scratch(), 0,
                static_cast<size_t>(image.channels) * sizeof(float));
    const int64_t points = grid->shape.Elements(1, image.axis_count + 1);
    const int64_t pixels = input->shape.Elements(1, input->shape.rank());
    const bool few = attributes_.mode == GridSampleMode::LINEAR &&
                     attributes_.padding != GridSamplePadding::REFLECTION &&
                     image.axis_count == 2 && pixels < INT32_MAX / 2 &&
                     image.channels < static_cast<int64_t>(kernels_->lanes);
    context->thread_pool()->ParallelFor(
        input->shape[0] * points, RowGrain(8 * image.channels + 64),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          while (few && begin < end) {
            const int64_t count =
                std::min({end - begin, kBlock, points - begin % points});
            LinearBlock(image, input->As<float>() + begin / points * pixels,
                        grid->As<float>() + begin * 2, count,
                        output->MutableAs<float>() + begin * image.channels);
            begin += count;
          }
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
    int64_t lengths[kMaxAxes] = {};
    int64_t strides[kMaxAxes] = {};
    int64_t channels = 0;
    const float *zeros = nullptr;
  };

  // LINEAR samples of an image with few channels.
  static void LinearBlock(const Image &image,
                          const float *pixels,
                          const float *places,
                          int64_t count,
                          float *out) {
    int32_t y[kBlock];
    int32_t x[kBlock];
    float down[kBlock];
    float across[kBlock];
    image.axes[0].LinearTaps(places + 1, count, y, down);
    image.axes[1].LinearTaps(places, count, x, across);
    const int64_t channels = image.channels;
    const auto last_row = static_cast<uint32_t>(image.lengths[0] - 1);
    const auto last_column = static_cast<uint32_t>(image.lengths[1] - 1);
    for (int64_t i = 0; i < count; ++i, out += channels) {
      const float *rows[4];
      if (static_cast<uint32_t>(y[i]) < last_row &&
          static_cast<uint32_t>(x[i]) < last_column) {
        rows[0] = pixels + y[i] * image.strides[0] + x[i] * channels;
        rows[1] = rows[0] + channels;
        rows[2] = rows[0] + image.strides[0];
        rows[3] = rows[2] + channels;
      } else {
        for (int k = 0; k < 4; ++k) {
          const int64_t row = image.axes[0].IndexOf(y[i] + k / 2);
          const int64_t column = image.axes[1].IndexOf(x[i] + k % 2);
          rows[k] = row < 0 || column < 0
                        ? image.zeros
                        : pixels + row * image.strides[0] + column * channels;
        }
      }
      const float weights[4] = {(1 - down[i]) * (1 - across[i]),
                                (1 - down[i]) * across[i],
                                down[i] * (1 - across[i]), down[i] * across[i]};
      for (int64_t c = 0; c < channels; ++c) {
        out[c] = weights[0] * rows[0][c] + weights[1] * rows[1][c] +
                 weights[2] * rows[2][c] + weights[3] * rows[3][c];
      }
    }
  }

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
