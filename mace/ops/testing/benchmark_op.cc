// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/cpu/cpu_device.h"
#include "mace/ops/testing/benchmark.h"
#include "mace/ops/testing/fake_contexts.h"

namespace mace::benchmark {

namespace {

using op_test::Buffers;
using op_test::CaseInput;
using op_test::GuardedBuffer;
using op_test::OpCase;

constexpr uint32_t kSeed = 1;

// One op with its memory.
class Subject {
 public:
  Subject(const OpCase &op_case, const Settings &settings)
      : case_(op_case),
        device_(settings.isa),
        pool_(ThreadPool::Create(settings.threads, AFFINITY_NONE)) {}

  MaceStatus Prepare() {
    const OpRegistration *registration =
        OpRegistration::Find(case_.def.type, CPU);
    if (registration == nullptr) {
      return Unsupported("operator type ", case_.def.type, " is not linked in");
    }
    if (pool_ == nullptr) return OutOfResources("cannot start the threads");
    BindInputs();
    op_ = registration->factory()();
    op_test::FakeInitContext init(case_.def, tensors_, case_.inputs,
                                  case_.hints, &device_, pool_.get(),
                                  &buffers_);
    MACE_RETURN_IF_ERROR(op_->Init(&init));
    if (op_->half_use() == HalfUse::kComputes) HalveInputs();
    op_test::FakeReshapeContext shaped(bound_, case_.outputs, pool_.get(),
                                       &buffers_);
    MACE_RETURN_IF_ERROR(op_->Reshape(&shaped));
    MACE_RETURN_IF_ERROR(shaped.FillPrepared());
    for (const op_test::OutputSpec &spec : shaped.outputs()) {
      Tensor tensor;
      tensor.shape = spec.shape;
      tensor.data_type = spec.data_type;
      tensor.data = Allocate(static_cast<size_t>(tensor.bytes()));
      outputs_.push_back(tensor);
    }
    run_ = std::make_unique<op_test::FakeRunContext>(
        bound_, &outputs_, Allocate(shaped.scratch_bytes()), &device_,
        pool_.get());
    return op_->Run(run_.get());
  }

  void Run() { op_->Run(run_.get()); }

  int64_t macs() const { return op_->Macs(); }
  // Of what is computed, not of constants.
  int64_t input_bytes() const {
    int64_t bytes = 0;
    for (const CaseInput &input : case_.inputs) {
      if (input.kind == CaseInput::Kind::kConstant) continue;
      bytes += static_cast<int64_t>(input.value.bytes.size());
    }
    return bytes;
  }

 private:
  void *Allocate(size_t bytes) {
    buffers_.push_back(std::make_unique<GuardedBuffer>(bytes, 0));
    return buffers_.back()->data();
  }

  void BindInputs() {
    tensors_.resize(case_.inputs.size());
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      const CaseInput &input = case_.inputs[i];
      if (input.kind == CaseInput::Kind::kAbsent) {
        bound_.push_back(nullptr);
        continue;
      }
      Tensor &tensor = tensors_[i];
      tensor.shape = input.value.shape;
      tensor.data_type = input.value.data_type;
      tensor.is_constant = input.kind == CaseInput::Kind::kConstant;
      tensor.layout = input.layout;
      tensor.groups = input.groups;
      void *data = Allocate(input.value.bytes.size());
      std::copy(input.value.bytes.begin(), input.value.bytes.end(),
                static_cast<uint8_t *>(data));
      tensor.data = data;
      bound_.push_back(&tensor);
    }
  }

  // As the engine hands them to an operator that computes in 16 bits.
  void HalveInputs() {
    const DataType type = case_.hints.half_type();
    const bool bf16 = type == DataType::kBfloat16;
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      CaseInput &input = case_.inputs[i];
      if (input.kind == CaseInput::Kind::kConstant ||
          input.value.data_type != DataType::kFloat32) {
        continue;
      }
      input.value = bf16 ? op_test::InBfloat16(input.value)
                         : op_test::InFloat16(input.value);
      tensors_[i].data_type = type;
      std::copy(input.value.bytes.begin(), input.value.bytes.end(),
                static_cast<uint8_t *>(tensors_[i].data));
    }
  }

  OpCase case_;
  CpuDevice device_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Op> op_;
  Buffers buffers_;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor *> bound_;
  std::vector<Tensor> outputs_;
  std::unique_ptr<op_test::FakeRunContext> run_;
};

}  // namespace

void AddWeights(const std::string &type,
                const op_test::Value &plain,
                int64_t groups,
                OpCase *op_case) {
  if (type == "fp16_fp16" || type == "bf16_bf16") {
    op_case->DataTypeHint(type.c_str());
  }
  if (type == "int8") {
    op_case->PackedScaled(plain, groups);
  } else if (type == "bf16_bf16") {
    op_case->PackedPairs(plain, groups);
  } else if (type == "half" || type == "fp16_fp16") {
    op_case->Packed(plain, groups, DataType::kFloat16);
  } else if (type == "bfloat16") {
    op_case->Packed(plain, groups, DataType::kBfloat16);
  } else {
    op_case->Packed(plain, groups);
  }
}

void RegisterOp(const std::string &name, MakeCase make) {
  Register(name, [make = std::move(make)](State *state) {
    op_test::Random random(kSeed, op_test::Random::Quiet());
    Subject subject(make(&random), state->settings());
    const MaceStatus status = subject.Prepare();
    if (!IsOk(status)) {
      state->Fail(status.information());
      return;
    }
    state->Measure(subject.input_bytes(), subject.macs(),
                   [&subject] { subject.Run(); });
  });
}

OpBenchmarks::OpBenchmarks(const std::string &op,
                           const std::string &details,
                           const std::vector<Shape> &shapes,
                           OpCase (*make)(op_test::Random *, const Shape &)) {
  for (const Shape &shape : shapes) {
    RegisterOp(OpName(op, shape, details),
               [=](op_test::Random *random) { return make(random, shape); });
  }
}

}  // namespace mace::benchmark
