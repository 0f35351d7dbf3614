// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An operator on a Hexagon DSP. This runs on the host, and calls no DSP: for
// each set of shapes it describes instructions as values, and the runtime
// (mace/runtimes/hexagon) chooses where tensors lie and makes a program of
// them.

#ifndef MACE_OPS_HEXAGON_OP_HEXAGON_OP_H_
#define MACE_OPS_HEXAGON_OP_HEXAGON_OP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/model/op.h"
#include "mace/core/model/quantization.h"
#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/public/mace_statistics.h"
#include "mace/public/mace_status.h"

namespace mace {

// A tensor as the DSP sees it: its last dimension are channels, those before it
// width and height, and all others batch. Elements keep their order.
struct HexagonDims {
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;

  static HexagonDims Of(const Shape &shape);
  int64_t pixels() const { return batch * height * width; }
  bool operator==(const HexagonDims &other) const {
    return batch == other.batch && height == other.height &&
           width == other.width && channels == other.channels;
  }
};

// What a tensor's integers stand for, in int8, which all tensors of 8 bits are
// on the DSP: q stands for scale * (q - zero).
struct HexagonNumbers {
  float scale = 1;
  int32_t zero = 0;

  IntegerRange Range() const { return {zero, INT8_MIN, INT8_MAX}; }
  // `tensor` is int8 or uint8, with one scale, or not quantized.
  static HexagonNumbers Of(const Tensor &tensor);
};

// Pixels of the zero point that an operator reads around its input.
struct HexagonPadding {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
};

// An operator with the shapes of one run.
class HexagonPlanContext {
 public:
  virtual ~HexagonPlanContext() = default;
  virtual const OperatorDef &def() const = 0;
  virtual const OpAttributes &attributes() const = 0;
  virtual const DeploymentHints &hints() const = 0;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // Null if absent. `data` is set for constants and for values that are known
  // before the run.
  virtual const Tensor *input(size_t port) const = 0;
  virtual const Tensor *output(size_t port) const = 0;

  // The index of a tensor in the program. An input that is a constant of 8 bits
  // or int32 is one, too.
  virtual uint32_t Input(size_t port) = 0;
  virtual uint32_t Output(size_t port) = 0;
  // A tensor of int8 that lives during this operator: a row of so many bytes.
  virtual uint32_t Scratch(int64_t bytes) = 0;
  // Bytes from one pixel of that input to the next: its channels, rounded up to
  // a multiple of 8 if they are int8, or 4 (see HexagonOp::TakesNarrowPixels).
  virtual int32_t PixelBytes(size_t port) const = 0;

  // The offset of constants of the operator's own, at a multiple of 128 bytes.
  // They are made once for all shapes: `fill` is called, at most once and after
  // Plan, with memory of that size, which is 0. `name` says what they are, with
  // everything but the operator that they depend on. What `fill` refers to by
  // address must be a part of the model.
  using Fill = std::function<void(uint8_t *memory)>;
  virtual uint32_t Constant(const std::string &name,
                            int64_t bytes,
                            Fill fill) = 0;

  // Numbers that depend on nothing but the operator's constants. They are made
  // once for a model: `make` is called when they are wanted first.
  using Make = std::function<std::vector<int64_t>()>;
  virtual const std::vector<int64_t> &Once(const Make &make) = 0;

  // Adds an instruction: the parameters of instructions.h.
  template <typename Parameters>
  void Add(const Parameters &parameters) {
    static_assert(std::is_trivially_copyable_v<Parameters>);
    AddInstruction(Parameters::kOpcode, &parameters, sizeof(parameters));
  }

  template <typename Attributes>
  const Attributes &AttributesAs() const {
    return static_cast<const Attributes &>(attributes());
  }
  HexagonDims InputDims(size_t port) const {
    return HexagonDims::Of(input(port)->shape);
  }
  HexagonDims OutputDims(size_t port = 0) const {
    return HexagonDims::Of(output(port)->shape);
  }
  HexagonNumbers InputNumbers(size_t port) const {
    return HexagonNumbers::Of(*input(port));
  }
  HexagonNumbers OutputNumbers(size_t port = 0) const {
    return HexagonNumbers::Of(*output(port));
  }

 private:
  virtual void AddInstruction(hexagon::Opcode opcode,
                              const void *parameters,
                              size_t bytes) = 0;
};

// What reports say of an operator, beside its name and its times.
struct HexagonReport {
  int64_t macs = 0;  // multiply-adds; 0: an estimate from the weights
  ConvPoolArgs geometry = {};
};

// The base class of all operators for the DSP. They have no state. Computed
// inputs and outputs are int8 or uint8, of one scale if they are quantized; the
// runtime refuses others.
class HexagonOp : public Op {
 public:
  // Adds instructions for these shapes; the runtime does not call it if an
  // output has no elements. MACE_UNSUPPORTED, with the reason as the rest of a
  // sentence ("it takes at most 4 dimensions"), if the DSP can't run the
  // operator; this is also called to find that out.
  virtual MaceStatus Plan(HexagonPlanContext *context) const = 0;
  // What Plan needs around a computed input. It is called before Plan, with
  // shapes for which Plan may fail.
  virtual HexagonPadding Padding(const HexagonPlanContext & /*context*/,
                                 size_t /*port*/) const {
    return {};
  }
  // Whether pixels of that input may have 4 bytes, if its channels are up to 4.
  // Rows begin with their padding, at a multiple of 8. It is called when
  // Padding is.
  virtual bool TakesNarrowPixels(const HexagonPlanContext & /*context*/,
                                 size_t /*port*/) const {
    return false;
  }
  virtual HexagonReport Report(const HexagonPlanContext & /*context*/) const {
    return {};
  }
  // Whether computed inputs and outputs may be int32.
  virtual bool TakesWords() const { return false; }
};

}  // namespace mace

#endif  // MACE_OPS_HEXAGON_OP_HEXAGON_OP_H_
