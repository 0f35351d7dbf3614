// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Plans of small models, and a check that no launch overwrites what another one
// reads.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_PLAN_TESTING_H_
#define MACE_RUNTIMES_OPENCL_PLAN_PLAN_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/model/model.h"
#include "mace/core/testing/model_builder.h"
#include "mace/core/testing/no_host.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"

namespace mace {
namespace opencl_test {

struct Settings {
  bool images = true;
  bool half = true;
  bool half_arithmetic = false;
  bool ptx_mma = false;
  bool bands = false;  // wherever they save memory
  ImageViews views;
  // Per operator: the segment; -1 for one of another device. All are in
  // segment 0 if there are none.
  std::vector<int> segments;
};

// A model, and its plan for a GPU.
class Planned {
 public:
  Planned(const core_test::ModelBuilder &builder, const Settings &settings) {
    const MaceStatus status = Make(builder, settings);
    made_ = IsOk(status);
    EXPECT_TRUE(made_) << status.information();
  }

  bool made() const { return made_; }
  const OpenclPlan &plan() const { return plan_; }
  const PartitionSpec &spec() const { return spec_; }
  const Graph &graph() const { return *graph_; }
  const ImageViews &views() const { return device_.image_views; }
  int IndexOf(const std::string &name) const {
    for (size_t i = 0; i < graph_->tensors().size(); ++i) {
      if (graph_->tensors()[i].tensor.name == name) return plan_.tensor_of[i];
    }
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }
  GpuStorage StorageOf(const std::string &name) const {
    return plan_.tensors[IndexOf(name)].storage;
  }
  bool Same(const std::string &a, const std::string &b) const {
    return plan_.RootIndex(IndexOf(a)) == plan_.RootIndex(IndexOf(b));
  }
  int64_t ElementsOf(int tensor) const {
    return plan_.tensors[tensor].dims.pixels() * plan_.tensors[tensor].dims.c;
  }

 private:
  MaceStatus Make(const core_test::ModelBuilder &builder,
                  const Settings &settings) {
    const std::string file = builder.graph();
    MACE_ASSIGN_OR_RETURN(model_, ReadModel(file.data(), file.size()));
    const std::string &weights = builder.weights();
    MACE_RETURN_IF_ERROR(CheckModelStructure(model_, weights.size()));
    if (!weights_.Allocate(weights.size() + 1)) {
      return OutOfResources("no memory for the weights");
    }
    std::memcpy(weights_.data(), weights.data(), weights.size());
    MACE_RETURN_IF_ERROR(CheckOperators(model_));
    std::vector<std::string> outputs;
    for (const ValueInfo &info : model_.outputs) outputs.push_back(info.name);
    MACE_ASSIGN_OR_RETURN(
        graph_, Graph::Create(model_, weights_.data(), outputs, &host_));
    std::vector<Shape> inputs;
    for (int id : graph_->inputs()) {
      inputs.push_back(model_.inputs[graph_->tensors()[id].input_index].shape);
    }
    MACE_ASSIGN_OR_RETURN(shapes_, InferShapes(*graph_, inputs, &host_));
    MakeSpec(settings.segments);
    device_.image_width = device_.image_height = 4096;
    device_.image_views = settings.views;
    OpenclPlanOptions options;
    options.device = &device_;
    options.traits.images = settings.images;
    options.traits.half_storage = settings.half;
    options.traits.half_arithmetic = settings.half_arithmetic;
    options.traits.ptx_mma = settings.ptx_mma;
    options.bands = {settings.bands ? 0 : SIZE_MAX, 0};
    options.traits.local_bytes = 32768;
    options.traits.max_work_group = 256;
    for (size_t &items : device_.max_items) items = 256;
    std::set<int> at_border;
    for (const auto *ports : {&spec_.imports, &spec_.exports}) {
      for (const PartitionSpec::Border &port : *ports) {
        at_border.insert(port.tensor);
      }
    }
    std::vector<BorderStorage> border;
    for (int tensor : at_border) {
      border.push_back({tensor, BorderStorageOf(tensor)});
    }
    MACE_ASSIGN_OR_RETURN(
        plan_, PlanOpencl(*graph_, spec_, *shapes_, options, border));
    return MaceStatus();
  }

  // Dense, of the tensor's type.
  GpuStorage BorderStorageOf(int tensor) const {
    const DataType type = shapes_->tensors[tensor].data_type;
    const auto storage = mace::StorageOf(GpuLayout::kDense, type);
    EXPECT_TRUE(storage.ok()) << DataTypeName(type);
    return storage.ok() ? storage.value() : GpuStorage::kDenseFloat;
  }

  void MakeSpec(std::vector<int> segments) {
    const size_t count = graph_->nodes().size();
    segments.resize(count, 0);
    // Per tensor: the segment that computes it, or -1.
    std::vector<int> made_by(graph_->tensors().size(), -1);
    std::set<int> imported;
    std::set<int> exported;
    int last = 0;
    for (size_t i = 0; i < count; ++i) {
      const GraphNode &node = graph_->nodes()[i];
      const int segment = segments[i];
      last = std::max(last, segment);
      spec_.segments.resize(static_cast<size_t>(last) + 1);
      if (segment >= 0) spec_.segments[segment].push_back(static_cast<int>(i));
      for (int id : node.inputs) {
        if (id < 0 || graph_->tensors()[id].source == TensorSource::kConstant) {
          continue;
        }
        if (segment >= 0 && made_by[id] < 0 && imported.insert(id).second) {
          spec_.imports.push_back({id, static_cast<size_t>(segment)});
        }
        if (segment < 0 && made_by[id] >= 0) exported.insert(id);
      }
      for (int id : node.outputs) made_by[id] = segment;
    }
    for (int id : graph_->outputs()) {
      if (made_by[id] >= 0) exported.insert(id);
    }
    for (int id : exported) {
      spec_.exports.push_back({id, spec_.segments.size()});
    }
  }

  core_test::NoHost host_;
  AlignedMemory weights_;
  Model model_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<GraphShapes> shapes_;
  PartitionSpec spec_;
  GpuDevice device_;
  OpenclPlan plan_;
  bool made_ = false;
};

// Runs a plan without computing: notes which tensor's contents are in which
// memory, and fails where a tensor that is read was overwritten.
class Simulation {
 public:
  explicit Simulation(const Planned &planned)
      : planned_(planned),
        plan_(planned.plan()),
        holds_(plan_.tensors.size(), false) {}

  void Run() {
    CheckRoom();
    const PartitionSpec &spec = planned_.spec();
    for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
      for (const PartitionSpec::Border &port : spec.imports) {
        if (port.segment == segment) Write(plan_.tensor_of[port.tensor]);
      }
      for (size_t i = plan_.begin[segment]; i < plan_.begin[segment + 1]; ++i) {
        RunLaunch(i);
      }
      for (const PartitionSpec::Border &port : spec.exports) {
        const int tensor = plan_.tensor_of[port.tensor];
        if (plan_.tensors[tensor].segment == segment) {
          Read(tensor, "copied to the host");
        }
      }
    }
  }

 private:
  void RunLaunch(size_t index) {
    const PlannedLaunch &planned = plan_.launches[index];
    const auto &arguments = planned.launch.arguments();
    std::vector<int> written;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      if (arguments[i].kind == LaunchArgument::Kind::kInput) {
        Read(planned.tensors[i], planned.launch.kernel());
      }
      if (arguments[i].kind == LaunchArgument::Kind::kOutput) {
        written.push_back(WrittenAs(planned.tensors[i]));
      }
    }
    for (int tensor : written) {
      // A tensor is written by the launches of one operator.
      const bool more = holds_[tensor] && index > 0 &&
                        plan_.launches[index - 1].nodes == planned.nodes;
      Write(tensor);
      EXPECT_TRUE(!more || holds_[tensor]);
    }
    // Nothing that a launch reads or writes shares memory with what it writes.
    for (int tensor : written) Read(tensor, "another output of the launch");
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      if (arguments[i].kind != LaunchArgument::Kind::kInput) continue;
      if (static_cast<int>(i) == planned.launch.residual() &&
          planned.launch.reads_residual_in_output()) {
        ASSERT_EQ(written.size(), 1u);
        CheckInPlace(planned.tensors[i], written[0]);
        continue;
      }
      Read(planned.tensors[i], "an output of the launch that reads it");
    }
  }

  // An item reads the elements that it writes.
  void CheckInPlace(int residual, int output) const {
    const GpuTensor &from = plan_.tensors[residual];
    const GpuTensor &to = plan_.tensors[output];
    EXPECT_TRUE(from.dims == to.dims);
    EXPECT_EQ(from.storage, to.storage);
    EXPECT_EQ(plan_.memory.offsets[plan_.request_of[residual]],
              plan_.memory.offsets[plan_.request_of[output]]);
  }

  // Pixels and channels of the memory of a root.
  struct Region {
    int64_t pixel, end_pixel, channel, end_channel;
    int64_t Elements() const {
      return std::max<int64_t>(0, end_pixel - pixel) *
             std::max<int64_t>(0, end_channel - channel);
    }
    Region Common(const Region &other) const {
      return {std::max(pixel, other.pixel),
              std::min(end_pixel, other.end_pixel),
              std::max(channel, other.channel),
              std::min(end_channel, other.end_channel)};
    }
  };
  // Of an alias that is no part, that of the root.
  Region RegionOf(int tensor) const {
    const GpuTensor &entry = plan_.tensors[WrittenAs(tensor)];
    return {entry.first_pixel, entry.first_pixel + entry.dims.pixels(),
            entry.first_channel, entry.first_channel + entry.dims.c};
  }
  int WrittenAs(int tensor) const {
    return plan_.tensors[tensor].joined_channels != 0 ? tensor
                                                      : plan_.RootIndex(tensor);
  }

  // What it reads was written, as a whole or in parts.
  void Read(int tensor, const char *by) const {
    if (plan_.Root(tensor).is_constant) return;  // never written
    const Region region = RegionOf(tensor);
    int64_t found = 0;
    for (size_t i = 0; i < holds_.size(); ++i) {
      const auto other = static_cast<int>(i);
      if (!holds_[i] || plan_.RootIndex(other) != plan_.RootIndex(tensor)) {
        continue;
      }
      found += RegionOf(other).Common(region).Elements();
    }
    EXPECT_EQ(found, region.Elements())
        << "tensor " << tensor << " was overwritten before it was read: " << by;
  }

  void Write(int tensor) {
    tensor = WrittenAs(tensor);
    const int root = plan_.RootIndex(tensor);
    for (size_t i = 0; i < holds_.size(); ++i) {
      const auto other = static_cast<int>(i);
      const int other_root = plan_.RootIndex(other);
      if (!holds_[i] || !Share(root, other_root)) continue;
      if (other_root != root ||
          RegionOf(other).Common(RegionOf(tensor)).Elements() > 0) {
        holds_[i] = false;
      }
    }
    holds_[tensor] = true;
  }

  bool Share(int a, int b) const {
    const int image = plan_.image_of[a];
    if (image >= 0 && plan_.images[image].request < 0) {
      return image == plan_.image_of[b];
    }
    const int i = plan_.request_of[a];
    const int j = plan_.request_of[b];
    if (i < 0 || j < 0) return false;
    const size_t begin_a = plan_.memory.offsets[i];
    const size_t begin_b = plan_.memory.offsets[j];
    return begin_a < begin_b + plan_.requests[j].bytes &&
           begin_b < begin_a + plan_.requests[i].bytes;
  }

  // Every tensor that a launch uses has memory in which it fits; aliases have
  // the storage of their root.
  void CheckRoom() const {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const GpuTensor &tensor = plan_.tensors[i];
      const auto index = static_cast<int>(i);
      const int root = plan_.RootIndex(index);
      const GpuTensor &owner = plan_.tensors[root];
      EXPECT_LT(owner.alias_of, 0);
      EXPECT_EQ(tensor.storage, owner.storage);
      if (tensor.joined_channels != 0) {
        CheckPart(tensor, owner);
      } else {
        EXPECT_EQ(planned_.ElementsOf(index), planned_.ElementsOf(root));
      }
      if (owner.first < 0 || owner.is_constant) continue;
      if (IsImage(tensor.storage)) {
        ASSERT_GE(plan_.image_of[root], 0);
        const ImageSlot &image = plan_.images[plan_.image_of[root]];
        EXPECT_EQ(image.element, StorageElement(tensor.storage));
        EXPECT_GE(image.width, tensor.Width());
        EXPECT_GE(image.height, tensor.Height());
        if (image.request >= 0) {
          EXPECT_EQ(image.request, plan_.request_of[root]);
          CheckView(image);
        }
        if (tensor.joined_channels != 0) continue;
        EXPECT_EQ(tensor.Width(), owner.Width());
        EXPECT_EQ(tensor.Height(), owner.Height());
        continue;
      }
      ASSERT_GE(plan_.request_of[root], 0);
      const int request = plan_.request_of[root];
      EXPECT_EQ(plan_.memory.offsets[request] % 64, 0u);
      EXPECT_LE(tensor.Bytes(), plan_.requests[request].bytes);
      EXPECT_LE(plan_.memory.offsets[request] + plan_.requests[request].bytes,
                plan_.memory.arena_bytes);
    }
  }

  void CheckView(const ImageSlot &image) const {
    const ImageViews &views = planned_.views();
    const PlanRequest &request = plan_.requests[image.request];
    const size_t pixel = image.Bytes() / (image.width * image.height);
    EXPECT_EQ(plan_.memory.offsets[image.request] % views.offset_bytes, 0u);
    EXPECT_EQ(image.row_bytes % (views.pitch_pixels * pixel), 0u);
    EXPECT_GE(image.row_bytes, image.width * pixel);
    EXPECT_GE(request.bytes, image.row_bytes * image.height);
    EXPECT_LE(plan_.memory.offsets[image.request] + request.bytes,
              plan_.memory.arena_bytes);
  }

  static void CheckPart(const GpuTensor &part, const GpuTensor &whole) {
    EXPECT_LE(part.first_pixel + part.dims.pixels(), whole.dims.pixels());
    EXPECT_LE(part.first_channel + part.dims.c, whole.dims.c);
    EXPECT_EQ(part.joined_channels, whole.dims.c);
    if (!IsDense(part.storage)) {
      EXPECT_EQ(part.first_channel % 4, 0);
      const bool last = part.first_channel + part.dims.c == whole.dims.c;
      EXPECT_TRUE(part.dims.c % 4 == 0 || last);
    }
    if (!IsImage(part.storage)) return;
    EXPECT_EQ(part.dims.w, whole.dims.w);
    EXPECT_EQ(part.first_pixel % whole.dims.w, 0);
  }

  const Planned &planned_;
  const OpenclPlan &plan_;
  // Per tensor that is written, a root or a part: its memory has its contents.
  std::vector<bool> holds_;
};

// The kernels of a plan, in order.
inline std::vector<std::string> KernelsOf(const Planned &planned) {
  std::vector<std::string> kernels;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    kernels.emplace_back(launch.launch.kernel());
  }
  return kernels;
}

using Names = std::vector<std::string>;

inline void Relu(core_test::ModelBuilder *model,
                 const std::string &from,
                 const std::string &to) {
  model->Operator("op of " + to, "Activation", {from}, {to},
                  {core_test::StringAttribute("activation", "RELU")});
}

inline void Reshape(core_test::ModelBuilder *model,
                    const std::string &from,
                    const std::string &to,
                    const core_test::Dims &shape) {
  model->Operator("op of " + to, "Reshape", {from}, {to},
                  {core_test::IntsAttribute("shape", shape)});
}

// 1x1 from as many channels, with the activation RELU. `residual`: the name of
// a tensor; empty for none.
inline void Conv(core_test::ModelBuilder *model,
                 const std::string &from,
                 const std::string &to,
                 int64_t channels,
                 const std::string &residual = "") {
  const int64_t stored = (channels + 15) / 16 * 16 * channels;
  const std::vector<float> weights(static_cast<size_t>(stored));
  const size_t bytes = weights.size() * sizeof(float);
  const std::string filter = "filter of " + to;
  const uint64_t offset = model->AppendWeights(weights.data(), bytes);
  model->RawConstant(filter, {channels, 1, 1, channels}, DataType::kFloat32,
                     ConstantLayout::kPackedO16, 1, offset, bytes);
  std::vector<std::string> inputs = {from, filter};
  if (!residual.empty()) {
    inputs.push_back("");  // the bias
    inputs.push_back(residual);
  }
  model->Operator("op of " + to, "Conv2D", inputs, {to},
                  {core_test::StringAttribute("activation", "RELU")});
}

}  // namespace opencl_test
}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_PLAN_TESTING_H_
