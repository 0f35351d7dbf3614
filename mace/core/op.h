// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the engine asks of an operator. An op is three steps:
//
//   Init     once: read attributes, prepare constants;
//   Reshape  whenever the shape of an input changed: infer output shapes, ask
//            for scratch memory;
//   Run      every time: compute.
//
// Before Init the engine has checked the operator against its schema: port
// counts, element types, which inputs are constant, and attribute kinds. An op
// checks the rest (ranks, matching dimensions) in Init or Reshape; Run may rely
// on it and does not allocate.

#ifndef MACE_CORE_OP_H_
#define MACE_CORE_OP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/op_schema.h"
#include "mace/core/status.h"
#include "mace/core/tensor.h"
#include "mace/core/thread_pool.h"

namespace mace {

// One attribute of an operator in a model file.
struct AttributeValue {
  std::string name;
  AttributeKind kind;
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
};

// One operator of a model file.
struct OperatorDef {
  std::string name;
  std::string type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<AttributeValue> attributes;

  // Null if the model does not set it.
  const AttributeValue *FindAttribute(const char *key) const;
};

// What the deployment file asked of kernels.
struct DeploymentHints {
  // Largest Winograd tile that a convolution may choose: 0 (off), 2 or 4.
  int winograd = 0;
  // "bf16_bf16", ...: types of weights and of arithmetic; empty: not said.
  std::string data_type;

  // What activations are stored as where operators compute in 16 bits.
  DataType half_type() const {
    return data_type == "bf16_bf16" ? DataType::kBfloat16 : DataType::kFloat16;
  }
};

// A device's memory and queue as its ops see them; each runtime derives its
// own. CPU ops need none beyond the thread pool.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceType type() const = 0;
  // Called once per engine, before its operators are made: refuses what the
  // device cannot do, or says in the log what it does instead.
  virtual MaceStatus CheckHints(const DeploymentHints &hints) const {
    return MaceStatus();
  }
};

class InitContext {
 public:
  virtual ~InitContext() = default;
  virtual const OperatorDef &def() const = 0;
  virtual const DeploymentHints &hints() const = 0;
  virtual size_t input_count() const = 0;
  // The constant at that port; null if the input is absent or computed.
  virtual const Tensor *constant(size_t index) const = 0;
  // True if the port is connected at all.
  virtual bool has_input(size_t index) const = 0;
  virtual Device *device() const = 0;
  virtual ThreadPool *thread_pool() const = 0;
  // Uninitialised memory, 64-byte aligned, that lives as long as the op; for
  // transformed constants. Null when there is none left.
  virtual void *AllocatePrepared(size_t bytes) = 0;
};

// Where a tensor lies that is a part of another: as runs of `run` elements, the
// first `offset` elements after the other's start, `stride` apart.
struct PartPlace {
  int64_t offset = 0;
  int64_t run = 0;
  int64_t stride = 0;
};

class ReshapeContext {
 public:
  virtual ~ReshapeContext() = default;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // Null if absent, as all inputs from input_count() on are. `data` is set only
  // if the value is known before the run: constants, and small integer tensors
  // computed from shapes.
  virtual const Tensor *input(size_t index) const = 0;
  virtual void SetOutput(size_t index,
                         const Shape &shape,
                         DataType data_type) = 0;
  // Bytes that Run gets in scratch(), 64-byte aligned, uninitialised.
  virtual void RequestScratch(size_t bytes) = 0;
  // Output `output` may share memory with input `input` (same bytes) because
  // the op reads each element before it writes it.
  virtual void AllowInPlace(size_t output, size_t input) = 0;
  // Input `input` or output `output` may have its rows apart; Run follows
  // Tensor::RowStride(). Without it the tensor is dense.
  virtual void AllowStridedInput(size_t input) = 0;
  virtual void AllowStridedOutput(size_t output) = 0;
  // Input `input` is copied to `place` of output `output`, whatever the values,
  // so that it may be computed there to begin with: Run finds it at that
  // address if it was, and has nothing to copy.
  virtual void AllowPart(size_t output,
                         size_t input,
                         const PartPlace &place) = 0;
  // Asks for memory as InitContext's, for constants whose best form depends on
  // shapes. `fill` is called with it, or with null when there is none left,
  // once all operators know their shapes and before any of them runs; its
  // status is that of the Reshape. It is not called if an operator failed
  // before. An op asks once for each form, not again whenever a shape changes.
  using Fill = std::function<MaceStatus(void *memory)>;
  virtual void RequestPrepared(size_t bytes, Fill fill) = 0;
  virtual ThreadPool *thread_pool() const = 0;
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
  virtual Device *device() const = 0;
  virtual ThreadPool *thread_pool() const = 0;
};

// What an op makes of activations stored in 16 bits, as
// DeploymentHints::half_type says, at ports that are declared float32. See
// Program::PlaceConversions.
enum class HalfUse {
  kNone,     // takes and gives float32 as declared
  kFollows,  // given 16 bits at all of these inputs, it gives 16 bits at all
             // of these outputs; constants count where it takes no float32
  kComputes  // takes 16 bits alone, and gives them
};

class RowBands;

class Op {
 public:
  virtual ~Op() = default;

  virtual MaceStatus Init(InitContext *context) = 0;
  virtual MaceStatus Reshape(ReshapeContext *context) = 0;
  virtual MaceStatus Run(RunContext *context) = 0;

  // After Init. Constants are what the model says in any case. Outputs are of
  // the type that Reshape sets.
  virtual HalfUse half_use() const { return HalfUse::kNone; }
  // True if an op that computes in 16 bits takes an input in float32 as well,
  // at less cost than that of a Cast before it. One that follows is given
  // constants so, and nothing else.
  virtual bool TakesFloat(size_t input) const { return false; }

  // After Reshape: how to run it in bands of rows, or null if it can't be with
  // these shapes.
  virtual const RowBands *row_bands() const { return nullptr; }

  // Multiply-accumulates of one Run with the last shapes; 0 if not meaningful.
  virtual int64_t Macs() const { return 0; }
  // Convolution-like geometry for reports, after Reshape.
  virtual ConvPoolArgs Geometry() const { return ConvPoolArgs(); }
  // True if the outputs follow from the shapes of the inputs alone, as those
  // of Shape do: the engine then computes them before the run.
  virtual bool DependsOnShapesOnly() const { return false; }
  // Name of the kernel chosen by the last Reshape, for Explain().
  virtual std::string KernelName() const { return std::string(); }
};

using OpFactory = std::unique_ptr<Op> (*)();

// Ties a schema to an implementation on one device. Registrations form a list
// of static objects, so that registering allocates nothing and linking an op
// is all it takes to have it.
class OpRegistration {
 public:
  OpRegistration(const OpSchema *schema, DeviceType device, OpFactory factory);

  const OpSchema *schema() const { return schema_; }
  DeviceType device() const { return device_; }
  OpFactory factory() const { return factory_; }
  const OpRegistration *next() const { return next_; }

  static const OpRegistration *first();
  // Null if that type has no implementation on that device.
  static const OpRegistration *Find(const std::string &type, DeviceType device);

 private:
  const OpSchema *schema_;
  DeviceType device_;
  OpFactory factory_;
  const OpRegistration *next_;
};

// A library that was built with some operators only links one of these. It
// names all that MACE has, so that a model which needs one that was left out is
// told so. `types` are kept by reference.
class OpSelection {
 public:
  OpSelection(const char *const *types, size_t count);

  // True if this library was built without that type, which MACE has.
  static bool LeftOut(const std::string &type);
};

}  // namespace mace

// MACE_REGISTER_OP(Softmax, CPU, SoftmaxOp); at namespace scope in a .cc file,
// after including the generated <op>_schema.h, which defines k##type##Schema.
#define MACE_REGISTER_OP(type, device, op_class)                           \
  static const ::mace::OpRegistration mace_registration_##type##_##device( \
      &k##type##Schema, ::mace::DeviceType::device,                        \
      []() -> std::unique_ptr<::mace::Op> {                                \
        return std::make_unique<op_class>();                               \
      })

#endif  // MACE_CORE_OP_H_
