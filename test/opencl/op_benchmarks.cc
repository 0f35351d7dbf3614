// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The benchmarks of operators on the GPU: each case is a model of one operator
// between two that copy floats, so that it reads and writes what the GPU
// stores. The time is that of the operator's kernels by the clock of the GPU,
// without copies to and from the host.

#include <cstdlib>
#include <string>

#include "mace/ops/testing/benchmark.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "test/case_models/case_model.h"

namespace mace {
namespace {

using case_models::CaseModel;
using op_test::CaseInput;
using op_test::OpCase;
using op_test::OpResult;

// Where the operator runs, and why.
OperatorPlacement PlacementOf(const OpCase &op_case, CaseModel *model) {
  const EnginePlacement all = model->engine()->GetPlacement();
  OperatorPlacement found;
  found.device = DeviceType::CPU;
  for (const OperatorPlacement &op : all.operators) {
    if (op.operator_name == op_case.def.name) found = op;
  }
  found.refusals.insert(found.refusals.end(), all.left_out.begin(),
                        all.left_out.end());
  return found;
}

// Of the computed inputs, as the GPU stores them.
int64_t InputBytes(const OpCase &op_case, const std::string &data_type) {
  const bool half = data_type == "fp16_fp32";
  int64_t bytes = 0;
  for (const CaseInput &input : op_case.inputs) {
    if (input.kind != CaseInput::Kind::kComputed) continue;
    const auto size = static_cast<int64_t>(input.value.bytes.size());
    const bool is_float = input.value.data_type == DataType::kFloat32;
    bytes += half && is_float ? size / 2 : size;
  }
  return bytes;
}

void MeasureOnGpu(const OpCase &op_case,
                  const std::string &data_type,
                  benchmark::State *state) {
  const OpResult direct = op_test::RunOp(op_case);
  if (direct.status != MaceStatus::MACE_SUCCESS) {
    state->Fail(direct.status.information());
    return;
  }
  setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
  CaseModel model(op_case, direct, RuntimeType::RT_OPENCL, data_type, true);
  MaceStatus status = model.status();
  RunMetadata metadata;
  if (status == MaceStatus::MACE_SUCCESS) status = model.Run(&metadata);
  if (status != MaceStatus::MACE_SUCCESS) {
    state->Fail(status.information());
    return;
  }
  const OperatorPlacement placement = PlacementOf(op_case, &model);
  if (placement.device != DeviceType::GPU) {
    const std::string reason =
        placement.refusals.empty() ? "" : placement.refusals.back().reason;
    // Without a GPU, all would be skipped.
    if (model.engine()->GetPlacement().left_out.empty()) {
      state->Skip("it runs on the CPU: " + reason);
    } else {
      state->Fail(reason);
    }
    return;
  }
  int64_t macs = 0;
  for (const OperatorStats &op : metadata.op_stats) macs += op.macs;
  state->MeasureByDevice(InputBytes(op_case, data_type), macs, [&] {
    metadata.op_stats.clear();
    const MaceStatus ran = model.Run(&metadata);
    if (ran != MaceStatus::MACE_SUCCESS) state->Fail(ran.information());
    double nanoseconds = 0;
    for (const OperatorStats &op : metadata.op_stats) {
      const bool copies = op.operator_name.compare(0, 5, "copy ") == 0;
      if (!copies) nanoseconds += static_cast<double>(op.stats.duration_nanos);
    }
    return nanoseconds;
  });
}

const bool added = [] {
  benchmark::AddDevice(
      {"GPU", {{"float", "fp32_fp32"}, {"half", "fp16_fp32"}}, MeasureOnGpu});
  return true;
}();

}  // namespace
}  // namespace mace
