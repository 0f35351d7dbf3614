// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/opencl_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/runtimes/opencl/plan/opencl_planner.h"
#include "mace/runtimes/opencl/plan/plan_memory.h"
#include "mace/runtimes/opencl/plan/row_bands.h"

namespace mace {
namespace {

// Who reads each tensor of the graph.
struct Readers {
  struct Entry {
    int count = 0;
    int node = -1;  // one of them
    size_t port = 0;
  };
  std::vector<Entry> of;

  explicit Readers(const Graph &graph) : of(graph.tensors().size()) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const std::vector<int> &inputs = graph.nodes()[i].inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] < 0) continue;
        Entry &entry = of[static_cast<size_t>(inputs[k])];
        ++entry.count;
        entry.node = static_cast<int>(i);
        entry.port = k;
      }
    }
  }
};

// The operator of the same segment that alone reads the only output of `node`,
// at port 0, and all of whose other inputs are computed before operator
// `first`; -1 if there is none. `first`: `node`, or one before it.
int OnlyReader(const Graph &graph,
               const Readers &readers,
               const PartitionSpec &spec,
               const std::vector<int> &segment,
               int first,
               int node) {
  const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
  if (entry.outputs.size() != 1 || entry.outputs[0] < 0) return -1;
  const int id = entry.outputs[0];
  for (const PartitionSpec::Border &border : spec.exports) {
    if (border.tensor == id) return -1;
  }
  const Readers::Entry &read = readers.of[static_cast<size_t>(id)];
  if (read.count != 1 || read.port != 0) return -1;
  const int reader = read.node;
  // It takes the place of `first`: no operator between them computes what it
  // reads.
  bool after = false;
  for (int other : segment) {
    if (other == reader) return after ? reader : -1;
    if (other == first) after = true;
    if (!after || other == node) continue;
    for (int output : graph.nodes()[static_cast<size_t>(other)].outputs) {
      for (int input : graph.nodes()[static_cast<size_t>(reader)].inputs) {
        if (output >= 0 && output == input) return -1;
      }
    }
  }
  return -1;
}

// The value of T_<name> for CONST.
const char *ConstantCode(GpuStorage storage) {
  switch (storage) {
    case GpuStorage::kScaledInt8:
      return StorageCode(storage);
    case GpuStorage::kDenseHalf:
      return "CH";
    default:
      return "CF";
  }
}

// The macros of a launch without activations, once the storage of all tensors
// is final.
std::string OptionsOf(const OpenclPlan &plan,
                      const PlannedLaunch &planned,
                      bool half_arithmetic) {
  std::string options = MakeString(" -D KERNEL_", planned.launch.kernel(),
                                   planned.launch.defines());
  if (half_arithmetic && !planned.in_float) options += " -D REAL_HALF";
  const auto &arguments = planned.launch.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (planned.tensors[i] < 0 || arguments[i].form != nullptr) continue;
    const GpuTensor &tensor = plan.tensors[planned.tensors[i]];
    const bool constant = arguments[i].kind == LaunchArgument::Kind::kConstant;
    options += MakeString(
        " -D T_", arguments[i].name, "=",
        constant ? ConstantCode(tensor.storage) : StorageCode(tensor.storage));
  }
  return options;
}

// Sets the programs of all launches. Those that differ in activations only get
// one program, if these can be arguments.
void SetPrograms(bool half_arithmetic, OpenclPlan *plan) {
  using Key = std::pair<const ClSource *, std::string>;
  std::map<Key, std::vector<size_t>> groups;
  for (size_t i = 0; i < plan->launches.size(); ++i) {
    PlannedLaunch &planned = plan->launches[i];
    planned.program.options = OptionsOf(*plan, planned, half_arithmetic);
    std::string same = planned.program.options;
    for (const LaunchActivation &entry : planned.launch.activations()) {
      same += MakeString(" -D ", entry.macro, "=");
    }
    groups[{&planned.launch.source(), std::move(same)}].push_back(i);
  }
  for (const auto &[key, members] : groups) {
    std::map<std::string, std::set<std::string>> kinds;  // by macro
    for (size_t i : members) {
      for (const auto &entry : plan->launches[i].launch.activations()) {
        if (entry.can_share) kinds[entry.macro].insert(entry.kind);
      }
    }
    for (size_t i : members) {
      PlannedLaunch &planned = plan->launches[i];
      for (const auto &entry : planned.launch.activations()) {
        const bool share = entry.can_share && kinds[entry.macro].size() > 1;
        planned.program.options +=
            MakeString(" -D ", entry.macro, "=", share ? "ANY" : entry.kind);
      }
    }
  }
}

// Widens the spans of tensors that are copied to the GPU before a segment, or
// to the host after one.
void ExtendBorder(const PartitionSpec &spec, OpenclPlan *plan) {
  const auto extend = [plan](int index, size_t step) {
    GpuTensor &root = plan->tensors[plan->RootIndex(index)];
    const auto s = static_cast<int>(step);
    root.first = root.first < 0 ? s : std::min(root.first, s);
    root.last = std::max(root.last, s);
  };
  for (const PartitionSpec::Border &border : spec.imports) {
    const int index = plan->tensor_of[border.tensor];
    if (index < 0) continue;
    plan->tensors[index].segment = border.segment;
    extend(index, plan->begin[border.segment]);
  }
  for (const PartitionSpec::Border &border : spec.exports) {
    const int index = plan->tensor_of[border.tensor];
    if (index < 0) continue;
    const size_t segment = plan->tensors[index].segment;
    const size_t end = plan->begin[segment + 1];
    extend(index, std::max(end, plan->begin[segment] + 1) - 1);
    plan->tensors[plan->RootIndex(index)].copied_out = true;
  }
}

// Stores inputs as half that the host has as float, where all kernels that read
// them round them to half: they need half the memory and time to copy.
void NarrowImports(const PartitionSpec &spec, OpenclPlan *plan) {
  std::vector<char> rounded(plan->tensors.size(), 0);
  for (const PartitionSpec::Border &border : spec.imports) {
    const int index = plan->tensor_of[border.tensor];
    if (index < 0) continue;
    const GpuTensor &tensor = plan->tensors[index];
    rounded[index] = tensor.alias_of < 0 && tensor.caller < 0 &&
                     !tensor.copied_out &&
                     tensor.storage == GpuStorage::kDenseFloat;
  }
  for (const PlannedLaunch &planned : plan->launches) {
    const auto &arguments = planned.launch.arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0 || arguments[i].rounded) continue;
      rounded[plan->RootIndex(planned.tensors[i])] = 0;
    }
  }
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    if (rounded[plan->RootIndex(static_cast<int>(i))] == 0) continue;
    plan->tensors[i].storage = GpuStorage::kDenseHalf;
  }
}

}  // namespace

std::string LaunchText(const Graph &graph, const PlannedLaunch &planned) {
  return MakeString("kernel ", planned.launch.kernel(), " of operator '",
                    graph.nodes()[planned.nodes.back()].def->name, "'");
}

namespace {

// What a plan is made of.
struct PlanTask {
  const Graph &graph;
  const PartitionSpec &spec;
  const GraphShapes &shapes;
  const OpenclPlanOptions &options;
  const std::vector<BorderStorage> &border;
  Readers readers;
};

// Units that run band by band.
struct BandedUnits {
  std::vector<PlanUnit> units;
  std::vector<WindowAxis> axes;
  int bands;
};

// An operator, and those that a kernel may compute with it: each is the only
// reader of the one before it.
std::vector<size_t> ReadersInTurn(const PlanTask &task,
                                  const std::vector<int> &segment,
                                  int first) {
  std::vector<size_t> nodes = {static_cast<size_t>(first)};
  int next = first;
  while (nodes.size() < OpenclFusionRegistration::kMostOperators) {
    next =
        OnlyReader(task.graph, task.readers, task.spec, segment, first, next);
    if (next < 0) break;
    nodes.push_back(static_cast<size_t>(next));
  }
  return nodes;
}

// Plans all operators. `banded`: by the operator with which they begin. `units`
// receives the others.
MaceStatus PlanNodes(const PlanTask &task,
                     const std::map<size_t, BandedUnits> &banded,
                     Planner *planner,
                     std::vector<PlanUnit> *units) {
  MACE_RETURN_IF_ERROR(planner->SetBorder(task.border));
  OpenclPlan &plan = planner->plan();
  std::vector<char> done(task.graph.nodes().size(), 0);
  for (size_t segment = 0; segment < task.spec.segments.size(); ++segment) {
    plan.begin.push_back(plan.launches.size());
    const std::vector<int> &nodes = task.spec.segments[segment];
    for (const int index : nodes) {
      const auto node = static_cast<size_t>(index);
      if (task.shapes.known_node[node] || done[node]) continue;
      const auto chain = banded.find(node);
      if (chain != banded.end()) {
        const BandedUnits &parts = chain->second;
        MACE_RETURN_IF_ERROR(
            planner->PlanBands(parts.units, parts.axes, parts.bands));
        for (const PlanUnit &unit : parts.units) {
          for (size_t own : unit.nodes) done[own] = 1;
        }
        continue;
      }
      PlanUnit unit;
      unit.segment = segment;
      unit.begin = plan.launches.size();
      unit.nodes = ReadersInTurn(task, nodes, index);
      while (unit.nodes.size() > 1 &&
             !planner->PlanTogether(unit.nodes, segment)) {
        unit.nodes.pop_back();
      }
      if (unit.nodes.size() == 1) {
        const MaceStatus status = planner->PlanNode(node, segment);
        if (!IsOk(status)) {
          return AtOperator(*task.graph.nodes()[node].def, status);
        }
      }
      for (size_t own : unit.nodes) done[own] = 1;
      unit.end = plan.launches.size();
      units->push_back(std::move(unit));
    }
  }
  plan.begin.push_back(plan.launches.size());
  ExtendBorder(task.spec, &plan);
  NarrowImports(task.spec, &plan);
  SetPrograms(task.options.traits.half_arithmetic, &plan);
  return PlanMemoryOf(task.options.device->image_views, &plan);
}

// The operator that alone reads the unit's result; -1 for none.
int NextOf(const PlanTask &task, const PlanUnit &unit) {
  return OnlyReader(task.graph, task.readers, task.spec,
                    task.spec.segments[unit.segment],
                    static_cast<int>(unit.nodes.front()),
                    static_cast<int>(unit.nodes.back()));
}

// Chains of units that run band by band, by the operator with which they begin.
using Bands = std::map<size_t, BandedUnits>;

// Choices of more and more launches, with smaller and smaller tensors.
std::vector<Bands> FindBands(const PlanTask &task,
                             const std::vector<PlanUnit> &units,
                             Planner *planner) {
  const OpenclPlan &plan = planner->plan();
  std::vector<BandLaunch> launches;
  std::map<size_t, const PlanUnit *> unit_at;
  int next = -1;
  for (const PlanUnit &unit : units) {
    if (unit.begin == unit.end) continue;
    const std::optional<WindowAxis> rows = planner->RowsOf(unit);
    const bool follows = next == static_cast<int>(unit.nodes.front());
    next = -1;
    if (!rows.has_value()) continue;
    const int input = planner->TensorOfInput(unit.nodes.front());
    const int output = planner->TensorOfOutput(unit.nodes.back());
    if (plan.Root(input).is_constant) continue;
    const GpuTensor &to = plan.Root(output);
    const bool ends =
        to.caller < 0 && StorageLayout(to.storage) != GpuLayout::kNchw;
    launches.push_back({unit.begin, input, output, *rows, follows, ends});
    unit_at[unit.begin] = &unit;
    next = NextOf(task, unit);
  }
  std::vector<Bands> choices;
  for (const std::vector<DividedChain> &chains :
       ChooseBands(plan, launches, task.options.bands)) {
    Bands banded;
    for (const DividedChain &chain : chains) {
      BandedUnits parts;
      parts.bands = chain.bands;
      for (const BandLaunch &launch : launches) {
        if (launch.step < chain.first || launch.step > chain.last) continue;
        parts.units.push_back(*unit_at[launch.step]);
        parts.axes.push_back(launch.rows);
      }
      banded[parts.units.front().nodes.front()] = std::move(parts);
    }
    choices.push_back(std::move(banded));
  }
  return choices;
}

// Of the partition's own memory.
size_t BytesOf(const OpenclPlan &plan) {
  size_t bytes = plan.memory.arena_bytes;
  for (const ImageSlot &image : plan.images) {
    if (image.request < 0) bytes += image.Bytes();
  }
  return bytes;
}

// Whether each of the launches that `more` has in addition saves `least` bytes.
bool IsWorth(const OpenclPlan &fewer, const OpenclPlan &more, double least) {
  const auto launches = static_cast<double>(more.launches.size()) -
                        static_cast<double>(fewer.launches.size());
  const double saved =
      static_cast<double>(BytesOf(fewer)) - static_cast<double>(BytesOf(more));
  return saved > 0 && saved >= launches * least;
}

}  // namespace

Result<OpenclPlan> PlanOpencl(const Graph &graph,
                              const PartitionSpec &spec,
                              const GraphShapes &shapes,
                              const OpenclPlanOptions &options,
                              const std::vector<BorderStorage> &border) {
  const PlanTask task = {graph, spec, shapes, options, border, Readers(graph)};
  const std::vector<char> floats = FindFloatTensors(graph, shapes, options);
  Planner whole(graph, shapes, options, floats);
  std::vector<PlanUnit> units;
  MACE_RETURN_IF_ERROR(PlanNodes(task, {}, &whole, &units));
  const std::vector<Bands> choices = FindBands(task, units, &whole);
  const double least =
      options.bands.least_saved * static_cast<double>(BytesOf(whole.plan()));
  // From the most launches to those that are all worth it: what tensors need
  // together is an estimate until they are planned.
  std::optional<OpenclPlan> best;
  for (auto bands = choices.rbegin(); bands != choices.rend(); ++bands) {
    Planner planner(graph, shapes, options, floats);
    std::vector<PlanUnit> others;
    const MaceStatus status = PlanNodes(task, *bands, &planner, &others);
    if (!IsOk(status)) {
      VLOG(1) << "GPU: no bands of rows: " << StatusMessage(status);
      continue;
    }
    if (best.has_value() && IsWorth(planner.plan(), *best, least)) break;
    best = std::move(planner.plan());
  }
  if (!best.has_value() || !IsWorth(whole.plan(), *best, least)) {
    return std::move(whole.plan());
  }
  VLOG(1) << "GPU: bands of rows: " << BytesOf(whole.plan())
          << " bytes of memory become " << BytesOf(*best) << ", "
          << whole.plan().launches.size() << " launches become "
          << best->launches.size();
  return std::move(*best);
}

Result<std::vector<Launch>> TryOpenclNode(const Graph &graph,
                                          size_t node,
                                          const GraphShapes *shapes,
                                          const OpenclPlanOptions &options) {
  std::vector<Launch> launches;
  if (shapes == nullptr) {
    MACE_RETURN_IF_ERROR(CheckWithoutShapes(graph, graph.nodes()[node]));
    return launches;
  }
  const std::vector<char> none;
  Planner planner(graph, *shapes, options, none);
  MACE_RETURN_IF_ERROR(planner.PlanNode(node, 0));
  for (PlannedLaunch &planned : planner.plan().launches) {
    launches.push_back(std::move(planned.launch));
  }
  return launches;
}

size_t TensorBytes(const OpenclPlan &plan) {
  size_t total = 0;
  for (const GpuTensor &tensor : plan.tensors) {
    // Not those that operators computed together do not store.
    if (tensor.is_constant || tensor.alias_of >= 0 || tensor.first < 0) {
      continue;
    }
    total += tensor.Bytes();
  }
  for (const PlannedLaunch &planned : plan.launches) {
    for (const LaunchArgument &argument : planned.launch.arguments()) {
      if (argument.table == nullptr) continue;
      total += argument.table->size() * sizeof(int32_t);
    }
  }
  return total;
}

}  // namespace mace
