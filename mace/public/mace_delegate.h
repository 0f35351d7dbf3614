// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Delegates: accelerators that compute parts of a model. MACE hands a delegate
// segments of the model in plain values; the delegate compiles each once and
// runs it from then on. What a delegate does not take, and everything after it
// failed, the CPU computes. See docs/development/writing_a_delegate.md.
//
//   class MyDelegate : public mace::Delegate { ... };
//   mace::MaceStatus MakeMine(const mace::DelegateOptions &options,
//                             std::unique_ptr<mace::Delegate> *delegate) {
//     delegate->reset(new MyDelegate());
//     return mace::MaceStatus();
//   }
//   mace::RegisterDelegate(mace::RT_NPU, MakeMine);
//   config.SetRuntimeTypes({mace::RT_NPU, mace::RT_CPU});
//
// Needs a library that was built with an accelerator: -runtimes=cpu,npu of
// tools/build-standalone-lib.sh.

#ifndef MACE_PUBLIC_MACE_DELEGATE_H_
#define MACE_PUBLIC_MACE_DELEGATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

// A value of a segment. Tensors of rank 4 that operators compute are [N, H, W,
// C]; elements are dense and row-major.
struct DelegateTensor {
  std::string name;
  // IDT_NOT_SET: a type that applications can't name.
  IDataType type = IDataType::IDT_NOT_SET;
  // -1: not known before the first run; only in Delegate::Refusal.
  std::vector<int64_t> shape;
  // Of a constant: its elements, which live as long as the network that
  // Compile makes. Null for all others, and in Delegate::Restore. Weights that
  // the model file has in fewer bits are float here. In questions (Refusal,
  // EstimateNanos), weights that the model file has in another order or type
  // are zeros: nothing is unpacked for a question.
  const void *data = nullptr;
  bool is_constant = false;
  // An integer q stands for scale * (q - zero point). One scale, or one for
  // each index of `axis`; none: the tensor is not quantized. As many zero
  // points as scales.
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int axis = 0;
};

// One attribute. Docs of operators name them, their types and defaults; an
// enumeration is text, a boolean is 0 or 1.
struct DelegateAttribute {
  std::string name;
  enum Kind { INT, FLOAT, STRING, INTS, FLOATS } kind = INT;
  int64_t int_value = 0;
  float float_value = 0;
  std::string string_value;
  std::vector<int64_t> int_values;
  std::vector<float> float_values;
};

// One operator of a segment.
struct DelegateOperator {
  std::string name;
  std::string type;  // "Conv2D"
  // Indices of tensors of the segment; -1: an optional input that is absent.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // Those that the model sets; others have their default values.
  std::vector<DelegateAttribute> attributes;

  // The functions below look up an attribute by name, and give `otherwise` if
  // the model does not set it.

  // Null if the model does not set it.
  const DelegateAttribute *Find(const char *attribute) const {
    for (const DelegateAttribute &entry : attributes) {
      if (entry.name == attribute) return &entry;
    }
    return nullptr;
  }
  int64_t Int(const char *attribute, int64_t otherwise) const {
    const DelegateAttribute *found = Find(attribute);
    return found == nullptr ? otherwise : found->int_value;
  }
  float Float(const char *attribute, float otherwise) const {
    const DelegateAttribute *found = Find(attribute);
    return found == nullptr ? otherwise : found->float_value;
  }
  std::string String(const char *attribute, const char *otherwise) const {
    const DelegateAttribute *found = Find(attribute);
    return found == nullptr ? std::string(otherwise) : found->string_value;
  }
  std::vector<int64_t> Ints(const char *attribute,
                            const std::vector<int64_t> &otherwise) const {
    const DelegateAttribute *found = Find(attribute);
    return found == nullptr ? otherwise : found->int_values;
  }
  int input(size_t index) const {
    return index < inputs.size() ? inputs[index] : -1;
  }
};

// Operators that are computed without a copy to the host between them.
struct DelegateSegment {
  std::string name;  // of the first operator
  std::vector<DelegateTensor> tensors;
  std::vector<DelegateOperator> operators;  // in the order of execution
  // Tensors that are given to the network, and those that it has to return.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // Floats may be computed with the precision of 16 bits: data_type of the
  // deployment file is fp16_fp32 or fp16_fp16.
  bool allow_half = false;
};

// A compiled segment. Objects are used by one thread at a time.
class DelegateNetwork {
 public:
  virtual ~DelegateNetwork() = default;
  // `inputs` and `outputs` are addresses of dense elements, in the order of
  // DelegateSegment::inputs and outputs, at multiples of 64. They are often,
  // but not always those of the run before. Outputs are complete on return.
  virtual MaceStatus Run(const std::vector<const void *> &inputs,
                         const std::vector<void *> &outputs) = 0;
  // The bytes from which Delegate::Restore makes this network without
  // compiling; none if there are no such bytes.
  virtual MaceStatus Store(std::vector<unsigned char> *bytes) {
    bytes->clear();
    return MaceStatus();
  }
};

// An accelerator as one engine sees it. A status that is not MACE_SUCCESS, of
// any function here, makes the engine leave out the delegate: it says so once,
// and the CPU computes what the delegate would have.
class Delegate {
 public:
  virtual ~Delegate() = default;

  // What else decides whether stored bytes can be restored: the accelerator,
  // the version of its driver. Part of the key of the cache.
  virtual std::string Version() const = 0;
  // Why it does not compute the one operator of `segment`, as the rest of a
  // sentence ("it takes no groups"); empty if it does. The engine shows it in
  // `explain`.
  virtual std::string Refusal(const DelegateSegment &segment) = 0;
  // Estimated time of the one operator of `segment`; 0: no estimate. An engine
  // leaves operators to the CPU if that takes less time than the delegate with
  // its copies.
  virtual double EstimateNanos(const DelegateSegment & /*segment*/) {
    return 0;
  }
  // Likewise of a copy to or from the delegate.
  virtual double CopyNanos(int64_t /*bytes*/) { return 0; }
  // Makes the network of a segment whose operators Refusal all took. All shapes
  // are known; a run with other shapes compiles another network. The engine
  // calls it before the first run of these shapes; a network may need the
  // delegate as long as it lives.
  virtual MaceStatus Compile(const DelegateSegment &segment,
                             std::unique_ptr<DelegateNetwork> *network) = 0;
  // Makes the network from bytes that Store gave. A failure is not one of the
  // delegate: the engine then compiles the segment.
  virtual MaceStatus Restore(const DelegateSegment & /*segment*/,
                             const std::vector<unsigned char> & /*bytes*/,
                             std::unique_ptr<DelegateNetwork> * /*network*/) {
    return MaceStatus(MaceStatus::MACE_UNSUPPORTED);
  }
};

// What the application asked of its accelerators.
struct DelegateOptions {
  // MaceEngineConfig::SetAPUHints.
  uint8_t apu_boost_hint = 100;
  APUPreferenceHint apu_preference = NEURON_PREFER_FAST_SINGLE_ANSWER;
  // MaceEngineConfig::SetQnnPerformance.
  HexagonPerformanceType performance = HEXAGON_BURST;
};

// Makes a delegate for one engine. A failure says why the accelerator can't be
// used on this machine.
using DelegateFactory = MaceStatus (*)(const DelegateOptions &options,
                                       std::unique_ptr<Delegate> *delegate);

namespace accelerator {

// What the function below calls. Null in a library without accelerators.
__attribute__((weak)) MACE_API MaceStatus
RegisterFactory(RuntimeType runtime_type, DelegateFactory factory);

}  // namespace accelerator

// Engines that are created from now on use the factory for that runtime:
// RT_NPU, or RT_HTA, RT_HTP or RT_APU instead of MACE's own delegate for it.
// MACE_INVALID_ARGS for other runtimes and for null; MACE_UNSUPPORTED in a
// library without accelerators. Any thread may call it.
inline MaceStatus RegisterDelegate(RuntimeType runtime_type,
                                   DelegateFactory factory) {
  if (accelerator::RegisterFactory == nullptr) {
    return MaceStatus(MaceStatus::MACE_UNSUPPORTED,
                      "this library has no accelerators; build one with "
                      "-runtimes=cpu,npu");
  }
  return accelerator::RegisterFactory(runtime_type, factory);
}

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_DELEGATE_H_
