// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/benchmark.h"
#include "mace/ops/testing/fake_contexts.h"

namespace mace::benchmark {

namespace {

using op_test::Buffers;
using op_test::CaseInput;
using op_test::GuardedBuffer;
using op_test::OpCase;

// One operator with its memory.
class Subject {
 public:
  Subject(const OpCase &op_case, const Settings &settings)
      : case_(op_case),
        isa_(settings.isa),
        pool_(ThreadPool::Create(settings.threads, AFFINITY_NONE)) {}

  MaceStatus Prepare() {
    const OpRegistration *registration = OpRegistration::For(case_.def, CPU);
    if (registration == nullptr) {
      return Unsupported("operator type ", case_.def.type, " is not linked in");
    }
    if (pool_ == nullptr) return OutOfResources("cannot start the threads");
    BindInputs();
    const OpSchema &schema = *registration->schema();
    MACE_RETURN_IF_ERROR(attributes_.Parse(schema, case_.def));
    op_.reset(static_cast<CpuOp *>(registration->factory()().release()));
    op_test::FakeInitContext init(case_.def, attributes_.get(), tensors_,
                                  case_.inputs, case_.hints, isa_, pool_.get(),
                                  &buffers_);
    MACE_RETURN_IF_ERROR(op_->Init(schema, &init));
    op_test::FakeShapeContext shaped(bound_, case_.outputs);
    MACE_RETURN_IF_ERROR(schema.infer_shapes(attributes_.get(), &shaped));
    const OpSignature *signature = op_->signature();
    const bool half = signature != nullptr && !signature->follows_inputs;
    if (half) HalveInputs();
    for (const op_test::OutputSpec &spec : shaped.outputs()) {
      Tensor tensor;
      tensor.shape = spec.shape;
      tensor.data_type = half && spec.data_type == DataType::kFloat32
                             ? StorageType(case_.hints.precision)
                             : spec.data_type;
      if (IsQuantized(schema, case_.def)) {
        tensor.quantization = &case_.def.output_quantization[outputs_.size()];
        tensor.data_type = tensor.quantization->data_type;
      }
      tensor.data = Allocate(static_cast<size_t>(tensor.bytes()));
      outputs_.push_back(tensor);
    }
    planned_ = std::make_unique<op_test::FakePlanContext>(
        bound_, outputs_, pool_.get(), &buffers_);
    MACE_RETURN_IF_ERROR(op_->Plan(planned_.get()));
    MACE_RETURN_IF_ERROR(planned_->FillPrepared());
    run_ = std::make_unique<op_test::FakeRunContext>(
        bound_, &outputs_, Allocate(planned_->record().scratch_bytes),
        planned_->record().plan.get(), pool_.get());
    return op_->Run(run_.get());
  }

  void Run() { op_->Run(run_.get()); }

  int64_t macs() const {
    const OpPlan *plan = planned_->record().plan.get();
    return plan == nullptr ? 0 : plan->Macs();
  }
  // Bytes of computed inputs, without constants.
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
      if (input.quantization.quantized()) {
        tensor.quantization = &input.quantization;
      }
      void *data = Allocate(input.value.bytes.size());
      std::copy(input.value.bytes.begin(), input.value.bytes.end(),
                static_cast<uint8_t *>(data));
      tensor.data = data;
      bound_.push_back(&tensor);
    }
  }

  // Converts inputs as the engine does for an operator that computes in 16
  // bits.
  void HalveInputs() {
    const DataType type = StorageType(case_.hints.precision);
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
  CpuIsa isa_;
  std::unique_ptr<ThreadPool> pool_;
  ParsedAttributes attributes_;
  std::unique_ptr<CpuOp> op_;
  std::unique_ptr<op_test::FakePlanContext> planned_;
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
  if (type == "fp16" || type == "bf16") {
    op_case->ComputeIn(op_test::HalfPrecision(type == "bf16"));
  }
  if (type == "int8") {
    op_case->PackedScaled(plain, groups);
  } else if (type == "bf16") {
    op_case->PackedPairs(plain, groups);
  } else if (type == "half" || type == "fp16") {
    op_case->Packed(plain, groups, DataType::kFloat16);
  } else if (type == "bfloat16") {
    op_case->Packed(plain, groups, DataType::kBfloat16);
  } else {
    op_case->Packed(plain, groups);
  }
}

void RegisterOnCpu(const std::string &name, MakeCase make) {
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
