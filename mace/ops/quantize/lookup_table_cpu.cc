// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "mace/core/base/status.h"
#include "mace/kernels/cpu/lookup/lookup.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/quantize/lookup_table_schema.h"

namespace mace {
namespace {

class LookupTableOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = lookup::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kLookupTableInputInput)->shape;
    if (shape.rank() == 4 && shape.Elements() > 0) {
      context->Keep(std::make_unique<InBands>(this));
    }
    context->AllowInPlace(0, kLookupTableInputInput);
    context->AllowStridedInput(kLookupTableInputInput);
    context->AllowStridedOutput(0);
    const Flips flips = FlipsOf(*context);
    const Tensor &table = *context->input(kLookupTableTableInput);
    const uint8_t **flipped = &flipped_[flips.index()];
    if (flips.index() != 0 && *flipped == nullptr) {
      context->RequestPrepared(
          static_cast<size_t>(table.bytes()),
          [flips, flipped, &table](void *memory) -> MaceStatus {
            if (memory == nullptr) {
              return OutOfResources("no memory for a table of ", table.bytes(),
                                    " bytes");
            }
            flips.Apply(table, static_cast<uint8_t *>(memory));
            *flipped = static_cast<const uint8_t *>(memory);
            return MaceStatus();
          });
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kLookupTableInputInput);
    if (input->elements() == 0) return MaceStatus();
    Tensor *output = context->output(0);
    const Pixels<const uint8_t> x = {input->As<uint8_t>(), input->RowStride()};
    const Pixels<uint8_t> y = {output->MutableAs<uint8_t>(),
                               output->RowStride()};
    const int64_t columns = input->row_length();
    context->thread_pool()->ParallelFor(
        input->elements() / columns, RowGrain(columns),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          Compute(*context, {x.data + begin * x.stride, x.stride},
                  {y.data + begin * y.stride, y.stride}, end - begin);
        });
    return MaceStatus();
  }

 private:
  // What Tensor::shift changes of the table of the model: the numbers of the
  // entries, and the entries.
  struct Flips {
    uint8_t numbers;
    uint8_t entries;

    size_t index() const {
      return (numbers != 0 ? 1 : 0) + (entries != 0 ? 2 : 0);
    }
    void Apply(const Tensor &table, uint8_t *to) const {
      const uint8_t *from = table.As<uint8_t>();
      for (int64_t i = 0; i < table.bytes(); ++i) {
        to[i] = static_cast<uint8_t>(from[i ^ numbers] ^ entries);
      }
    }
  };

  // `Context` is PlanContext or RunContext.
  template <typename Context>
  static Flips FlipsOf(const Context &context) {
    constexpr uint8_t kSign = 0x80;
    const auto flip = [](const Tensor &tensor) {
      return tensor.shift == 0 ? uint8_t{0} : kSign;
    };
    return {flip(*context.input(kLookupTableInputInput)),
            flip(*context.output(0))};
  }

  // The plan for images, which can run in bands of their rows.
  class InBands final : public OpPlan, private RowBands {
   public:
    explicit InBands(const LookupTableOp *op) : op_(op) {}
    const RowBands *row_bands() const override { return this; }

   private:
    RowRange InputRows(const RowRange &output) const override { return output; }
    size_t BandScratchBytes(int64_t) const override { return 0; }
    void RunBand(const RunContext &context, const BandRun &run) const override {
      const Shape &shape = context.input(kLookupTableInputInput)->shape;
      op_->Compute(context,
                   {static_cast<const uint8_t *>(run.input), run.input_stride},
                   {static_cast<uint8_t *>(run.output), run.output_stride},
                   run.rows.count() * shape[2]);
    }

    const LookupTableOp *op_;
  };

  void Compute(const RunContext &context,
               const Pixels<const uint8_t> &x,
               const Pixels<uint8_t> &y,
               int64_t count) const {
    const Tensor &table = *context.input(kLookupTableTableInput);
    const int64_t columns = context.input(kLookupTableInputInput)->row_length();
    const bool each = table.shape.rank() == 2;
    lookup::Rows rows;
    rows.rows = static_cast<size_t>(count);
    rows.columns = static_cast<size_t>(columns);
    rows.x_stride = static_cast<size_t>(x.stride);
    rows.y_stride = static_cast<size_t>(y.stride);
    if (!each && x.stride == columns && y.stride == columns) {
      rows.columns *= rows.rows;
      rows.rows = 1;
    }
    const size_t flipped = FlipsOf(context).index();
    (each ? kernels_->each : kernels_->one)(
        flipped == 0 ? table.As<uint8_t>() : flipped_[flipped], rows, x.data,
        y.data);
  }

  // Tables for each Flips that plans have asked for; the first is the model's.
  const uint8_t *flipped_[4] = {};
  const lookup::Kernels *kernels_ = nullptr;
};

MACE_REGISTER_OP(LookupTable, CPU, LookupTableOp);

}  // namespace
}  // namespace mace
