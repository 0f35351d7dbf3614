// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The steps of a recurrent layer, for every arithmetic of its products.
//
// Each step multiplies the state of all rows by the weights, then computes the
// gates. Directions are independent, and so are rows. Within a direction,
// threads divide the rows, if the weights are small enough for the cache of
// each core; or they divide the units, and wait for each other after every
// step.

#ifndef MACE_OPS_EPILOGUE_RECURRENT_LAYER_H_
#define MACE_OPS_EPILOGUE_RECURRENT_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "mace/kernels/cpu/recurrent/recurrent.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/op_enums.h"

namespace mace {

// The sizes of a layer whose shapes have been checked.
struct RecurrentSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t units = 0;
  int64_t gates = 0;
  int64_t directions = 0;
};

// States as products read them: weights in pairs have an even depth.
inline int64_t EvenUnits(const RecurrentSizes &s) {
  return s.units + s.units % 2;
}

// States of the rows of one direction at one step, and where their products go.
struct RecurrentStates {
  const RecurrentSizes *sizes = nullptr;
  int64_t direction = 0;
  int64_t step = 0;
  // Of rows [row_begin, row_begin + count), of EvenUnits() floats each.
  const void *const *rows = nullptr;
  int64_t row_begin = 0;
  int64_t count = 0;
  // Steps of all rows of the batch, or null: rows that have ended are not read.
  const int32_t *lengths = nullptr;
  const void *weights = nullptr;  // of the direction
  float *products = nullptr;      // [count][gates * units]
  void *scratch = nullptr;        // of the thread, 64-byte aligned

  bool IsAlive(int64_t i) const {
    return lengths == nullptr || step < lengths[row_begin + i];
  }
};

// How states are multiplied by the weights. Threads share it.
class RecurrentProduct {
 public:
  virtual ~RecurrentProduct() = default;
  // Of each thread.
  virtual size_t ScratchBytes(const RecurrentSizes &sizes) const = 0;
  // Reads the states before products of them are asked for.
  virtual void Begin(const RecurrentStates &states) const = 0;
  // The products of panels [begin, end) of gemm::kPanelColumns columns.
  virtual void Multiply(const RecurrentStates &states,
                        size_t begin,
                        size_t end) const = 0;
  // Whether rows of a batch do not depend on each other.
  virtual bool DividesRows() const { return true; }
  // Multiply-adds, and weights in a cache, in place of one of floats.
  virtual int64_t Rate() const { return 1; }
};

struct RecurrentLayer {
  RecurrentMode mode = RecurrentMode::RNN;
  bool reverse = false;
  bool batch_first = false;
  bool reset_after = false;
  bool forget_unread = false;
  recurrent::Cell cell;
  const recurrent::Kernels *kernels = nullptr;

  // Of the attributes of an operator.
  template <typename Attributes>
  void Init(const Attributes &a, CpuIsa isa) {
    mode = a.mode;
    reverse = a.reverse;
    batch_first = a.batch_first;
    reset_after = a.reset_after;
    forget_unread = a.forget_unread;
    kernels = recurrent::KernelsFor(isa);
    cell.gate = FunctionOf(a.gate_activation, a.gate_alpha, a.gate_beta);
    cell.cell = FunctionOf(a.cell_activation, a.cell_alpha, a.cell_beta);
    cell.output =
        FunctionOf(a.output_activation, a.output_alpha, a.output_beta);
    cell.clip = a.clip > 0 ? a.clip : std::numeric_limits<float>::infinity();
    cell.reset_after = a.reset_after;
    cell.couple_gates = a.couple_gates;
    cell.activations = activation::KernelsFor(isa);
  }
  // Whether the last product of GRU is that of r * h.
  bool ResetsBefore() const {
    return mode == RecurrentMode::GRU && !reset_after;
  }

 private:
  static recurrent::Function FunctionOf(RecurrentActivation activation,
                                        float alpha,
                                        float beta);
};

// What a run reads and writes. Null: absent.
struct RecurrentTensors {
  const Tensor *input = nullptr;
  const void *weights[2] = {};  // of each direction
  const Tensor *params = nullptr;
  const Tensor *initial_hidden = nullptr;
  const Tensor *initial_memory = nullptr;
  const Tensor *lengths = nullptr;
};

// How a layer of some size runs. `layer` and `product` must outlive it.
class RecurrentPlan final : public OpPlan {
 public:
  RecurrentPlan(const RecurrentLayer &layer,
                const RecurrentProduct &product,
                const RecurrentSizes &sizes,
                int threads);

  int64_t Macs() const override {
    return sizes_.steps * sizes_.batch * sizes_.directions * sizes_.gates *
           sizes_.units * sizes_.units;
  }
  size_t ScratchBytes() const;
  // What is wrong with the lengths; empty: nothing.
  std::string Problem(const RecurrentTensors &tensors) const;
  // The outputs are those of `context`, as its scratch memory is.
  void Run(const RecurrentTensors &tensors, RunContext *context) const;

 private:
  struct Task;
  struct Places;

  void Start(const Places &p) const;
  void Finish(const Places &p) const;
  void Multiply(const Places &p,
                const Task &task,
                const void *const *rows,
                int64_t gate_begin,
                int64_t gate_end) const;
  using RowKernel = void (*)(const recurrent::Cell &,
                             const recurrent::Row &,
                             size_t,
                             size_t);
  void EachRow(const Places &p, const Task &task, RowKernel run) const;
  void First(const Places &p, const Task &task) const;
  void Second(const Places &p, const Task &task) const;
  void RunRows(const Places &p, ThreadPool *pool) const;
  void RunUnits(const Places &p, ThreadPool *pool) const;

  const RecurrentLayer &layer_;
  const RecurrentProduct &product_;
  const RecurrentSizes sizes_;
  const int threads_;
  // Of the rows of a direction, or of its units; one of them is 1.
  int64_t row_parts_ = 1;
  int64_t parts_ = 1;
};

// The inputs of an operator of these layers.
struct RecurrentPorts {
  size_t input;
  size_t weights;
  size_t reverse_weights;
  size_t params;
  size_t initial_hidden;
  size_t initial_memory;
  size_t lengths;
};

// Keeps a plan for the shapes of `context`, whose weights have so many units
// and gates. `layer` and `product` must outlive it.
void PlanRecurrent(const RecurrentLayer &layer,
                   const RecurrentProduct &product,
                   const RecurrentPorts &ports,
                   int64_t units,
                   int64_t gates,
                   PlanContext *context);

// Runs the plan that was kept. Returns what is wrong with the lengths; empty:
// nothing.
std::string RunRecurrent(const RecurrentPorts &ports, RunContext *context);

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_RECURRENT_LAYER_H_
