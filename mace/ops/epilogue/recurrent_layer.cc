// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/recurrent_layer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace {
namespace {

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
constexpr int64_t kTurnedWeights = 64 * 1024;
// The least rows of a part.
constexpr int64_t kPartRows = 2;

// Addresses in scratch memory.
struct Scratch {
  float *products = nullptr;  // [D][B][G * H]
  // [D][2][B][EvenUnits]: before and after a step, in turn
  float *hidden = nullptr;
  float *update = nullptr;      // [D][B][H]
  float *reset = nullptr;       // [D][B][EvenUnits]
  const void **rows = nullptr;  // [D][3][B]: rows of hidden and of reset
  char *of_threads = nullptr;   // [threads][thread_bytes]
  size_t thread_bytes = 0;
  size_t bytes = 0;

  Scratch(const RecurrentSizes &s,
          const RecurrentProduct &product,
          int threads,
          void *memory)
      : thread_bytes(AlignUp(product.ScratchBytes(s))) {
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
    of_threads = take(threads, thread_bytes);
    rows = reinterpret_cast<const void **>(
        take(3 * rows_of_all, sizeof(const void *)));
  }
};

}  // namespace

recurrent::Function RecurrentLayer::FunctionOf(RecurrentActivation activation,
                                               float alpha,
                                               float beta) {
  using recurrent::Kind;
  recurrent::Function f;
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

// A direction of the layer at one step, for some of its rows and units.
struct RecurrentPlan::Task {
  int64_t direction;
  int64_t step;
  int64_t row_begin;
  int64_t row_end;
  int64_t begin;
  int64_t end;
  void *scratch;
};

// What a run reads and writes.
struct RecurrentPlan::Places {
  Places(const RecurrentPlan &plan,
         const RecurrentTensors &tensors,
         RunContext *context)
      : s(plan.sizes_),
        scratch(s, plan.product_, plan.threads_, context->scratch()),
        x(tensors.input->As<float>()),
        weights(tensors.weights),
        params(DataOf(tensors.params)),
        initial_hidden(DataOf(tensors.initial_hidden)),
        initial_memory(DataOf(tensors.initial_memory)),
        output(context->output(0)->MutableAs<float>()),
        last_hidden(context->output(1)->MutableAs<float>()) {
    const bool batch_first = plan.layer_.batch_first;
    if (tensors.lengths != nullptr) lengths = tensors.lengths->As<int32_t>();
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

  void *ThreadScratch(int thread) const {
    return scratch.of_threads +
           static_cast<size_t>(thread) * scratch.thread_bytes;
  }

  const RecurrentSizes &s;
  Scratch scratch;
  const float *x;
  const void *const *weights;
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

RecurrentPlan::RecurrentPlan(const RecurrentLayer &layer,
                             const RecurrentProduct &product,
                             const RecurrentSizes &sizes,
                             int threads)
    : layer_(layer), product_(product), sizes_(sizes), threads_(threads) {
  const RecurrentSizes &s = sizes_;
  const int64_t rate = product.Rate();
  const int64_t weights = s.gates * s.units * s.units;
  const int64_t work = s.batch * weights;
  const int64_t worthwhile = kWorthwhile * rate;
  if (product.DividesRows() && weights <= kFewWeights * rate) {
    row_parts_ = std::max<int64_t>(
        1, std::min({threads / s.directions, s.batch / kPartRows,
                     s.steps * work / worthwhile}));
  }
  const int64_t width = gemm::kPanelColumns;
  if (row_parts_ == 1 && s.units % width == 0) {
    // Otherwise a panel has columns of several gates.
    const int64_t wanted =
        threads <= s.directions ? 1 : threads * kPartsPerThread / s.directions;
    parts_ = std::max<int64_t>(
        1, std::min({wanted, work / worthwhile, s.units / kPartUnits}));
  }
}

size_t RecurrentPlan::ScratchBytes() const {
  return Scratch(sizes_, product_, threads_, nullptr).bytes;
}

// The initial states, and the addresses of rows.
void RecurrentPlan::Start(const Places &t) const {
  const size_t bytes = static_cast<size_t>(t.s.units) * sizeof(float);
  for (int64_t d = 0; d < t.s.directions; ++d) {
    for (int64_t row = 0; row < t.s.batch; ++row) {
      const int64_t state = t.State(d, row);
      const auto set = [&](float *to, const float *from) {
        if (from == nullptr || (layer_.forget_unread && t.Length(row) == 0)) {
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

void RecurrentPlan::Finish(const Places &t) const {
  for (int64_t d = 0; d < t.s.directions; ++d) {
    for (int64_t row = 0; row < t.s.batch; ++row) {
      std::memcpy(t.last_hidden + t.State(d, row), t.Hidden(d, t.s.steps, row),
                  static_cast<size_t>(t.s.units) * sizeof(float));
    }
  }
}

// The products of `rows` for some gates of the task's units.
void RecurrentPlan::Multiply(const Places &t,
                             const Task &task,
                             const void *const *rows,
                             int64_t gate_begin,
                             int64_t gate_end) const {
  const int64_t columns = t.s.gates * t.s.units;
  RecurrentStates states;
  states.sizes = &t.s;
  states.direction = task.direction;
  states.step = task.step;
  states.rows = rows + task.row_begin;
  states.row_begin = task.row_begin;
  states.count = task.row_end - task.row_begin;
  states.lengths = t.lengths;
  states.weights = t.weights[task.direction];
  states.products = t.scratch.products +
                    (task.direction * t.s.batch + task.row_begin) * columns;
  states.scratch = task.scratch;
  const bool is_zero = task.step == 0 && t.initial_hidden == nullptr;
  if (!is_zero) product_.Begin(states);
  const auto run = [&](int64_t begin, int64_t end) {
    if (is_zero) {
      for (int64_t i = 0; i < states.count; ++i) {
        float *row = states.products + i * columns;
        std::fill(row + begin, row + end, 0.0f);
      }
      return;
    }
    const auto first = static_cast<size_t>(begin) / gemm::kPanelColumns;
    size_t last = gemm::PanelCount(static_cast<size_t>(end));
    if (task.step % 2 == 0) {
      product_.Multiply(states, first, last);
      return;
    }
    const auto some = static_cast<size_t>(std::max<int64_t>(
        kTurnedWeights * product_.Rate() /
            (t.s.units * static_cast<int64_t>(gemm::kPanelColumns)),
        1));
    while (first < last) {
      const size_t middle = last - std::min(some, last - first);
      product_.Multiply(states, middle, last);
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
void RecurrentPlan::EachRow(const Places &t,
                            const Task &task,
                            RowKernel run) const {
  const int64_t d = task.direction;
  const size_t bytes =
      static_cast<size_t>(task.end - task.begin) * sizeof(float);
  const int64_t params =
      layer_.mode == RecurrentMode::LSTM ? 3 * t.s.units : t.s.units;
  recurrent::Cell cell = layer_.cell;
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
    const bool reverse = d == 1 || layer_.reverse;
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
void RecurrentPlan::First(const Places &t, const Task &task) const {
  const void *const *rows = t.Rows(task.direction, task.step % 2);
  if (layer_.ResetsBefore()) {
    Multiply(t, task, rows, 0, 2);
    EachRow(t, task, layer_.kernels->gates);
    return;
  }
  Multiply(t, task, rows, 0, t.s.gates);
  switch (layer_.mode) {
    case RecurrentMode::RNN:
      return EachRow(t, task, layer_.kernels->rnn);
    case RecurrentMode::GRU:
      return EachRow(t, task, layer_.kernels->gru);
    case RecurrentMode::LSTM:
      return EachRow(t, task, layer_.kernels->lstm);
  }
}

// The second half, if ResetsBefore(): it needs r * h of all units.
void RecurrentPlan::Second(const Places &t, const Task &task) const {
  Multiply(t, task, t.Rows(task.direction, 2), 2, 3);
  EachRow(t, task, layer_.kernels->gru);
}

std::string RecurrentPlan::Problem(const RecurrentTensors &tensors) const {
  if (tensors.lengths == nullptr) return std::string();
  const auto *lengths = tensors.lengths->As<int32_t>();
  for (int64_t row = 0; row < sizes_.batch; ++row) {
    if (lengths[row] < 0 || lengths[row] > sizes_.steps) {
      return MakeString("length ", lengths[row], " of row ", row,
                        " is not within [0, ", sizes_.steps, "]");
    }
  }
  return std::string();
}

void RecurrentPlan::Run(const RecurrentTensors &tensors,
                        RunContext *context) const {
  const Places t(*this, tensors, context);
  if (t.s.batch == 0) return;
  Start(t);
  if (parts_ == 1) {
    RunRows(t, context->thread_pool());
  } else {
    RunUnits(t, context->thread_pool());
  }
  Finish(t);
}

void RecurrentPlan::RunRows(const Places &t, ThreadPool *pool) const {
  const RecurrentSizes &s = t.s;
  pool->ParallelFor(s.directions * row_parts_, 1,
                    [&](int64_t begin, int64_t end, int thread) {
                      for (int64_t i = begin; i < end; ++i) {
                        const int64_t part = i % row_parts_;
                        Task task = {i / row_parts_,
                                     0,
                                     s.batch * part / row_parts_,
                                     s.batch * (part + 1) / row_parts_,
                                     0,
                                     s.units,
                                     t.ThreadScratch(thread)};
                        for (; task.step < s.steps; ++task.step) {
                          First(t, task);
                          if (layer_.ResetsBefore()) Second(t, task);
                        }
                      }
                    });
}

void RecurrentPlan::RunUnits(const Places &t, ThreadPool *pool) const {
  const RecurrentSizes &s = t.s;
  const auto unit = [&](int64_t part) {
    const auto width = static_cast<int64_t>(recurrent::kUnits);
    return s.units / width * part / parts_ * width;
  };
  for (int64_t step = 0; step < s.steps; ++step) {
    const auto each =
        [&](void (RecurrentPlan::*run)(const Places &, const Task &) const) {
          pool->ParallelFor(s.directions * parts_, 1,
                            [&](int64_t begin, int64_t end, int thread) {
                              for (int64_t i = begin; i < end; ++i) {
                                const int64_t part = i % parts_;
                                const Task task = {i / parts_,
                                                   step,
                                                   0,
                                                   s.batch,
                                                   unit(part),
                                                   unit(part + 1),
                                                   t.ThreadScratch(thread)};
                                (this->*run)(t, task);
                              }
                            });
        };
    each(&RecurrentPlan::First);
    if (layer_.ResetsBefore()) each(&RecurrentPlan::Second);
  }
}

void PlanRecurrent(const RecurrentLayer &layer,
                   const RecurrentProduct &product,
                   const RecurrentPorts &ports,
                   int64_t units,
                   int64_t gates,
                   PlanContext *context) {
  const Shape &input = context->input(ports.input)->shape;
  RecurrentSizes s;
  s.steps = input[layer.batch_first ? 1 : 0];
  s.batch = input[layer.batch_first ? 0 : 1];
  s.units = units;
  s.gates = gates;
  s.directions = context->input(ports.reverse_weights) == nullptr ? 1 : 2;
  auto plan = std::make_unique<RecurrentPlan>(
      layer, product, s, context->thread_pool()->thread_count());
  context->RequestScratch(plan->ScratchBytes());
  context->Keep(std::move(plan));
}

std::string RunRecurrent(const RecurrentPorts &ports, RunContext *context) {
  RecurrentTensors tensors;
  tensors.input = context->input(ports.input);
  tensors.weights[0] = context->input(ports.weights)->data;
  const Tensor *reverse = context->input(ports.reverse_weights);
  if (reverse != nullptr) tensors.weights[1] = reverse->data;
  tensors.params = context->input(ports.params);
  tensors.initial_hidden = context->input(ports.initial_hidden);
  tensors.initial_memory = context->input(ports.initial_memory);
  tensors.lengths = context->input(ports.lengths);
  const auto &plan = context->PlanAs<RecurrentPlan>();
  std::string problem = plan.Problem(tensors);
  if (problem.empty()) plan.Run(tensors, context);
  return problem;
}

}  // namespace mace
