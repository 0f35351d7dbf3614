// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An operator on the GPU. It makes no call of OpenCL: for each set of shapes it
// describes the kernels to launch as values, and the runtime
// (mace/runtimes/opencl) chooses storage, compiles, binds memory and launches.

#ifndef MACE_OPS_OPENCL_OP_OPENCL_OP_H_
#define MACE_OPS_OPENCL_OP_OPENCL_OP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "mace/core/base/pages.h"
#include "mace/core/model/op.h"
#include "mace/kernels/opencl/cl_source.h"
#include "mace/ops/op_enums.h"
#include "mace/ops/window/window.h"
#include "mace/public/mace_statistics.h"
#include "mace/public/mace_status.h"

namespace mace {

enum class GpuFamily : uint8_t {
  kOther,
  kAdreno,
  kMali,
  kPowerVr,
  kNvidia,
  kIntel,
  kAmd,
  kCpu,  // an OpenCL driver for CPUs
};

// What kernels need to know of the GPU.
struct GpuTraits {
  GpuFamily family = GpuFamily::kOther;
  int compute_units = 1;
  size_t local_bytes = 0;  // of a work group
  size_t max_work_group = 1;
  // Activations are stored as half; otherwise as float.
  bool half_storage = false;
  // Kernels compute in half, for which the device has cl_khr_fp16.
  bool half_arithmetic = false;
  // Activations are images where they fit.
  bool images = false;
  // The most rows of an image of weights (kWeightImage); 0: the GPU reads
  // buffers as fast.
  size_t weight_image_rows = 0;
  // The compiler takes PTX with mma.sync of half (NVIDIA, compute capability
  // 8).
  bool ptx_mma = false;
};

// A tensor as kernels see it: rank 4 is [N, H, W, C], rank 3 is [N, 1, W, C],
// rank 2 is [N, 1, 1, C], rank 1 is [1, 1, 1, C]; the first dimensions of
// higher ranks are joined to N. Elements keep their order.
struct GpuDims {
  int64_t n = 1;
  int64_t h = 1;
  int64_t w = 1;
  int64_t c = 1;

  static GpuDims Of(const Shape &shape);
  int64_t blocks() const { return (c + 3) / 4; }  // of four channels
  int64_t rows() const { return n * h; }
  int64_t pixels() const { return n * h * w; }
  bool operator==(const GpuDims &other) const {
    return n == other.n && h == other.h && w == other.w && c == other.c;
  }
};

// Another order of the elements of a constant, which the runtime makes once for
// each constant, before it copies them to the GPU. Objects are static.
struct ConstantForm {
  const char *name;
  // `constant` has data, in any of the types and layouts of its port. Null: the
  // elements as they are stored, in an image (CW of tensor.clh).
  MaceStatus (*make)(const Tensor &constant, MappedMemory *bytes);
};

// Memory for `count` elements of a constant in another form; they are 0.
template <typename T>
Result<T *> AllocateForm(const Tensor &constant,
                         int64_t count,
                         MappedMemory *bytes) {
  *bytes = MapMemory(static_cast<size_t>(count) * sizeof(T));
  if (*bytes == nullptr) {
    return OutOfResources("no memory for constant '", constant.name, "'");
  }
  return static_cast<T *>(bytes->get());
}

// Float or half in rows of kWeightImageWidth pixels of four; the last is filled
// up with zeros.
extern const ConstantForm kWeightImage;
inline constexpr size_t kWeightImageWidth = 64;

// One argument of a kernel.
struct LaunchArgument {
  enum class Kind : uint8_t {
    kInput,     // tensor at an input port
    kOutput,    // tensor at an output port
    kScratch,   // tensor between two launches of the operator
    kConstant,  // elements of the constant at an input port, as they are stored
    kInt,
    kInts2,
    kInts4,
    kFloat,
    kFloats4,
    kTable,  // numbers that follow from shapes and attributes
    kZeros,  // numbers that the kernel may change
    kLocal,  // bytes of local memory
  };
  Kind kind;
  const char *name = nullptr;  // in the kernel; null for a number
  size_t index = 0;            // of the port or scratch tensor
  size_t node = 0;             // whose port it is, of operators that are fused
  const ConstantForm *form = nullptr;  // null: as it is stored
  bool rounded = false;                // the kernel rounds its elements to half
  std::array<int32_t, 4> ints = {};
  std::array<float, 4> floats = {};
  std::shared_ptr<const std::vector<int32_t>> table;
  size_t bytes = 0;
};

class OpenclPlanContext;

// An activation at the end of a kernel: the macro, and its value.
struct LaunchActivation {
  const char *macro;
  const char *kind;
  // Whether the value may be ANY, which kernels with other kinds can share.
  bool can_share;
};

// One launch of a kernel. The arguments are added in the order of the kernel's
// parameters; an input, output or scratch tensor is two parameters, IN or OUT
// of tensor.clh.
class Launch {
 public:
  // `kernel` is a function of `source`. KERNEL_<kernel> is defined, so that a
  // source of several kernels compiles one of them.
  Launch(const ClSource &source, const char *kernel)
      : source_(&source), kernel_(kernel) {}

  // -D name=value
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Launch &Define(const std::string &name, T value) {
    return Define(name, std::to_string(value));
  }
  Launch &Define(const std::string &name, const std::string &value);
  Launch &Define(const std::string &name, const char *value) {
    return Define(name, std::string(value));
  }
  Launch &Define(const std::string &name) { return Define(name, 1); }

  // A constant or known value at an input port is a dense tensor.
  Launch &Input(const char *name, size_t port);
  // The same; the kernel rounds what it reads to half, so that nothing changes
  // if the input is stored as half.
  Launch &RoundedInput(const char *name, size_t port);
  Launch &Output(const char *name, size_t port = 0);
  // `index`: what OpenclPlanContext::Scratch returned. The kernel may read it
  // (IN) or write it (OUT).
  Launch &Scratch(const char *name, size_t index);
  // For CONST of tensor.clh. The elements are in the order of the model file;
  // after the last one, the buffer has zeros up to a multiple of 64 bytes.
  Launch &Constant(const char *name, size_t port);
  // In another form; the kernel declares the pointer.
  Launch &Constant(const char *name, size_t port, const ConstantForm &form);
  // The following ports are those of operator `node` of operators that are
  // fused.
  Launch &Of(size_t node) {
    node_ = node;
    return *this;
  }
  Launch &Int(int64_t value);
  Launch &Ints2(int64_t a, int64_t b);
  Launch &Ints(int64_t a, int64_t b, int64_t c, int64_t d);
  Launch &Float(float value);
  Launch &Floats(float a, float b, float c, float d);
  // For TABLE of tensor.clh; at least one value. They are copied to the GPU
  // once for each set of shapes.
  Launch &Table(const char *name, std::vector<int32_t> values);
  // `__global int *restrict <name>`: so many numbers, which are 0 before the
  // first run. They are the launch's own, and keep what a run leaves in them.
  Launch &Zeros(const char *name, size_t count);
  Launch &Local(size_t bytes);

  // RESIDUAL_ARG of epilogue.clh: the tensor at that port; if there is none,
  // the first argument or the output, which is not read. The output may be
  // planned into its memory.
  Launch &Residual(const OpenclPlanContext &context, size_t port);

  // ACT_ARG of activation.clh, and its macro, which the runtime defines.
  Launch &AddActivation(Activation activation,
                        float limit,
                        float alpha,
                        float beta,
                        const char *macro = "ACT");
  // The same, of the attributes of an operator.
  template <typename Attributes>
  Launch &ActivationOf(const Attributes &a) {
    return AddActivation(a.activation, a.activation_limit, a.activation_alpha,
                         a.activation_beta);
  }

  // The number of work items. The runtime rounds x and y up to whole work
  // groups, so that a kernel checks them; z is never rounded.
  Launch &Items(int64_t x, int64_t y = 1, int64_t z = 1);
  // The size of work groups, if it is not left to the runtime. The kernel must
  // then have reqd_work_group_size, of macros.
  Launch &WorkGroup(int64_t x, int64_t y = 1, int64_t z = 1);

  const ClSource &source() const { return *source_; }
  const char *kernel() const { return kernel_; }
  // " -D a=1 -D b=2", without storage and activations.
  const std::string &defines() const { return defines_; }
  const std::vector<LaunchActivation> &activations() const {
    return activations_;
  }
  const std::vector<LaunchArgument> &arguments() const { return arguments_; }
  // The argument; -1 if there is no residual.
  int residual() const { return residual_; }
  // The output has the memory of the residual.
  void ReadResidualInOutput();
  bool reads_residual_in_output() const;
  const std::array<int64_t, 3> &items() const { return items_; }
  // All 0: left to the runtime.
  const std::array<int64_t, 3> &work_group() const { return work_group_; }

 private:
  LaunchArgument &Add(LaunchArgument::Kind kind, const char *name = nullptr);

  const ClSource *source_;
  const char *kernel_;
  size_t node_ = 0;
  int residual_ = -1;
  std::string defines_;
  std::vector<LaunchActivation> activations_;
  std::vector<LaunchArgument> arguments_;
  std::array<int64_t, 3> items_ = {1, 1, 1};
  std::array<int64_t, 3> work_group_ = {0, 0, 0};
};

// Some rows of an operator whose input port 0 and output 0 are single images.
struct RowBand {
  int64_t first_output = 0;  // row of the whole output
  int64_t outputs = 0;
  // The row of the whole input with which the tensor at port 0 begins.
  int64_t first_input = 0;
};

// An operator with the shapes of one run.
class OpenclPlanContext {
 public:
  virtual ~OpenclPlanContext() = default;
  virtual const OperatorDef &def() const = 0;
  virtual const OpAttributes &attributes() const = 0;
  virtual const DeploymentHints &hints() const = 0;
  // Without half where a tensor of the operator is kept in float (NumberRange).
  virtual const GpuTraits &gpu() const = 0;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // Null if absent. `data` is set for constants and for values that are known
  // before the run. Of a band, the shapes are those of its rows.
  virtual const Tensor *input(size_t port) const = 0;
  virtual const Tensor *output(size_t port) const = 0;
  // Null: all rows are computed. Only for operators that have OpenclOp::Rows.
  virtual const RowBand *band() const = 0;
  // The shape of an input with all its rows.
  virtual const Shape &WholeInput(size_t port) const = 0;
  // Whether the output could be the same memory as the input, whose elements it
  // has in the same order.
  virtual bool CanAlias(size_t output, size_t input) const = 0;
  // Makes it so: no launch writes the output.
  virtual void Alias(size_t output, size_t input) = 0;
  // For an output that is its inputs, one after the other: makes each input a
  // part of the output's memory, so that the launch that computes it writes
  // it there, and no launch joins them. False if that can't be; then nothing
  // has changed. `channels`: they follow each other along C, and agree in N, H
  // and W; otherwise they are consecutive pixels.
  virtual bool JoinInPlace(bool channels) = 0;
  // A tensor that lives during the launches of this operator, stored like
  // activations, or as float where `in_float`.
  virtual size_t Scratch(const GpuDims &dims, bool in_float = false) = 0;
  virtual void Add(Launch launch) = 0;
  // One of `values`, all of which give right results: the one that tuning found
  // fastest on this GPU for operators of these shapes and attributes, otherwise
  // `guess`. Use it for what changes time alone:
  //
  //   const int pixels = context.Choose(kSource, "PIXELS", {1, 2, 4, 8}, 4);
  //   launch.Define("PIXELS", pixels)
  //
  // or for one of several kernels ("KERNEL", {kDirect, kWinograd}, guess).
  // `source` has the kernels: if its text changes, what was measured is void.
  // `what` is unique in the operator. A value of an earlier choice may decide
  // whether there is a further one. Tuning compiles a program for every value
  // that changes a macro, and tries each choice by itself, in the order of the
  // calls: parameters that depend on each other are one choice, whose value
  // encodes them. Few values (up to 8), and an exact `guess`: most
  // applications are not tuned.
  virtual int Choose(const ClSource &source,
                     const char *what,
                     const std::vector<int> &values,
                     int guess) const = 0;

  template <typename Attributes>
  const Attributes &AttributesAs() const {
    return static_cast<const Attributes &>(attributes());
  }
  GpuDims InputDims(size_t port) const {
    return GpuDims::Of(input(port)->shape);
  }
  GpuDims OutputDims(size_t port = 0) const {
    return GpuDims::Of(output(port)->shape);
  }
  // Makes the vertical windows of the whole image those of the band, if there
  // is one. The padding before is negative if the input begins with rows that
  // the band does not need.
  void SetBand(WindowAxis *rows) const;
};

// Operators that one kernel computes, so that the tensors between them are not
// stored: each reads the output of the one before it at port 0, and nothing
// else does.
class OpenclFusion {
 public:
  using Factory = std::unique_ptr<OpenclFusion> (*)();
  OpenclFusion() = default;
  virtual ~OpenclFusion() = default;
  // Adds launches to `last`, whose arguments say of which operator they are
  // (Launch::Of). MACE_UNSUPPORTED: the operators are computed otherwise.
  // `operators`: in order, the last one included.
  virtual MaceStatus Plan(
      const std::vector<const OpenclPlanContext *> &operators,
      OpenclPlanContext *last) const = 0;
};

// A list of static objects, as OpRegistration. `types`: the names of the
// operators' types, two or more.
class OpenclFusionRegistration {
 public:
  static constexpr size_t kMostOperators = 3;

  OpenclFusionRegistration(std::initializer_list<const char *> types,
                           OpenclFusion::Factory factory);
  // Null if no kernel computes these types.
  static const OpenclFusionRegistration *Find(
      const std::vector<std::string> &types);
  OpenclFusion::Factory factory() const { return factory_; }

 private:
  std::array<const char *, kMostOperators> types_ = {};  // null after the last
  OpenclFusion::Factory factory_;
  const OpenclFusionRegistration *next_;
};

// What an operator does to the size of numbers. Activations in half can't be
// between 0 and 6e-8 nor above 65504: of a logarithm of energies, the runtime
// keeps the energies in float.
struct NumberRange {
  enum class Result : uint8_t {
    // Numbers of a size that does not follow that of the inputs, or that
    // nothing is known of.
    kOwn,
    // Each is one of the inputs' elements, or a multiple of it, or the sum of
    // it and a number that is known before the run.
    kElements,
    kSums,      // of elements of two computed inputs
    kProducts,  // the same
    // Sums of many elements: reductions, products with matrices. What is too
    // large for half ends here, so that it can't spread over a network.
    kLinear,
    // Squares or exponentials: very small or large where inputs are not.
    kSquares,
  };
  Result result = Result::kOwn;
  // Results may be beyond half wherever they are used: an inverse, a multiple
  // of 1e9.
  bool large = false;
  // A bit for each input port where 0 is no substitute for a small number: of
  // a logarithm, a root, a divisor.
  uint32_t sensitive = 0;
  // The same where squares are concerned: of a dividend.
  uint32_t sensitive_to_squares = 0;

  static NumberRange Of(Result result) {
    NumberRange range;
    range.result = result;
    return range;
  }
  // Of an activation that is applied to the results.
  NumberRange Then(Activation activation) const;
};

// Whether half has infinity for it, though it is finite.
bool IsBeyondHalf(float value);
// Whether a tensor of floats that is known before the run has such a number;
// false if it is not known.
bool AnyKnown(const Tensor *tensor, bool (*is_such)(float));
inline bool HasBeyondHalf(const Tensor *tensor) {
  return AnyKnown(tensor, IsBeyondHalf);
}

// What reports say of an operator, beside its name and its times.
struct OpReport {
  int64_t macs = 0;  // multiply-adds; 0: an estimate from the weights
  ConvPoolArgs geometry = {};
};

// The base class of all operators for the GPU. They have no state.
class OpenclOp : public Op {
 public:
  // Adds launches for these shapes; none if the outputs have no elements (the
  // runtime does not call it then). MACE_UNSUPPORTED, with the reason as the
  // rest of a sentence ("it takes at most 4 dimensions"), if the GPU can't run
  // the operator; this is also called to find that out.
  virtual MaceStatus Plan(OpenclPlanContext *context) const = 0;
  virtual OpReport Report(const OpenclPlanContext &) const {
    return OpReport();
  }
  // Of floats.
  virtual NumberRange Range(const OpenclPlanContext &) const {
    return NumberRange();
  }
  // The rows of the input at port 0 on which each row of output 0 depends, if
  // Plan can plan some of the rows alone (OpenclPlanContext::band) and each is
  // of a single image. Nothing else that is computed may be an input.
  virtual std::optional<WindowAxis> Rows(const OpenclPlanContext &) const {
    return std::nullopt;
  }
  // Whether computed inputs and outputs may be int32 (storage BI or DI of
  // tensor.clh); otherwise the runtime refuses them.
  virtual bool TakesIntegers() const { return false; }
  // The same of int8, uint8 and bool (storage BS or DS, BU or DU).
  virtual bool TakesBytes() const { return false; }
};

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_OPENCL_OP_H_
