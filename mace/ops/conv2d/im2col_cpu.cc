// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "mace/ops/conv2d/im2col.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace {

struct Im2ColPlan final : OpPlan {
  WindowGeometry geometry;
};

// Rows of windows; T has the size of an element.
template <typename T>
struct Columns {
  const WindowGeometry &geometry;
  const T *x;
  int64_t channels;
  T outside;
  T *y;

  // The windows of row `row`, counted over all images.
  void Row(int64_t row) const {
    const auto &[down, across] = geometry.axis;
    const int64_t window = down.kernel * across.kernel * channels;
    const T *image = x + row / down.output * down.size * across.size * channels;
    T *out = y + row * across.output * window;
    const int64_t top = down.Begin(row % down.output);
    for (int64_t i = 0; i < down.kernel; ++i) {
      const int64_t at = top + i * down.dilation;
      T *line = out + i * across.kernel * channels;
      const bool inside = at >= 0 && at < down.size;
      for (int64_t w = 0; w < across.output; ++w) {
        if (inside) {
          Taps(image + at * across.size * channels, w, line);
        } else {
          std::fill_n(line, across.kernel * channels, outside);
        }
        line += window;
      }
    }
  }

 private:
  // The taps of window `w` in one row of the image.
  void Taps(const T *line, int64_t w, T *out) const {
    const WindowAxis &across = geometry.axis[1];
    const int64_t left = across.Begin(w);
    if (across.dilation == 1) {  // side by side
      const int64_t first = std::clamp<int64_t>(-left, 0, across.kernel);
      const int64_t end =
          std::clamp<int64_t>(across.size - left, first, across.kernel);
      std::fill_n(out, first * channels, outside);
      Copy(line + (left + first) * channels, end - first,
           out + first * channels);
      std::fill_n(out + end * channels, (across.kernel - end) * channels,
                  outside);
      return;
    }
    for (int64_t k = 0; k < across.kernel; ++k, out += channels) {
      const int64_t at = left + k * across.dilation;
      if (at >= 0 && at < across.size) {
        Copy(line + at * channels, 1, out);
      } else {
        std::fill_n(out, channels, outside);
      }
    }
  }

  void Copy(const T *from, int64_t pixels, T *to) const {
    if (pixels == 0) return;
    std::memcpy(to, from, static_cast<size_t>(pixels * channels) * sizeof(T));
  }
};

class Im2ColOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<Im2ColAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    auto plan = std::make_unique<Im2ColPlan>();
    MACE_ASSIGN_OR_RETURN(
        plan->geometry,
        Im2ColWindow(attributes_, context->input(kIm2ColInputInput)->shape));
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    if (context->output(0)->elements() == 0) return MaceStatus();
    const Tensor &input = *context->input(kIm2ColInputInput);
    if (DataTypeSize(input.data_type) == sizeof(uint8_t)) {
      RunAs<uint8_t>(context);
    } else {
      RunAs<uint32_t>(context);
    }
    return MaceStatus();
  }

 private:
  template <typename T>
  void RunAs(RunContext *context) const {
    const Tensor &input = *context->input(kIm2ColInputInput);
    const Tensor *outside = context->input(kIm2ColOutsideInput);
    Tensor *output = context->output(0);
    const auto &plan = context->PlanAs<Im2ColPlan>();
    const Columns<T> columns = {plan.geometry, input.As<T>(), input.shape[3],
                                outside == nullptr ? T{0} : outside->As<T>()[0],
                                output->MutableAs<T>()};
    context->thread_pool()->ParallelFor(
        output->shape.Elements(0, 2), RowGrain(output->shape.Elements(2, 4)),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) columns.Row(row);
        });
  }

  Im2ColAttributes attributes_;
};

MACE_REGISTER_OP(Im2Col, CPU, Im2ColOp);

}  // namespace
}  // namespace mace
