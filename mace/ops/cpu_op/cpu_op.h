// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An operator on the CPU, in three steps:
//
//   Init  once: read attributes, choose kernels;
//   Plan  for each new set of input shapes, once all shapes are known: the data
//         for Run, as a value that the caller keeps;
//   Run   every time: compute. It must not allocate, and must not fail for a
//         reason that earlier steps could have detected.
//
// Before Init the engine has checked the operator against its schema: port
// counts, element types, which inputs are constant, and its attributes. The
// rest (ranks, matching dimensions) is checked by the operator's shape
// function, which all devices share, after Init and before Plan: Init must not
// rely on it.
//
// The only thing that an operator may store for particular shapes is a constant
// transformed for them (PlanContext::RequestPrepared): plans for several sets
// of shapes exist at the same time, and any of them may run next.

#ifndef MACE_OPS_CPU_OP_CPU_OP_H_
#define MACE_OPS_CPU_OP_CPU_OP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mace/core/base/thread_pool.h"
#include "mace/core/model/op.h"
#include "mace/core/model/op_signature.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/public/mace_statistics.h"

namespace mace {

class RowBands;

class InitContext {
 public:
  virtual ~InitContext() = default;
  virtual const OperatorDef &def() const = 0;
  // To be copied; the lists in them live as long as the op.
  virtual const OpAttributes &attributes() const = 0;
  virtual const DeploymentHints &hints() const = 0;
  virtual size_t input_count() const = 0;
  // The constant at that port; null if the input is absent or computed.
  virtual const Tensor *constant(size_t index) const = 0;
  // True if the port is connected at all.
  virtual bool has_input(size_t index) const = 0;
  // The instruction set of the kernels that the operator calls.
  virtual CpuIsa isa() const = 0;
  virtual ThreadPool *thread_pool() const = 0;
  // Uninitialised memory for transformed constants, 64-byte aligned, which
  // remains as long as the operator. Null if there is not enough memory.
  virtual void *AllocatePrepared(size_t bytes) = 0;

  // The attributes as the operator's own type.
  template <typename Attributes>
  const Attributes &AttributesAs() const {
    return static_cast<const Attributes &>(attributes());
  }
};

// The place of a tensor that is a part of another one: runs of `run` elements,
// `stride` elements apart; the first run starts `offset` elements after the
// start of the other tensor.
struct PartPlace {
  int64_t offset = 0;
  int64_t run = 0;
  int64_t stride = 0;
};

// The data for Run that an operator computes from the shapes of its inputs.
// Operators derive their own class; an operator that needs no data has no plan.
class OpPlan {
 public:
  virtual ~OpPlan() = default;

  // How to run the operator in bands of rows; null if that is not possible with
  // these shapes.
  virtual const RowBands *row_bands() const { return nullptr; }
  // Multiply-accumulates of one Run; 0 if not meaningful.
  virtual int64_t Macs() const { return 0; }
  // Convolution-like geometry for reports.
  virtual ConvPoolArgs Geometry() const { return ConvPoolArgs(); }
  // The kernel that runs, for Explain(); empty if there is no choice.
  virtual std::string KernelName() const { return std::string(); }
};

class PlanContext {
 public:
  virtual ~PlanContext() = default;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // The tensor, with its shape and stored type. Null if absent. `data` is set
  // only if the value is known before the run.
  virtual const Tensor *input(size_t index) const = 0;
  virtual const Tensor *output(size_t index) const = 0;
  // Bytes that Run gets in scratch(), 64-byte aligned, uninitialised.
  virtual void RequestScratch(size_t bytes) = 0;
  // Output `output` may share memory with input `input` (of the same size),
  // because the operator reads each element before it writes it.
  virtual void AllowInPlace(size_t output, size_t input) = 0;
  // The rows of input `input` or output `output` may be strided; Run uses
  // Tensor::RowStride(). Otherwise the tensor is dense.
  virtual void AllowStridedInput(size_t input) = 0;
  virtual void AllowStridedOutput(size_t output) = 0;
  // Input `input` is copied unchanged to `place` of output `output`, so that it
  // may be computed there directly: in that case, Run finds it at that address
  // and has nothing to copy.
  virtual void AllowPart(size_t output,
                         size_t input,
                         const PartPlace &place) = 0;
  // Requests memory like InitContext::AllocatePrepared, for constants whose
  // best layout depends on shapes. `fill` is called with the memory, or with
  // null if there is not enough, after all operators have planned and before
  // any of them runs; its status becomes that of the plan. It is not called if
  // an operator failed earlier. An operator requests each layout once, not for
  // every shape.
  using Fill = std::function<MaceStatus(void *memory)>;
  virtual void RequestPrepared(size_t bytes, Fill fill) = 0;
  virtual ThreadPool *thread_pool() const = 0;
  // Passes the plan to the engine; Run gets it.
  virtual void Keep(std::unique_ptr<OpPlan> plan) = 0;
};

class RunContext {
 public:
  virtual ~RunContext() = default;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // Null if absent, as above.
  virtual const Tensor *input(size_t index) const = 0;
  virtual Tensor *output(size_t index) const = 0;
  virtual void *scratch() const = 0;
  virtual ThreadPool *thread_pool() const = 0;
  // The plan that Plan kept for these shapes; null if it kept none.
  virtual const OpPlan *plan() const = 0;

  // The same, as the operator's own type of plan.
  template <typename PlanType>
  const PlanType &PlanAs() const {
    return *static_cast<const PlanType *>(plan());
  }
};

// The base class of all operators for the CPU.
class CpuOp : public Op {
 public:
  // Sets the name, the type, the ISA and the signature, then calls InitOp.
  MaceStatus Init(const OpSchema &schema, InitContext *context);

  virtual MaceStatus Plan(PlanContext *context) { return MaceStatus(); }
  virtual MaceStatus Run(RunContext *context) const = 0;

  // After Init: the signature that applies, that is, the type other than
  // float32 in which the operator reads and writes floats; null if none
  // applies. Constants always have the type in the model.
  const OpSignature *signature() const { return signature_; }

 protected:
  // Takes attributes, chooses kernels and prepares constants.
  virtual MaceStatus InitOp(InitContext *context) { return MaceStatus(); }

  // INVALID_ARGS: "operator 'conv1' (Conv2D): ..."
  template <typename... Args>
  MaceStatus Invalid(const Args &...args) const {
    return InvalidArgs("operator '", name_, "' (", type_, "): ", args...);
  }
  // UNSUPPORTED, in the same form.
  template <typename... Args>
  MaceStatus NotSupported(const Args &...args) const {
    return Unsupported("operator '", name_, "' (", type_, "): ", args...);
  }

  // INVALID_ARGS: a model's 64-bit integers, which are stored as int32, do not
  // hold a result. `where` begins the text, such as "mode ADD: ".
  template <typename... Args>
  MaceStatus ExceedsInt32(const Args &...where) const {
    return Invalid(
        where...,
        "a result exceeds the 32 bits in which MACE computes integers");
  }

  const std::string &name() const { return name_; }
  CpuIsa isa() const { return isa_; }
  // The type in which the operator reads and writes floats, whatever the types
  // of other operators are. For an operator that follows its inputs it is
  // float32; the actual type is that of its inputs.
  DataType float_type() const { return float_type_; }

 private:
  std::string name_;
  std::string type_;
  CpuIsa isa_ = CpuIsa::kNone;
  const OpSignature *signature_ = nullptr;
  DataType float_type_ = DataType::kFloat32;
};

// Elements per task of cheap elementwise work: 16 Ki elements take about as
// long as starting a task on another thread.
inline constexpr int64_t kElementGrain = 16384;

// Rows of `columns` elements per task.
inline constexpr int64_t RowGrain(int64_t columns) {
  return columns >= kElementGrain ? 1
                                  : kElementGrain / (columns > 0 ? columns : 1);
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_CPU_OP_H_
