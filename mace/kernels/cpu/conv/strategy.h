// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The ways to compute a convolution, behind one interface. An operator makes
// its strategies once; for each shape it takes the plan of the first one that
// gives any:
//
//   Winograd       3x3 of stride 1, where fewer multiplications pay
//   Depthwise      groups of few channels: vectors run over all groups
//   Direct         every filter in panels: a product of rows that lie in the
//                  image
//
// And those to compute a transposed one, float alone:
//
//   Columns        few outputs: one product, whose columns are then added up
//   Depthwise      a depthwise filter: rows of outputs
//   Phases         every filter in panels: a convolution per phase of outputs
//
// A plan is a value for one shape: running it changes nothing in it, so that
// several may run at the same time. What strategies keep for all their plans is
// the filter in another form. Which strategy is chosen depends on shapes and on
// the deployment alone, never on the number of threads: results have the same
// bits.

#ifndef MACE_KERNELS_CPU_CONV_STRATEGY_H_
#define MACE_KERNELS_CPU_CONV_STRATEGY_H_

#include <cstddef>
#include <memory>
#include <string>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/kernels/cpu/conv/activation.h"
#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::conv {

// Rows of one image that are computed by themselves.
struct ImageRows {
  ptrdiff_t in_rows = 1;  // that exist, from Args::input on
  ptrdiff_t out_rows = 1;
  ptrdiff_t pad_top = 0;  // from the first window's first row to in_rows
};

// How to compute some rows at a time, on the calling thread.
class RowPlan {
 public:
  // For at most so many rows of the output.
  virtual size_t RowScratchBytes(ptrdiff_t out_rows) const = 0;
  // args: of these rows.
  virtual void RunRows(const ImageRows &rows,
                       const Args &args,
                       const OutputActivation *activation,
                       void *scratch) const = 0;

 protected:
  ~RowPlan() = default;
};

class Plan {
 public:
  virtual ~Plan() = default;

  // For reports.
  virtual std::string Name() const = 0;
  // 64-byte aligned.
  virtual size_t ScratchBytes(int threads) const = 0;
  // Whether Epilogue::residual may be the output itself.
  virtual bool ResidualMayBeOutput() const = 0;
  // Whether Args::output_stride may be more than out_c.
  virtual bool OutputMayBeStrided() const { return true; }
  // Memory for the filter in a form that no plan before has asked for; 0: none.
  virtual size_t PreparedBytes() const { return 0; }
  // Takes it, before the first run; null: OUT_OF_RESOURCES, for the user.
  virtual MaceStatus TakePrepared(void * /*memory*/) { return MaceStatus(); }
  // args.weights is the filter as the model has it. `activation`: null, or what
  // follows the clamp of the epilogue.
  virtual void Run(const Args &args,
                   const OutputActivation *activation,
                   ThreadPool *pool,
                   void *scratch) const = 0;
  // Null where rows cannot be computed by themselves with the same bits.
  virtual const RowPlan *rows() const { return nullptr; }
};

// How Args::weights lies.
enum class FilterLayout {
  kPanels,  // [groups][panels][taps * depth][16], see WeightType
  kTaps,    // [taps][depth][out_c]: a depthwise filter; kF32, kF16 or kBf16
};

struct Request {
  // Of a transposed convolution: pads are outputs dropped in front.
  Shape shape;
  const void *filter = nullptr;  // as Args::weights
  FilterLayout layout = FilterLayout::kPanels;
  const float *bias = nullptr;  // as Epilogue::bias, a constant
  WeightType weights = WeightType::kF32;
  // Of a filter in panels: one that takes these weights. One of taps is
  // multiplied in what its results are stored as (bf16: in float).
  const Arithmetic *arithmetic = nullptr;
  Element image = Element::kF32;
  Element results = Element::kF32;
  bool residual = false;  // whether there is one
  int threads = 1;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Null where the convolution is not for this way, or another one is expected
  // to be faster. The strategy outlives the plan.
  virtual std::unique_ptr<Plan> MakePlan(const Request &request) = 0;
};

// `max_tile` is the deployment's hint: 0 (never), 2 or 4.
std::unique_ptr<Strategy> MakeWinograd(CpuIsa isa, int max_tile);
std::unique_ptr<Strategy> MakeDepthwise(CpuIsa isa);
std::unique_ptr<Strategy> MakeDirect();

std::unique_ptr<Strategy> MakeTransposedColumns(CpuIsa isa);
std::unique_ptr<Strategy> MakeTransposedDepthwise(CpuIsa isa);
std::unique_ptr<Strategy> MakeTransposedPhases();

// All of them, for one filter.
class Strategies {
 public:
  // Of convolutions, or of transposed ones.
  void Init(CpuIsa isa, int max_tile);
  void InitTransposed(CpuIsa isa);
  // Of the first strategy that gives one. Null only for a filter of taps whose
  // image and results are of different types, or of one without kernels.
  std::unique_ptr<Plan> MakePlan(const Request &request) const;

 private:
  std::unique_ptr<Strategy> in_order_[3];
};

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_STRATEGY_H_
