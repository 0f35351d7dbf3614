// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Each step multiplies the state of all rows by the weights, then computes the
// gates. Directions are independent, and so are rows. Within a direction,
// threads divide the rows, if the weights are small enough for the cache of
// each core; or they divide the units, and wait for each other after every
// step.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/recurrent/recurrent.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/recurrent/recurrent.h"

namespace mace {
namespace {

using recurrent::Function;
using recurrent::Kind;

// The least number of multiply-adds of a step for which another thread is
// worthwhile: about 4 us, compared with 1 us in which threads wait.
constexpr int64_t kWorthwhile = 96 * 1024;
// More parts than threads, since a thread that is ready takes the next part.
constexpr int64_t kPartsPerThread = 4;
// The least units of a part: products of fewer columns are slower for each.
constexpr int64_t kPartUnits = 64;
// Threads divide rows if the weights have at most so many numbers, 512 KB.
constexpr int64_t kFewWeights = 128 * 1024;
// Every second step reads the weights from their end to their begin, in pieces
// of so many: those that the step before read last may still be in the cache.
constexpr size_t kTurnedFloats = 64 * 1024;
// The least rows of a part.
constexpr int64_t kPartRows = 2;

Function FunctionOf(RecurrentActivation activation, float alpha, float beta) {
  Function f;
  f.alpha = alpha;
  f.beta = beta;
  f.activation.alpha = alpha;
  f.activation.beta = beta;
  switch (activation) {
    case RecurrentActivation::SIGMOID:
      f.activation.kind = activation::Kind::kSigmoid;
      break;
    case RecurrentActivation::TANH:
      f.activation.kind = activation::Kind::kTanh;
      break;
    case RecurrentActivation::RELU:
      f.activation.kind = activation::Kind::kRelu;
      break;
    case RecurrentActivation::AFFINE:
      f.kind = Kind::kAffine;
      break;
    case RecurrentActivation::LEAKY_RELU:
      f.activation.kind = activation::Kind::kLeakyRelu;
      break;
    case RecurrentActivation::THRESHOLDED_RELU:
      f.kind = Kind::kThresholded;
      break;
    case RecurrentActivation::SCALED_TANH:
      f.kind = Kind::kScaledTanh;
      f.activation.kind = activation::Kind::kTanh;
      break;
    case RecurrentActivation::HARD_SIGMOID:
      f.activation.kind = activation::Kind::kHardSigmoid;
      break;
    case RecurrentActivation::ELU:
      f.activation.kind = activation::Kind::kElu;
      break;
    case RecurrentActivation::SOFTSIGN:
      f.activation.kind = activation::Kind::kSoftsign;
      break;
    case RecurrentActivation::SOFTPLUS:
      f.activation.kind = activation::Kind::kSoftplus;
      break;
  }
  return f;
}

// States as products read them: weights in pairs have an even depth.
int64_t EvenUnits(const RecurrentSizes &s) { return s.units + s.units % 2; }

// Addresses in scratch memory.
struct Scratch {
  float *products = nullptr;  // [D][B][G * H]
  // [D][2][B][EvenUnits]: before and after a step, in turn
  float *hidden = nullptr;
  float *update = nullptr;      // [D][B][H]
  float *reset = nullptr;       // [D][B][EvenUnits]
  const void **rows = nullptr;  // [D][3][B]: rows of hidden and of reset
  float *gemm = nullptr;        // [threads][gemm::kScratchFloats]
  size_t bytes = 0;

  Scratch(const RecurrentSizes &s, int threads, void *memory) {
    char *const base = static_cast<char *>(memory);
    const auto take = [&](int64_t count, size_t size) {
      const size_t at = bytes;
      bytes += AlignUp(static_cast<size_t>(count) * size);
      return base == nullptr ? nullptr : base + at;
    };
    const int64_t rows_of_all = s.directions * s.batch;
    const auto floats = [&](int64_t count) {
      return reinterpret_cast<float *>(take(count, sizeof(float)));
    };
    products = floats(rows_of_all * s.gates * s.units);
    hidden = floats(2 * rows_of_all * EvenUnits(s));
    update = floats(rows_of_all * s.units);
    reset = floats(rows_of_all * EvenUnits(s));
    gemm = floats(threads * static_cast<int64_t>(gemm::kScratchFloats));
    rows = reinterpret_cast<const void **>(
        take(3 * rows_of_all, sizeof(const void *)));
  }
};

struct RecurrentPlan final : OpPlan {
  int64_t Macs() const override {
    return sizes.steps * sizes.batch * sizes.directions * sizes.gates *
           sizes.units * sizes.units;
  }

  RecurrentSizes sizes;
  // Of the rows of a direction, or of its units; one of them is 1.
  int64_t row_parts = 1;
  int64_t parts = 1;
};

class RecurrentOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override;
  MaceStatus Plan(PlanContext *context) override;
  MaceStatus Run(RunContext *context) const override;

 private:
  // A direction of the layer at one step, for some of its rows and units.
  struct Task {
    int64_t direction;
    int64_t step;
    int64_t row_begin;
    int64_t row_end;
    int64_t begin;
    int64_t end;
    float *gemm_scratch;
  };
  struct Tensors;

  bool ResetsBefore() const {
    return attributes_.mode == RecurrentMode::GRU && !attributes_.reset_after;
  }
  void Start(const Tensors &t) const;
  void Finish(const Tensors &t) const;
  void Multiply(const Tensors &t,
                const Task &task,
                const void *const *rows,
                int64_t gate_begin,
                int64_t gate_end) const;
  using RowKernel = void (*)(const recurrent::Cell &,
                             const recurrent::Row &,
                             size_t,
                             size_t);
  void EachRow(const Tensors &t, const Task &task, RowKernel run) const;
  void First(const Tensors &t, const Task &task) const;
  void Second(const Tensors &t, const Task &task) const;

  RecurrentAttributes attributes_;
  recurrent::Cell cell_;
  const recurrent::Kernels *kernels_ = nullptr;
  // For each direction.
  const gemm::Arithmetic *arithmetic_[2] = {};
};

// What a run reads and writes.
struct RecurrentOp::Tensors {
  Tensors(const RecurrentPlan &plan, bool batch_first, RunContext *context)
      : s(plan.sizes),
        scratch(s, context->thread_pool()->thread_count(), context->scratch()),
        x(context->input(kRecurrentInputInput)->As<float>()),
        weights{context->input(kRecurrentWeightsInput),
                context->input(kRecurrentReverseWeightsInput)},
        params(DataOf(context->input(kRecurrentParamsInput))),
        initial_hidden(DataOf(context->input(kRecurrentInitialHiddenInput))),
        initial_memory(DataOf(context->input(kRecurrentInitialMemoryInput))),
        output(context->output(0)->MutableAs<float>()),
        last_hidden(context->output(1)->MutableAs<float>()) {
    const Tensor *given = context->input(kRecurrentLengthsInput);
    if (given != nullptr) lengths = given->As<int32_t>();
    if (context->output_count() > 2) {
      memory = context->output(2)->MutableAs<float>();
    }
    x_step = batch_first ? 1 : s.batch;
    x_row = batch_first ? s.steps : 1;
    output_step = s.directions * (batch_first ? 1 : s.batch);
    output_row = batch_first ? s.steps * s.directions : 1;
    output_direction = batch_first ? 1 : s.batch;
    state_row = batch_first ? s.directions : 1;
    state_direction = batch_first ? 1 : s.batch;
  }

  static const float *DataOf(const Tensor *tensor) {
    return tensor == nullptr ? nullptr : tensor->As<float>();
  }
  int64_t Length(int64_t row) const {
    return lengths == nullptr ? s.steps : lengths[row];
  }
  float *Hidden(int64_t direction, int64_t step, int64_t row) const {
    return scratch.hidden +
           ((direction * 2 + step % 2) * s.batch + row) * EvenUnits(s);
  }
  float *Reset(int64_t direction, int64_t row) const {
    return scratch.reset + (direction * s.batch + row) * EvenUnits(s);
  }
  const void **Rows(int64_t direction, int64_t which) const {
    return scratch.rows + (direction * 3 + which) * s.batch;
  }
  int64_t State(int64_t direction, int64_t row) const {
    return (direction * state_direction + row * state_row) * s.units;
  }
  float *Output(int64_t direction, int64_t step, int64_t row) const {
    return output + (step * output_step + direction * output_direction +
                     row * output_row) *
                        s.units;
  }
  const float *Input(int64_t direction, int64_t step, int64_t row) const {
    return x + ((step * x_step + row * x_row) * s.directions + direction) *
                   s.gates * s.units;
  }

  RecurrentSizes s;
  Scratch scratch;
  const float *x;
  const Tensor *weights[2];
  const float *params;
  const float *initial_hidden;
  const float *initial_memory;
  const int32_t *lengths = nullptr;
  float *output;
  float *last_hidden;
  float *memory = nullptr;
  // Distances in rows.
  int64_t x_step, x_row;
  int64_t output_step, output_row, output_direction;
  int64_t state_row, state_direction;
};

MaceStatus RecurrentOp::InitOp(InitContext *context) {
  attributes_ = context->AttributesAs<RecurrentAttributes>();
  const RecurrentAttributes &a = attributes_;
  kernels_ = recurrent::KernelsFor(isa());
  for (const size_t port :
       {kRecurrentWeightsInput, kRecurrentReverseWeightsInput}) {
    if (!context->has_input(port)) continue;
    MACE_ASSIGN_OR_RETURN(arithmetic_[port - kRecurrentWeightsInput],
                          ChooseFloatArithmetic(*context, port, isa()));
  }
  cell_.gate = FunctionOf(a.gate_activation, a.gate_alpha, a.gate_beta);
  cell_.cell = FunctionOf(a.cell_activation, a.cell_alpha, a.cell_beta);
  cell_.output = FunctionOf(a.output_activation, a.output_alpha, a.output_beta);
  cell_.clip = a.clip > 0 ? a.clip : std::numeric_limits<float>::infinity();
  cell_.reset_after = a.reset_after;
  cell_.couple_gates = a.couple_gates;
  cell_.activations = activation::KernelsFor(isa());
  return MaceStatus();
}

MaceStatus RecurrentOp::Plan(PlanContext *context) {
  const Shape &input = context->input(kRecurrentInputInput)->shape;
  auto plan = std::make_unique<RecurrentPlan>();
  RecurrentSizes &s = plan->sizes;
  s.steps = input[attributes_.batch_first ? 1 : 0];
  s.batch = input[attributes_.batch_first ? 0 : 1];
  s.units = context->input(kRecurrentWeightsInput)->shape[1];
  s.gates = RecurrentGates(attributes_.mode);
  s.directions =
      context->input(kRecurrentReverseWeightsInput) == nullptr ? 1 : 2;
  const int threads = context->thread_pool()->thread_count();
  const int64_t work = s.batch * s.gates * s.units * s.units;
  if (s.gates * s.units * s.units <= kFewWeights) {
    plan->row_parts = std::max<int64_t>(
        1, std::min({threads / s.directions, s.batch / kPartRows,
                     s.steps * work / kWorthwhile}));
  }
  const int64_t width = gemm::kPanelColumns;
  if (plan->row_parts == 1 && s.units % width == 0) {
    // Otherwise a panel has columns of several gates.
    const int64_t wanted =
        threads <= s.directions ? 1 : threads * kPartsPerThread / s.directions;
    plan->parts = std::max<int64_t>(
        1, std::min({wanted, work / kWorthwhile, s.units / kPartUnits}));
  }
  context->RequestScratch(Scratch(s, threads, nullptr).bytes);
  context->Keep(std::move(plan));
  return MaceStatus();
}

// The initial states, and the addresses of rows.
void RecurrentOp::Start(const Tensors &t) const {
  const size_t bytes = static_cast<size_t>(t.s.units) * sizeof(float);
  for (int64_t d = 0; d < t.s.directions; ++d) {
    for (int64_t row = 0; row < t.s.batch; ++row) {
      const int64_t state = t.State(d, row);
      const auto set = [&](float *to, const float *from) {
        if (from == nullptr ||
            (attributes_.forget_unread && t.Length(row) == 0)) {
          std::memset(to, 0, bytes);
        } else {
          std::memcpy(to, from + state, bytes);
        }
      };
      set(t.Hidden(d, 0, row), t.initial_hidden);
      if (t.memory != nullptr) set(t.memory + state, t.initial_memory);
      t.Rows(d, 0)[row] = t.Hidden(d, 0, row);
      t.Rows(d, 1)[row] = t.Hidden(d, 1, row);
      t.Rows(d, 2)[row] = t.Reset(d, row);
      if (t.s.units % 2 == 0) continue;
      // What steps do not write; the weights of it are 0.
      for (float *padded :
           {t.Hidden(d, 0, row), t.Hidden(d, 1, row), t.Reset(d, row)}) {
        padded[t.s.units] = 0.0f;
      }
    }
  }
}

void RecurrentOp::Finish(const Tensors &t) const {
  for (int64_t d = 0; d < t.s.directions; ++d) {
    for (int64_t row = 0; row < t.s.batch; ++row) {
      std::memcpy(t.last_hidden + t.State(d, row), t.Hidden(d, t.s.steps, row),
                  static_cast<size_t>(t.s.units) * sizeof(float));
    }
  }
}

// The products of `rows` for some gates of the task's units.
void RecurrentOp::Multiply(const Tensors &t,
                           const Task &task,
                           const void *const *rows,
                           int64_t gate_begin,
                           int64_t gate_end) const {
  const gemm::Arithmetic &arithmetic = *arithmetic_[task.direction];
  const Tensor &weights = *t.weights[task.direction];
  const int64_t columns = t.s.gates * t.s.units;
  float *const products =
      t.scratch.products +
      (task.direction * t.s.batch + task.row_begin) * columns;
  rows += task.row_begin;
  const gemm::WeightType type = PackedWeightType(weights);
  const auto depth = static_cast<size_t>(
      type == gemm::WeightType::kBf16Pairs ? EvenUnits(t.s) : t.s.units);
  const bool is_zero = task.step == 0 && t.initial_hidden == nullptr;
  const auto run_panels = [&](size_t first, size_t last) {
    if (t.s.batch == 1 && arithmetic.run_vector != nullptr) {
      gemm::Vector v;
      v.x = static_cast<const float *>(rows[0]);
      v.depth = depth;
      v.w = weights.data;
      v.w_type = type;
      v.columns = static_cast<size_t>(columns);
      v.panel_begin = first;
      v.panel_end = last;
      v.y = products;
      arithmetic.run_vector(v);
      return;
    }
    gemm::Block block;
    block.a = rows;
    block.rows = static_cast<size_t>(task.row_end - task.row_begin);
    block.depth = depth;
    block.w = weights.data;
    block.w_type = type;
    block.widen = arithmetic.widen;
    block.columns = static_cast<size_t>(columns);
    block.panel_begin = first;
    block.panel_end = last;
    block.c = products;
    block.c_stride = block.columns;
    block.scratch = task.gemm_scratch;
    arithmetic.run(block);
  };
  const auto run = [&](int64_t begin, int64_t end) {
    if (is_zero) {
      for (int64_t i = task.row_begin; i < task.row_end; ++i) {
        float *row = products + (i - task.row_begin) * columns;
        std::fill(row + begin, row + end, 0.0f);
      }
      return;
    }
    const auto first = static_cast<size_t>(begin) / gemm::kPanelColumns;
    size_t last = gemm::PanelCount(static_cast<size_t>(end));
    if (task.step % 2 == 0) {
      run_panels(first, last);
      return;
    }
    const size_t some = std::max<size_t>(
        kTurnedFloats / (static_cast<size_t>(t.s.units) * gemm::kPanelColumns),
        1);
    while (first < last) {
      const size_t middle = last - std::min(some, last - first);
      run_panels(middle, last);
      last = middle;
    }
  };
  if (task.end - task.begin == t.s.units) {
    // Panels at the ends may have columns of other gates, which are computed
    // twice or are not needed any more.
    run(gate_begin * t.s.units, gate_end * t.s.units);
    return;
  }
  for (int64_t gate = gate_begin; gate < gate_end; ++gate) {
    run(gate * t.s.units + task.begin, gate * t.s.units + task.end);
  }
}

// Calls `run` for rows that have not ended. The state of others remains.
void RecurrentOp::EachRow(const Tensors &t,
                          const Task &task,
                          RowKernel run) const {
  const int64_t d = task.direction;
  const size_t bytes =
      static_cast<size_t>(task.end - task.begin) * sizeof(float);
  const int64_t params =
      attributes_.mode == RecurrentMode::LSTM ? 3 * t.s.units : t.s.units;
  recurrent::Cell cell = cell_;
  cell.units = static_cast<size_t>(t.s.units);
  recurrent::Row row;
  if (t.params != nullptr) row.params = t.params + d * params;
  for (int64_t i = task.row_begin; i < task.row_end; ++i) {
    row.hidden = t.Hidden(d, task.step, i);
    row.next = t.Hidden(d, task.step + 1, i);
    const int64_t length = t.Length(i);
    if (task.step >= length) {
      std::memcpy(row.next + task.begin, row.hidden + task.begin, bytes);
      std::memset(t.Output(d, task.step, i) + task.begin, 0, bytes);
      continue;
    }
    const bool reverse = d == 1 || attributes_.reverse;
    const int64_t step = reverse ? length - 1 - task.step : task.step;
    const int64_t at = d * t.s.batch + i;
    row.x = t.Input(d, step, i);
    row.products = t.scratch.products + at * t.s.gates * t.s.units;
    row.output = t.Output(d, step, i);
    row.update = t.scratch.update + at * t.s.units;
    row.reset = t.Reset(d, i);
    if (t.memory != nullptr) row.memory = t.memory + t.State(d, i);
    run(cell, row, static_cast<size_t>(task.begin),
        static_cast<size_t>(task.end));
  }
}

// A step, or its first half.
void RecurrentOp::First(const Tensors &t, const Task &task) const {
  const void *const *rows = t.Rows(task.direction, task.step % 2);
  if (ResetsBefore()) {
    Multiply(t, task, rows, 0, 2);
    EachRow(t, task, kernels_->gates);
    return;
  }
  Multiply(t, task, rows, 0, t.s.gates);
  switch (attributes_.mode) {
    case RecurrentMode::RNN:
      return EachRow(t, task, kernels_->rnn);
    case RecurrentMode::GRU:
      return EachRow(t, task, kernels_->gru);
    case RecurrentMode::LSTM:
      return EachRow(t, task, kernels_->lstm);
  }
}

// The second half, if ResetsBefore(): it needs r * h of all units.
void RecurrentOp::Second(const Tensors &t, const Task &task) const {
  Multiply(t, task, t.Rows(task.direction, 2), 2, 3);
  EachRow(t, task, kernels_->gru);
}

MaceStatus RecurrentOp::Run(RunContext *context) const {
  const auto &plan = context->PlanAs<RecurrentPlan>();
  const Tensors t(plan, attributes_.batch_first, context);
  const RecurrentSizes &s = t.s;
  for (int64_t row = 0; t.lengths != nullptr && row < s.batch; ++row) {
    if (t.lengths[row] < 0 || t.lengths[row] > s.steps) {
      return Invalid("length ", t.lengths[row], " of row ", row,
                     " is not within [0, ", s.steps, "]");
    }
  }
  if (s.batch == 0) return MaceStatus();
  Start(t);
  const auto scratch = [&](int thread) {
    return t.scratch.gemm + static_cast<size_t>(thread) * gemm::kScratchFloats;
  };
  ThreadPool *pool = context->thread_pool();
  if (plan.parts == 1) {
    const int64_t parts = plan.row_parts;
    pool->ParallelFor(s.directions * parts, 1,
                      [&](int64_t begin, int64_t end, int thread) {
                        for (int64_t i = begin; i < end; ++i) {
                          const int64_t part = i % parts;
                          Task task = {i / parts,
                                       0,
                                       s.batch * part / parts,
                                       s.batch * (part + 1) / parts,
                                       0,
                                       s.units,
                                       scratch(thread)};
                          for (; task.step < s.steps; ++task.step) {
                            First(t, task);
                            if (ResetsBefore()) Second(t, task);
                          }
                        }
                      });
  } else {
    const auto unit = [&](int64_t part) {
      const auto width = static_cast<int64_t>(recurrent::kUnits);
      return s.units / width * part / plan.parts * width;
    };
    for (int64_t step = 0; step < s.steps; ++step) {
      const auto each = [&](void (RecurrentOp::*run)(const Tensors &,
                                                     const Task &) const) {
        pool->ParallelFor(s.directions * plan.parts, 1,
                          [&](int64_t begin, int64_t end, int thread) {
                            for (int64_t i = begin; i < end; ++i) {
                              const int64_t part = i % plan.parts;
                              const Task task = {
                                  i / plan.parts, step,       0,
                                  s.batch,        unit(part), unit(part + 1),
                                  scratch(thread)};
                              (this->*run)(t, task);
                            }
                          });
      };
      each(&RecurrentOp::First);
      if (ResetsBefore()) each(&RecurrentOp::Second);
    }
  }
  Finish(t);
  return MaceStatus();
}

MACE_REGISTER_OP(Recurrent, CPU, RecurrentOp);

}  // namespace
}  // namespace mace
