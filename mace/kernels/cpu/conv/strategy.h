// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The strategies to compute a convolution, with one interface. An operator
// creates all strategies once; for each shape it uses the first one that
// returns a plan:
//
//   Winograd       3x3 of stride 1, if it is faster
//   Depthwise      groups of few channels: vectors run over all groups
//   Direct         every filter in panels: a product of image rows that are
//                  read in place
//
// The strategies for transposed convolutions, only for float:
//
//   Columns        few outputs: one product, whose columns are then added up
//   Depthwise      a depthwise filter: rows of outputs
//   Phases         every filter in panels: a convolution per phase of outputs
//
// Those for images of integers (quantized_strategy.h) have the order of the
// first three.
//
// A plan is for one shape. Running it does not change it, so that several plans
// can run at the same time. A strategy keeps the rearranged filter for all its
// plans. The choice of a strategy depends only on shapes and on the deployment,
// never on the number of threads, so results have the same bits.

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

// Rows of one image that are computed separately.
struct ImageRows {
  ptrdiff_t in_rows = 1;  // that exist, starting at Args::input
  ptrdiff_t out_rows = 1;
  ptrdiff_t pad_top =
      0;  // from the first row of the first window to the first input row
};

// Computes some rows at a time, on the calling thread.
class RowPlan {
 public:
  // The scratch memory for at most `out_rows` rows of the output.
  virtual size_t RowScratchBytes(ptrdiff_t out_rows) const = 0;
  // args: the tensors, starting at these rows.
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
  // Whether Epilogue::residual may equal the output.
  virtual bool ResidualMayBeOutput() const = 0;
  // Whether Args::output_stride may be more than out_c.
  virtual bool OutputMayBeStrided() const { return true; }
  // The memory for a rearranged filter that no earlier plan has prepared; 0:
  // none.
  virtual size_t PreparedBytes() const { return 0; }
  // Uses this memory, before the first run; null: returns OUT_OF_RESOURCES with
  // an error text.
  virtual MaceStatus TakePrepared(void * /*memory*/) { return MaceStatus(); }
  // args.weights is the filter in the model's layout. `activation`: null, or
  // the activation that follows the clamp of the epilogue.
  virtual void Run(const Args &args,
                   const OutputActivation *activation,
                   ThreadPool *pool,
                   void *scratch) const = 0;
  // Null if rows cannot be computed separately with the same bits.
  virtual const RowPlan *rows() const { return nullptr; }
};

// For Plan::TakePrepared: OUT_OF_RESOURCES if `memory`, of `bytes` bytes for
// the rearranged filter, is null.
MaceStatus CheckPrepared(const void *memory, size_t bytes);

// The layout of Args::weights.
enum class FilterLayout {
  kPanels,  // [groups][panels][taps * depth][16], see WeightType
  kFours,   // [groups][panels][taps * depth / 4][16][4] of int8, depth % 4 == 0
  kTaps,    // [taps][depth][out_c]: a depthwise filter; kF32, kF16 or kBf16
};

struct Request {
  // For a transposed convolution, pads are the number of outputs dropped at the
  // start.
  Shape shape;
  const void *filter = nullptr;  // like Args::weights
  FilterLayout layout = FilterLayout::kPanels;
  const float *bias = nullptr;  // like Epilogue::bias, a constant
  WeightType weights = WeightType::kF32;
  // For a packed filter: the arithmetic for these weights. A filter of taps is
  // multiplied in the type of its results (bf16: in float).
  const Arithmetic *arithmetic = nullptr;
  Element image = Element::kF32;
  Element results = Element::kF32;
  bool residual = false;  // whether there is one
  // Of 8-bit integers: whether all sums, with their bias, are at least -2^25
  // and below 2^25, whatever the image is.
  bool small_sums = false;
  int threads = 1;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Null if the strategy does not support the convolution, or if another one is
  // expected to be faster. The strategy must outlive the plan.
  virtual std::unique_ptr<Plan> MakePlan(const Request &request) = 0;
};

// `max_tile` is the deployment's hint: 0 (never), 2 or 4.
std::unique_ptr<Strategy> MakeWinograd(CpuIsa isa, int max_tile);
std::unique_ptr<Strategy> MakeDepthwise(CpuIsa isa);
std::unique_ptr<Strategy> MakeDirect();

std::unique_ptr<Strategy> MakeTransposedColumns(CpuIsa isa);
std::unique_ptr<Strategy> MakeTransposedDepthwise(CpuIsa isa);
std::unique_ptr<Strategy> MakeTransposedPhases();

// All strategies, for one filter.
class Strategies {
 public:
  // Creates those of convolutions, or of transposed convolutions.
  void Init(CpuIsa isa, int max_tile);
  void InitTransposed(CpuIsa isa);
  // Likewise for images of 8-bit integers or of int16; a separate library
  // defines them.
  void InitQuantized(CpuIsa isa, int max_tile);
  void InitInt16(CpuIsa isa);
  // Returns the plan of the first strategy that supports the request. Null only
  // for a filter of taps whose image and results have different types, or for
  // types without kernels.
  std::unique_ptr<Plan> MakePlan(const Request &request) const;

 private:
  std::unique_ptr<Strategy> in_order_[3];  // null: not there
};

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_STRATEGY_H_
