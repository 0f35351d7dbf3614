// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What engines tell of themselves: times of operators, copies, memory, and
// which device runs each operator, and why.

#ifndef MACE_PUBLIC_MACE_STATISTICS_H_
#define MACE_PUBLIC_MACE_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace_devices.h"
#include "mace/public/mace_status.h"

namespace mace {

struct PortVisitor;  // of mace_engine.h

// What an operator did in one run.
struct CallStats {
  int64_t start_micros;  // since the start of the run's clock
  int64_t end_micros;
  int64_t duration_nanos;  // the same span, for short operators
};

// Attributes of convolution-like operators; empty for the others. Numbers of
// axes are in the order height, width.
struct ConvPoolArgs {
  std::vector<int> strides;
  int padding_type;  // -1 explicit, 0 VALID, 1 SAME
  // Elements above, left, below and right; of pooling, those of both sides of
  // each axis.
  std::vector<int> paddings;
  std::vector<int> dilations;
  // The shape of the filter; of pooling, that of the window.
  std::vector<int64_t> kernels;
};

// One operator of a run.
struct OperatorStats {
  std::string operator_name;
  std::string type;  // "Conv2D"
  // Of each output, in the order in which the engine computes it: NHWC.
  std::vector<std::vector<int64_t>> output_shape;
  ConvPoolArgs args;
  CallStats stats;
  int64_t macs;   // multiply-accumulates of this call; 0 if it has none
  int64_t bytes;  // bytes of inputs, constants and outputs
  DeviceType device;
  bool quantized;  // computes in integers that stand for floats
};

// Why a tensor is copied; CopyReasonText of mace_buffers.h says the same in
// words. (ZC-05, ZC-06, ZC-07, ZC-09)
enum class CopyReason : int {
  DEVICE = 0,      // the devices have memory of their own
  FORMAT = 1,      // the buffer is NCHW; engines compute in NHWC
  TYPE = 2,        // the buffer has another element type than the model
  ALIGNMENT = 3,   // the address is less aligned than those of malloc
  BEFORE_RUN = 4,  // the output is a constant, or known before the run
  SHARED = 5,      // the output is also an input, or overlaps another buffer
};

// A tensor that is copied from one device's memory to another's, or between the
// caller's buffer and the engine's memory.
struct TensorCopy {
  std::string tensor;
  DeviceType from;
  DeviceType to;
  int64_t bytes;  // -1 before shapes are known
  // Index of the operator before which the tensor is copied.
  size_t before_operator = 0;
  CopyReason reason = CopyReason::DEVICE;
  bool is_output = false;  // of the model, copied to the caller's buffer
};

// Filled by MaceEngine::Run when given, in place of what an earlier run left;
// timing each operator costs a little.
class MACE_API RunMetadata {
 public:
  // In the order of execution.
  std::vector<OperatorStats> op_stats;
  // The inputs and outputs that the run did not use in place. The caller's
  // buffers count as the CPU's memory; before_operator is 0. (ZC-01)
  std::vector<TensorCopy> border_copies;

  // The library's way to add to border_copies, or to clear it if `tensor` is
  // null. This is code of the application.
  using BorderCopyNote = void (*)(RunMetadata *metadata,
                                  const std::string *tensor,
                                  int64_t bytes,
                                  DeviceType device,
                                  bool is_output,
                                  CopyReason reason);
  BorderCopyNote note_border_copy = &AddBorderCopy;
  // Of MaceEngine::Describe: what it asks instead of a run.
  const PortVisitor *port_visitor = nullptr;

 private:
  static void AddBorderCopy(RunMetadata *metadata,
                            const std::string *tensor,
                            int64_t bytes,
                            DeviceType device,
                            bool is_output,
                            CopyReason reason) {
    if (tensor == nullptr) {
      metadata->border_copies.clear();
      return;
    }
    TensorCopy copy;
    copy.tensor = *tensor;
    copy.from = is_output ? device : CPU;
    copy.to = is_output ? CPU : device;
    copy.bytes = bytes;
    copy.reason = reason;
    copy.is_output = is_output;
    metadata->border_copies.push_back(copy);
  }
};

// Memory and placement figures of an engine, for tools.
struct EngineStats {
  size_t arena_bytes;     // intermediate memory now held
  size_t tensor_bytes;    // sum of all intermediate tensors, unshared
  size_t constant_bytes;  // bytes of constants used in place
  size_t prepared_bytes;  // bytes of constants copied or transformed at load
  size_t operator_count;
  size_t state_bytes;  // of values that are kept from one run to the next
};

// Why a device does not run an operator, or no operator at all.
struct DeviceRefusal {
  DeviceType device;
  std::string reason;
};
// Where one operator runs, and why.
struct OperatorPlacement {
  std::string operator_name;
  std::string type;      // "Conv2D"
  std::string subgraph;  // empty if the model has one only
  DeviceType device;
  std::string kernel;  // empty if the device has no choice
  std::string output;  // types and shapes; empty before shapes are known
  std::string remark;  // what else the device says; often empty
  // Estimated time of one run, by which the device was chosen; 0 if the model
  // leaves shapes open.
  int64_t estimated_nanos;
  // Time it took in the last run that was given RunMetadata; -1 if there was
  // none.
  int64_t measured_nanos;
  // The devices that come earlier in the caller's list, and why each of them
  // does not run the operator.
  std::vector<DeviceRefusal> refusals;
};
// Where the operators of an engine run, and why.
struct EnginePlacement {
  std::vector<OperatorPlacement> operators;  // in the order of execution
  std::vector<TensorCopy> copies;            // between devices
  // Devices that the caller named and that are not available or failed.
  std::vector<DeviceRefusal> left_out;
};

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_STATISTICS_H_
