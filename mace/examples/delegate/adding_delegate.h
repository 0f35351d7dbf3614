// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A delegate that computes sums and ReLU of floats, on the CPU instead of an
// accelerator. See docs/development/writing_a_delegate.md.

#ifndef MACE_EXAMPLES_DELEGATE_ADDING_DELEGATE_H_
#define MACE_EXAMPLES_DELEGATE_ADDING_DELEGATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace_delegate.h"

namespace adding_delegate {

inline size_t Elements(const mace::DelegateTensor &tensor) {
  size_t elements = 1;
  for (int64_t dim : tensor.shape) elements *= static_cast<size_t>(dim);
  return elements;
}

// Owns the tensors inside of a segment, and refers to the others.
class AddingNetwork : public mace::DelegateNetwork {
 public:
  explicit AddingNetwork(mace::DelegateSegment segment)
      : segment_(std::move(segment)),
        inside_(segment_.tensors.size()),
        addresses_(segment_.tensors.size()) {
    for (size_t i = 0; i < segment_.tensors.size(); ++i) {
      const mace::DelegateTensor &tensor = segment_.tensors[i];
      if (tensor.is_constant) {
        addresses_[i] = static_cast<const float *>(tensor.data);
      } else {
        inside_[i].resize(Elements(tensor));
        addresses_[i] = inside_[i].data();
      }
    }
  }

  mace::MaceStatus Run(const std::vector<const void *> &inputs,
                       const std::vector<void *> &outputs) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      addresses_[At(segment_.inputs[i])] =
          static_cast<const float *>(inputs[i]);
    }
    for (const mace::DelegateOperator &op : segment_.operators) {
      Compute(op, &inside_[At(op.outputs[0])]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::vector<float> &result = inside_[At(segment_.outputs[i])];
      std::copy(result.begin(), result.end(), static_cast<float *>(outputs[i]));
    }
    return mace::MaceStatus();
  }

 private:
  static size_t At(int tensor) { return static_cast<size_t>(tensor); }

  void Compute(const mace::DelegateOperator &op, std::vector<float> *result) {
    const float *a = addresses_[At(op.inputs[0])];
    const float *b = op.input(1) < 0 ? nullptr : addresses_[At(op.inputs[1])];
    for (size_t i = 0; i < result->size(); ++i) {
      (*result)[i] = b == nullptr ? std::max(a[i], 0.0f) : a[i] + b[i];
    }
  }

  const mace::DelegateSegment segment_;
  std::vector<std::vector<float>> inside_;
  std::vector<const float *> addresses_;
};

class AddingDelegate : public mace::Delegate {
 public:
  std::string Version() const override { return "1"; }

  std::string Refusal(const mace::DelegateSegment &segment) override {
    const mace::DelegateOperator &op = segment.operators[0];
    const bool adds = op.type == "Eltwise" && op.String("mode", "") == "ADD" &&
                      op.input(1) >= 0 &&
                      op.String("activation", "NONE") == "NONE";
    const bool clips =
        op.type == "Activation" && op.String("activation", "NONE") == "RELU";
    if (!adds && !clips) return "it only adds and applies ReLU";
    for (const mace::DelegateTensor &tensor : segment.tensors) {
      if (tensor.type != mace::IDataType::IDT_FLOAT ||
          tensor.shape != segment.tensors[0].shape) {
        return "it takes floats of one shape";
      }
    }
    return "";
  }

  mace::MaceStatus Compile(
      const mace::DelegateSegment &segment,
      std::unique_ptr<mace::DelegateNetwork> *network) override {
    network->reset(new AddingNetwork(segment));
    return mace::MaceStatus();
  }
};

inline mace::MaceStatus Make(const mace::DelegateOptions &options,
                             std::unique_ptr<mace::Delegate> *delegate) {
  delegate->reset(new AddingDelegate());
  return mace::MaceStatus();
}

}  // namespace adding_delegate

#endif  // MACE_EXAMPLES_DELEGATE_ADDING_DELEGATE_H_
