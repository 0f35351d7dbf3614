// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// CheckDeviceTensors of mace/core/graph/placement.h.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "mace/core/graph/placement.h"
#include "mace/runtimes/opencl/opencl_device.h"
#include "mace/runtimes/opencl/prepared_opencl.h"
#include "mace/runtimes/opencl/run/caller_memory.h"

namespace mace {
namespace {

// The operators that use the tensor must all run on the GPU.
MaceStatus CheckOperators(const RunTensors &run,
                          size_t gpu,
                          const std::string &what,
                          int tensor) {
  const auto uses = [tensor](const std::vector<int> &ports) {
    return std::find(ports.begin(), ports.end(), tensor) != ports.end();
  };
  for (size_t i = 0; i < run.graph.nodes().size(); ++i) {
    const GraphNode &node = run.graph.nodes()[i];
    const size_t device = run.placement.nodes[i].device;
    if (device == gpu || run.shapes.known_node[i]) continue;
    const bool reads = uses(node.inputs);
    if (!reads && !uses(node.outputs)) continue;
    return Unsupported(what, " is in GPU memory, but operator '",
                       node.def->name, "', which ", reads ? "reads" : "gives",
                       " it, runs on ", DeviceName(run.devices[device]->type()),
                       ", as Explain tells; give CPU_BUFFER");
  }
  return MaceStatus();
}

// No other input or output may be the same tensor, or in the same memory.
MaceStatus CheckOthers(const RunTensors &run,
                       const std::string &what,
                       const CallerTensor &caller) {
  for (const CallerTensor &other : run.callers) {
    if (&other == &caller || other.host.data == nullptr) continue;
    const std::string &name =
        run.graph.tensors()[static_cast<size_t>(other.tensor)].tensor.name;
    if (other.tensor == caller.tensor) {
      return Unsupported(what,
                         " is in GPU memory, but is both an input and an "
                         "output: no operator computes it; give CPU_BUFFER");
    }
    const bool both_inputs = other.is_input && caller.is_input;
    if (!both_inputs && other.host.data == caller.host.data) {
      return InvalidArgs(what, " is in the same GPU memory as '", name,
                         "'; an output needs memory of its own");
    }
  }
  return MaceStatus();
}

MaceStatus CheckCaller(const RunTensors &run, const CallerTensor &caller) {
  const auto id = static_cast<size_t>(caller.tensor);
  const std::string what =
      MakeString(caller.is_input ? "input" : "output", " '",
                 run.graph.tensors()[id].tensor.name, "'");
  const int memory = caller.host.memory;
  if (memory != GPU_BUFFER && memory != GPU_IMAGE &&
      memory != GPU_HARDWARE_BUFFER) {
    return InvalidArgs(what, " has the unknown memory type ", memory,
                       "; use CPU_BUFFER, GPU_BUFFER, GPU_IMAGE or "
                       "GPU_HARDWARE_BUFFER");
  }
  size_t gpu = 0;
  while (gpu < run.devices.size() &&
         (run.devices[gpu]->type() != DeviceType::GPU ||
          run.partitions[gpu] == nullptr)) {
    ++gpu;
  }
  if (gpu == run.devices.size()) {
    return Unsupported(what,
                       " is in GPU memory, but no operator runs on the GPU, as "
                       "Explain tells; give CPU_BUFFER");
  }
  if (run.shapes.tensors[id].data != nullptr) {
    return Unsupported(what,
                       " is in GPU memory, but its value is computed by the "
                       "CPU before the run; give CPU_BUFFER");
  }
  MACE_RETURN_IF_ERROR(CheckOperators(run, gpu, what, caller.tensor));
  MACE_RETURN_IF_ERROR(CheckOthers(run, what, caller));
  const OpenclRuntime &runtime =
      static_cast<const OpenclDevice *>(run.devices[gpu])->runtime();
  if (memory == GPU_HARDWARE_BUFFER) {
    // Imported here, not when the partition is bound: one that the driver
    // refuses is no reason to do without the GPU.
    auto *partition = static_cast<PreparedOpencl *>(run.partitions[gpu].get());
    return partition->hardware_buffers()->Take(runtime, what, caller.tensor,
                                               caller.host);
  }
  return CheckCallerMemory(runtime, what, caller.is_input, caller.host);
}

}  // namespace

MaceStatus CheckDeviceTensors(const RunTensors &run) {
  for (const CallerTensor &caller : run.callers) {
    if (caller.host.memory == CPU_BUFFER || caller.host.data == nullptr ||
        caller.host.shape.Elements() == 0) {
      continue;
    }
    MACE_RETURN_IF_ERROR(CheckCaller(run, caller));
  }
  return MaceStatus();
}

}  // namespace mace
