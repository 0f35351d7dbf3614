// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/strided_slice/pad_schema.h"

#include <algorithm>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"

namespace mace {

namespace {

// The position in an axis of n elements from which output position i (counted
// from the first element of the input) takes its value; -1 for the constant.
int64_t SourceOf(PadMode mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case PadMode::CONSTANT:
      return -1;
    case PadMode::REFLECT:
      return i < 0 ? -i : 2 * (n - 1) - i;
    case PadMode::SYMMETRIC:
      return i < 0 ? -i - 1 : 2 * n - 1 - i;
    case PadMode::EDGE:
      return i < 0 ? 0 : n - 1;
  }
  return -1;
}

// The bits of four bytes of the constant, as elements of `tensor`.
uint32_t FillBits(const Tensor &tensor,
                  float value,
                  const HalfActivations &half) {
  const DataType type = tensor.data_type;
  uint32_t bits = 0;
  if (IsHalf(type)) {
    const float two[2] = {value, value};
    uint16_t halves[2];
    half.convert->narrow(two, halves, 2);
    std::memcpy(&bits, halves, sizeof(bits));
    return bits;
  }
  if (type == DataType::kFloat32) {
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  const float low = -2147483648.0f;
  const int32_t whole = value <= low    ? INT32_MIN
                        : value >= -low ? INT32_MAX
                                        : static_cast<int32_t>(value);
  if (DataTypeSize(type) == 1) {
    // The value is a number of the model's type.
    const int32_t least = (type == DataType::kInt8 ? -128 : 0) - tensor.shift;
    return static_cast<uint8_t>(std::clamp(whole, least, least + 255) +
                                tensor.shift) *
           uint32_t{0x01010101};
  }
  if (type == DataType::kInt16) {
    return static_cast<uint16_t>(
               std::clamp<int32_t>(whole, INT16_MIN, INT16_MAX)) *
           uint32_t{0x00010001};
  }
  return static_cast<uint32_t>(whole);
}

class PadOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    half_ = HalfActivations::Of(context->hints(), isa());
    attributes_ = context->AttributesAs<PadAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override;

 private:
  PadAttributes attributes_;
  HalfActivations half_;
};

// Rows along the innermost padded axis; the axes inside it form a block.
struct Rows {
  const uint8_t *input;
  uint8_t *output;
  const int64_t *in_dims;
  const int64_t *out_dims;
  const int64_t *pads;  // before and after, axis by axis
  size_t rank;          // axes down to the rows' own
  int64_t block;        // bytes
  uint32_t fill;
  PadMode mode;
};

void Fill(uint8_t *p, int64_t bytes, uint32_t bits) {
  int64_t i = 0;
  for (; i + 4 <= bytes; i += 4) std::memcpy(p + i, &bits, 4);
  // Of elements of one or two bytes, some may be left.
  if (i < bytes) std::memcpy(p + i, &bits, static_cast<size_t>(bytes - i));
}

void PadRow(const Rows &rows, int64_t row) {
  const size_t last = rows.rank - 1;
  const int64_t width = rows.out_dims[last];
  const int64_t n = rows.in_dims[last];
  const int64_t before = rows.pads[2 * last];
  uint8_t *out = rows.output + row * width * rows.block;
  int64_t source_row = 0;
  int64_t scale = 1;
  int64_t rest = row;
  for (size_t i = last; i-- > 0;) {
    const int64_t at = rest % rows.out_dims[i] - rows.pads[2 * i];
    rest /= rows.out_dims[i];
    const int64_t source = SourceOf(rows.mode, at, rows.in_dims[i]);
    if (source < 0) {
      Fill(out, width * rows.block, rows.fill);
      return;
    }
    source_row += source * scale;
    scale *= rows.in_dims[i];
  }
  const uint8_t *in = rows.input + source_row * n * rows.block;
  const auto edge = [&](int64_t from, int64_t to) {
    for (int64_t x = from; x < to; ++x) {
      const int64_t source = SourceOf(rows.mode, x - before, n);
      if (source < 0) {
        Fill(out + x * rows.block, rows.block, rows.fill);
      } else {
        std::memcpy(out + x * rows.block, in + source * rows.block,
                    static_cast<size_t>(rows.block));
      }
    }
  };
  edge(0, before);
  if (n > 0) {
    std::memcpy(out + before * rows.block, in,
                static_cast<size_t>(n * rows.block));
  }
  edge(before + n, width);
}

MaceStatus PadOp::Run(RunContext *context) const {
  const Tensor *input = context->input(kPadInputInput);
  Tensor *output = context->output(0);
  if (output->elements() == 0) return MaceStatus();
  size_t rank = input->shape.rank();
  int64_t block = static_cast<int64_t>(DataTypeSize(input->data_type));
  while (rank > 1 && attributes_.pads[2 * rank - 1] == 0 &&
         attributes_.pads[2 * rank - 2] == 0) {
    block *= input->shape[--rank];
  }
  if (rank == 0) {
    std::memcpy(output->data, input->data, static_cast<size_t>(block));
    return MaceStatus();
  }
  const Rows rows = {input->As<uint8_t>(),
                     output->MutableAs<uint8_t>(),
                     input->shape.begin(),
                     output->shape.begin(),
                     attributes_.pads.data(),
                     rank,
                     block,
                     FillBits(*input, attributes_.value, half_),
                     attributes_.mode};
  const int64_t count = output->shape.Elements(0, rank - 1);
  context->thread_pool()->ParallelFor(
      count, RowGrain(output->shape[rank - 1] * block / 4),
      [&rows](int64_t begin, int64_t end, int /*thread*/) {
        for (int64_t row = begin; row < end; ++row) PadRow(rows, row);
      });
  return MaceStatus();
}

}  // namespace

MACE_REGISTER_OP(Pad, CPU, PadOp);

}  // namespace mace
