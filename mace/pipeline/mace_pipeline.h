// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Engines that run one after the other, joined without copies where possible.
//
//   mace::MacePipeline pipeline;
//   status = pipeline.AddModel("detect", graph, graph_size, weights, size,
//                              config);
//   status = pipeline.AddModel("classify", ...);
//   status = pipeline.Connect("detect", "boxes", "classify", "regions");
//   status = pipeline.Run(inputs, &outputs);
//
// A *link* is memory that one stage writes and later stages read. For each set
// of input shapes, the pipeline asks the engines what they take and give, and
// chooses type and order of the link such that nothing is copied, or that one
// side copies once; Explain says which, and why. Links whose values are not
// needed at the same time share memory.
//
// This is code of the application, so that the library need not contain it.

#ifndef MACE_PIPELINE_MACE_PIPELINE_H_
#define MACE_PIPELINE_MACE_PIPELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/pipeline/link_plan.h"
#include "mace/public/mace.h"
#include "mace/public/mace_buffers.h"

namespace mace {

// Thread-compatible, like an engine. Whoever else uses an engine of the
// pipeline must not do so while the pipeline runs.
//
// Tensors have the names that MaceEngine::Describe lists, which are no aliases.
// Inputs and outputs of the pipeline are named "stage/tensor", or "tensor"
// where only one stage has such an input that no link feeds, or such an output
// that no link reads.
class MacePipeline {
 public:
  using Tensors = std::map<std::string, MaceTensor>;

  MacePipeline() = default;
  MacePipeline(const MacePipeline &) = delete;
  MacePipeline &operator=(const MacePipeline &) = delete;

  // Adds the next stage. Stages run in the order in which they are added.
  // MACE_INVALID_ARGS if the engine is null, or if the name is empty, has a '/'
  // or is taken.
  MaceStatus AddEngine(const std::string &stage,
                       std::shared_ptr<MaceEngine> engine) {
    return internal::Guard(
        [&] { return AddStage(stage, std::move(engine), false); });
  }

  // Creates an engine for the next stage; arguments as for
  // CreateMaceEngineFromProto. The intermediate memory of all engines that are
  // created here is one block: as large as the largest needs, not as the sum.
  // `weights` are used in place, and must outlive the pipeline; sizes are in
  // bytes. No names: all inputs, or all outputs. Errors are those of
  // CreateMaceEngineFromProto and of AddEngine.
  MaceStatus AddModel(const std::string &stage,
                      const unsigned char *graph,
                      size_t graph_size,
                      const unsigned char *weights,
                      size_t weights_size,
                      const MaceEngineConfig &config,
                      const std::vector<std::string> &inputs = {},
                      const std::vector<std::string> &outputs = {}) {
    return internal::Guard([&]() -> MaceStatus {
      MaceEngine *tutor = nullptr;
      for (const Stage &other : stages_) {
        if (other.shares_memory) tutor = other.engine.get();
      }
      std::shared_ptr<MaceEngine> engine;
      const MaceStatus status = CreateMaceEngineFromProto(
          graph, graph_size, weights, weights_size, inputs, outputs, config,
          &engine, nullptr, tutor);
      if (!Ok(status)) return In(stage, status);
      return AddStage(stage, std::move(engine), true);
    });
  }

  // Links an output of a stage to an input of a later one. An output may feed
  // several inputs. With `memory`, the link is there and not in memory of the
  // pipeline: a buffer of the application with room for the shape of the
  // tensor, in memory of the GPU if both engines run there on the application's
  // queue (MemoryType). Type and format of `memory` are those of the link.
  // MACE_INVALID_ARGS if there is no such stage, output or input, if `to` does
  // not run after `from`, if the input has a link already, or if `memory` has
  // no buffer. Types and shapes that don't fit show in Prepare or Run.
  MaceStatus Connect(const std::string &from,
                     const std::string &output,
                     const std::string &to,
                     const std::string &input,
                     const MaceTensor *memory = nullptr) {
    return internal::Guard(
        [&] { return AddLink(from, output, to, input, memory); });
  }

  // Plans for inputs of these shapes, whose elements are not read. Inputs that
  // are not given have the shapes that their models declare. Run does the same
  // for shapes that it has not seen; the last eight plans are kept. (ZC-08)
  MaceStatus Prepare(const Tensors &inputs = {}) {
    return internal::Guard([&]() -> MaceStatus {
      std::vector<Tensors> given(stages_.size());
      const MaceStatus status = Distribute(inputs, &given);
      return Ok(status) ? FindPlan(given) : status;
    });
  }

  // As MaceEngine::Run. `metadata`, which may be null, is of each stage: its
  // border_copies are the copies that were made. (ZC-01) An output that links
  // read can be wanted, too; its buffer is the link then, and has to be in the
  // CPU's memory and of the type that Describe tells.
  MaceStatus Run(const Tensors &inputs,
                 Tensors *outputs,
                 std::vector<RunMetadata> *metadata = nullptr) {
    return internal::Guard(
        [&] { return RunStages(inputs, outputs, metadata); });
  }

  // The stages, each link with the copy that it needs, and the memory, as text
  // of several lines. Empty if there is no memory for the text.
  std::string Explain() const {
    std::string text;
    const MaceStatus status = internal::Guard([&] {
      text = ExplainText();
      return MaceStatus();
    });
    return Ok(status) ? text : std::string();
  }

  // Bytes of links and of intermediate tensors that are held now. An engine of
  // AddEngine counts by itself, whatever it shares.
  size_t IntermediateBytes() const {
    size_t bytes = block_bytes_;
    size_t shared = 0;
    for (const Stage &stage : stages_) {
      const size_t arena = stage.engine->GetStats().arena_bytes;
      if (stage.shares_memory) {
        shared = arena;
      } else {
        bytes += arena;
      }
    }
    return bytes + shared;
  }
  // Bytes of links alone.
  size_t LinkBytes() const { return block_bytes_; }

  // Frees that memory; the next Run allocates it again.
  MaceStatus ReleaseIntermediateBuffer() {
    block_.reset();
    block_bytes_ = 0;
    for (const Stage &stage : stages_) {
      const MaceStatus status = stage.engine->ReleaseIntermediateBuffer();
      if (!Ok(status)) return status;
    }
    return MaceStatus();
  }

  // Null if there is no such stage.
  std::shared_ptr<MaceEngine> engine(const std::string &stage) const {
    const size_t at = FindStage(stage);
    return at < stages_.size() ? stages_[at].engine : nullptr;
  }

 private:
  static constexpr size_t kMaxPlans = 8;

  struct Stage {
    std::string name;
    std::shared_ptr<MaceEngine> engine;
    bool shares_memory;
    Tensors inputs;                    // as the model declares them
    std::vector<std::string> outputs;  // empty if some shape is open
  };
  struct Reader {
    size_t stage;
    std::string input;
  };
  struct Link {
    size_t stage;
    std::string output;
    std::vector<Reader> readers;
    bool has_memory = false;
    MaceTensor memory;  // of the application
  };
  struct Plan {
    std::vector<Tensors> inputs;  // per stage; shapes without data
    std::vector<Tensors> outputs;
    std::vector<internal::PlannedLink> links;
    int64_t bytes = 0;
  };

  static bool Ok(const MaceStatus &status) {
    return status == MaceStatus::MACE_SUCCESS;
  }
  static MaceStatus Invalid(const std::string &message) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
  }
  // "stage 'x': ", and what the engine says.
  static MaceStatus In(const std::string &stage, const MaceStatus &status) {
    std::string text = status.information();
    const size_t colon = text.find(": ");
    if (colon != std::string::npos) text.erase(0, colon + 2);
    return MaceStatus(status.code(), "stage '" + stage + "': " + text);
  }
  static std::string ShapeText(const MaceTensor &tensor) {
    std::string text = ElementName(tensor.data_type());
    text += "[";
    for (size_t i = 0; i < tensor.shape().size(); ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape()[i]);
    }
    return text + "]";
  }
  std::string Name(size_t stage, const std::string &tensor) const {
    return stages_[stage].name + "/" + tensor;
  }

  size_t FindStage(const std::string &name) const {
    size_t at = 0;
    while (at < stages_.size() && stages_[at].name != name) ++at;
    return at;
  }
  const Link *LinkTo(size_t stage, const std::string &input) const {
    for (const Link &link : links_) {
      for (const Reader &reader : link.readers) {
        if (reader.stage == stage && reader.input == input) return &link;
      }
    }
    return nullptr;
  }
  // The input as its model declares it.
  const MaceTensor &Declared(const Reader &reader) const {
    return stages_[reader.stage].inputs.find(reader.input)->second;
  }
  // links_.size() if there is none.
  size_t LinkFrom(size_t stage, const std::string &output) const {
    size_t at = 0;
    while (at < links_.size() &&
           (links_[at].stage != stage || links_[at].output != output)) {
      ++at;
    }
    return at;
  }

  MaceStatus AddStage(const std::string &name,
                      std::shared_ptr<MaceEngine> engine,
                      bool shares_memory) {
    if (engine == nullptr) return Invalid("`engine` is null");
    if (name.empty() || name.find('/') != std::string::npos) {
      return Invalid("'" + name +
                     "' is no name of a stage: it is empty or has "
                     "a '/'");
    }
    if (FindStage(name) < stages_.size()) {
      return Invalid("there is a stage '" + name +
                     "' already; give each its own name");
    }
    Stage stage;
    stage.name = name;
    stage.shares_memory = shares_memory;
    MaceStatus status = engine->Describe(&stage.inputs, nullptr);
    if (!Ok(status)) return In(name, status);
    const bool open = std::any_of(
        stage.inputs.begin(), stage.inputs.end(), [](const auto &entry) {
          return DenseBytes(entry.second.shape(), entry.second.data_type()) < 0;
        });
    if (!open) {
      Tensors inputs = stage.inputs;
      Tensors outputs;
      status = engine->Describe(&inputs, &outputs);
      if (!Ok(status)) return In(name, status);
      for (const auto &entry : outputs) stage.outputs.push_back(entry.first);
    }
    stage.engine = std::move(engine);
    stages_.push_back(std::move(stage));
    plans_.clear();
    return MaceStatus();
  }

  MaceStatus AddLink(const std::string &from,
                     const std::string &output,
                     const std::string &to,
                     const std::string &input,
                     const MaceTensor *memory) {
    const size_t writer = FindStage(from);
    const size_t reader = FindStage(to);
    for (const auto &end :
         {std::make_pair(writer, &from), std::make_pair(reader, &to)}) {
      if (end.first < stages_.size()) continue;
      std::vector<std::string> names;
      for (const Stage &stage : stages_) names.push_back(stage.name);
      return Invalid("there is no stage '" + *end.second +
                     "'; there are: " + internal::NameList(names));
    }
    if (writer >= reader) {
      return Invalid("stage '" + to + "' runs before '" + from +
                     "' has its outputs; add it after '" + from + "'");
    }
    const std::vector<std::string> &outputs = stages_[writer].outputs;
    if (!outputs.empty() &&
        std::find(outputs.begin(), outputs.end(), output) == outputs.end()) {
      return Invalid("stage '" + from + "' has no output '" + output +
                     "'; it has: " + internal::NameList(outputs));
    }
    if (stages_[reader].inputs.count(input) == 0) {
      std::vector<std::string> names;
      for (const auto &entry : stages_[reader].inputs) {
        names.push_back(entry.first);
      }
      return Invalid("stage '" + to + "' has no input '" + input +
                     "'; it has: " + internal::NameList(names));
    }
    if (LinkTo(reader, input) != nullptr) {
      return Invalid("input '" + input + "' of stage '" + to +
                     "' has a link already");
    }
    if (memory != nullptr && memory->raw_data() == nullptr) {
      return Invalid("the memory for the link to '" + Name(reader, input) +
                     "' has no buffer");
    }
    const size_t at = LinkFrom(writer, output);
    if (at == links_.size()) {
      links_.emplace_back();
      links_.back().stage = writer;
      links_.back().output = output;
    }
    links_[at].readers.push_back({reader, input});
    if (memory != nullptr) {
      links_[at].has_memory = true;
      links_[at].memory = *memory;
    }
    plans_.clear();
    return MaceStatus();
  }

  // Assigns the application's inputs to the stages.
  MaceStatus Distribute(const Tensors &inputs,
                        std::vector<Tensors> *given) const {
    for (const auto &entry : inputs) {
      std::vector<std::pair<size_t, std::string>> found;
      std::vector<std::string> all;
      for (size_t s = 0; s < stages_.size(); ++s) {
        for (const auto &input : stages_[s].inputs) {
          if (LinkTo(s, input.first) != nullptr) continue;
          all.push_back(Name(s, input.first));
          if (entry.first == input.first || entry.first == all.back()) {
            found.emplace_back(s, input.first);
          }
        }
      }
      if (found.size() != 1) {
        return Invalid(
            "'" + entry.first + "' names " +
            (found.empty() ? "no" : "more than one") +
            " input of the pipeline; there are: " + internal::NameList(all));
      }
      if (!(*given)[found[0].first]
               .emplace(found[0].second, entry.second)
               .second) {
        return Invalid("input '" + Name(found[0].first, found[0].second) +
                       "' is given twice");
      }
    }
    return MaceStatus();
  }

  // Moves the plan for these shapes to the front of plans_; makes it if there
  // is none.
  MaceStatus FindPlan(const std::vector<Tensors> &given) {
    for (auto plan = plans_.begin(); plan != plans_.end(); ++plan) {
      if (!IsFor(*plan, given)) continue;
      plans_.splice(plans_.begin(), plans_, plan);
      return TakeBlock(plans_.front().bytes);
    }
    std::list<Plan> made(1);
    const MaceStatus status = MakePlan(given, &made.front());
    if (!Ok(status)) return status;
    plans_.splice(plans_.begin(), made);
    if (plans_.size() > kMaxPlans) plans_.pop_back();
    return TakeBlock(plans_.front().bytes);
  }

  static bool IsFor(const Plan &plan, const std::vector<Tensors> &given) {
    for (size_t s = 0; s < given.size(); ++s) {
      for (const auto &entry : given[s]) {
        const auto planned = plan.inputs[s].find(entry.first);
        if (planned == plan.inputs[s].end() ||
            planned->second.shape() != entry.second.shape() ||
            internal::IsNchw(planned->second) !=
                internal::IsNchw(entry.second)) {
          return false;
        }
      }
    }
    return true;
  }

  MaceStatus MakePlan(const std::vector<Tensors> &given, Plan *plan) {
    plan->inputs.resize(stages_.size());
    plan->outputs.resize(stages_.size());
    plan->links.resize(links_.size());
    for (size_t s = 0; s < stages_.size(); ++s) {
      Tensors &inputs = plan->inputs[s];
      for (const auto &entry : given[s]) {
        inputs[entry.first] =
            MaceTensor(entry.second.shape(), nullptr,
                       entry.second.data_format(), entry.second.data_type());
      }
      for (size_t i = 0; i < links_.size(); ++i) {
        for (size_t r = 0; r < links_[i].readers.size(); ++r) {
          const Reader &reader = links_[i].readers[r];
          if (reader.stage != s) continue;
          const MaceTensor &written = plan->links[i].written;
          inputs[reader.input] =
              MaceTensor(written.shape(), nullptr, plan->links[i].read[r],
                         written.data_type());
        }
      }
      MaceStatus status =
          stages_[s].engine->Describe(&inputs, &plan->outputs[s]);
      if (!Ok(status)) return In(stages_[s].name, status);
      for (size_t i = 0; i < links_.size(); ++i) {
        if (links_[i].stage != s) continue;
        status = PlanLink(links_[i], plan->outputs[s], &plan->links[i]);
        if (!Ok(status)) return status;
      }
    }
    PlaceLinks(plan);
    return MaceStatus();
  }

  size_t LastReader(size_t link) const {
    size_t last = links_[link].stage;
    for (const Reader &reader : links_[link].readers) {
      last = std::max(last, reader.stage);
    }
    return last;
  }

  // `outputs`: of the stage that writes the link.
  MaceStatus PlanLink(const Link &link,
                      const Tensors &outputs,
                      internal::PlannedLink *planned) const {
    const auto output = outputs.find(link.output);
    if (output == outputs.end()) {
      std::vector<std::string> names;
      for (const auto &entry : outputs) names.push_back(entry.first);
      return Invalid("stage '" + stages_[link.stage].name +
                     "' has no output '" + link.output +
                     "'; it has: " + internal::NameList(names));
    }
    std::vector<internal::LinkEnd> readers;
    for (const Reader &reader : link.readers) {
      readers.push_back({Name(reader.stage, reader.input), Declared(reader)});
    }
    return internal::PlanLink({Name(link.stage, link.output), output->second},
                              readers, link.has_memory ? &link.memory : nullptr,
                              planned);
  }

  void PlaceLinks(Plan *plan) const {
    std::vector<internal::LinkSpan> spans;
    for (size_t i = 0; i < links_.size(); ++i) {
      const int64_t bytes = links_[i].has_memory ? 0 : plan->links[i].bytes;
      spans.push_back({links_[i].stage, LastReader(i), bytes, 0});
    }
    plan->bytes = internal::PlaceLinks(&spans);
    for (size_t i = 0; i < links_.size(); ++i) {
      plan->links[i].offset = spans[i].offset;
    }
  }

  MaceStatus TakeBlock(int64_t bytes) {
    if (static_cast<size_t>(bytes) <= block_bytes_) return MaceStatus();
    block_.reset();
    block_bytes_ = 0;
    block_ = internal::AllocateBytes(bytes);
    if (block_ == nullptr) {
      return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                        "no memory for the links of the pipeline (" +
                            std::to_string(bytes) + " bytes)");
    }
    block_bytes_ = static_cast<size_t>(bytes);
    return MaceStatus();
  }

  // The stage and the output that a name of the application means.
  MaceStatus FindOutput(const Plan &plan,
                        const std::string &name,
                        std::pair<size_t, std::string> *result) const {
    std::vector<std::pair<size_t, std::string>> ends;   // that no link reads
    std::vector<std::pair<size_t, std::string>> inner;  // the others
    std::vector<std::string> all;
    for (size_t s = 0; s < stages_.size(); ++s) {
      for (const auto &output : plan.outputs[s]) {
        all.push_back(Name(s, output.first));
        if (name == all.back()) {
          *result = {s, output.first};
          return MaceStatus();
        }
        if (name != output.first) continue;
        (LinkFrom(s, name) == links_.size() ? ends : inner)
            .emplace_back(s, name);
      }
    }
    if (ends.empty()) ends = inner;
    if (ends.size() != 1) {
      return Invalid(
          "'" + name + "' names " + (ends.empty() ? "no" : "more than one") +
          " output of the pipeline; there are: " + internal::NameList(all));
    }
    *result = ends[0];
    return MaceStatus();
  }

  MaceStatus RunStages(const Tensors &inputs,
                       Tensors *outputs,
                       std::vector<RunMetadata> *metadata) {
    if (outputs == nullptr || outputs->empty()) {
      return Invalid("`outputs` is null or empty; request at least one output");
    }
    std::vector<Tensors> in(stages_.size());
    MaceStatus status = Distribute(inputs, &in);
    if (Ok(status)) status = FindPlan(in);
    if (!Ok(status)) return status;
    const Plan &plan = plans_.front();
    std::vector<Tensors> out(stages_.size());
    std::vector<std::pair<size_t, std::string>> wanted;
    for (const auto &entry : *outputs) {
      wanted.emplace_back();
      status = FindOutput(plan, entry.first, &wanted.back());
      if (!Ok(status)) return status;
      const size_t stage = wanted.back().first;
      if (!out[stage].emplace(wanted.back().second, entry.second).second) {
        return Invalid("output '" + Name(stage, wanted.back().second) +
                       "' is given twice");
      }
    }
    if (metadata != nullptr) {
      metadata->clear();
      metadata->resize(stages_.size());
    }
    const std::vector<bool> needed = Needed(out);
    for (size_t s = 0; s < stages_.size(); ++s) {
      if (!needed[s]) continue;
      status =
          RunStage(s, needed, metadata == nullptr ? nullptr : &(*metadata)[s],
                   &in, &out[s]);
      if (!Ok(status)) return status;
    }
    if (metadata != nullptr) {
      counted_ = true;
      last_copies_.clear();
      for (const RunMetadata &stage : *metadata) {
        last_copies_.push_back(stage.border_copies);
      }
    }
    size_t at = 0;
    for (auto &entry : *outputs) {
      entry.second = out[wanted[at].first][wanted[at].second];
      ++at;
    }
    return MaceStatus();
  }

  // Stages whose outputs are wanted, or that feed such stages.
  std::vector<bool> Needed(const std::vector<Tensors> &wanted) const {
    std::vector<bool> needed(stages_.size());
    for (size_t s = stages_.size(); s-- > 0;) {
      needed[s] = !wanted[s].empty();
      for (const Link &link : links_) {
        if (link.stage != s) continue;
        for (const Reader &reader : link.readers) {
          if (needed[reader.stage]) needed[s] = true;
        }
      }
    }
    return needed;
  }

  MaceStatus RunStage(size_t s,
                      const std::vector<bool> &needed,
                      RunMetadata *metadata,
                      std::vector<Tensors> *in,
                      Tensors *out) {
    const Plan &plan = plans_.front();
    // Where the data determine a shape, it may be another one than planned.
    Tensors described;
    bool as_planned = true;
    for (const auto &entry : (*in)[s]) {
      as_planned = as_planned && plan.inputs[s].at(entry.first).shape() ==
                                     entry.second.shape();
    }
    if (!as_planned) {
      const MaceStatus status =
          stages_[s].engine->Describe(&(*in)[s], &described);
      if (!Ok(status)) return In(stages_[s].name, status);
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].stage != s) continue;
      internal::PlannedLink link;
      if (as_planned) {
        link = plan.links[i];
      } else {
        const MaceStatus status = PlanLink(links_[i], described, &link);
        if (!Ok(status)) return status;
        link.offset = plan.links[i].offset;
      }
      const auto buffer = out->find(links_[i].output);
      if (buffer != out->end()) {
        const MaceStatus status =
            CheckWanted(links_[i], link, plan, buffer->second);
        if (!Ok(status)) return status;
        continue;
      }
      const std::shared_ptr<void> data = MemoryOf(i, link);
      if (data == nullptr) {
        return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                          "no memory for the link from '" +
                              Name(s, links_[i].output) + "' (" +
                              std::to_string(link.bytes) + " bytes)");
      }
      (*out)[links_[i].output] = MaceTensor(
          link.written.shape(), data, link.written.data_format(),
          link.written.data_type(),
          links_[i].has_memory ? links_[i].memory.memory_type() : CPU_BUFFER);
    }
    const MaceStatus status = stages_[s].engine->Run((*in)[s], out, metadata);
    if (!Ok(status)) return In(stages_[s].name, status);
    for (size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].stage != s) continue;
      const MaceTensor &value = (*out)[links_[i].output];
      for (size_t r = 0; r < links_[i].readers.size(); ++r) {
        const Reader &reader = links_[i].readers[r];
        if (!needed[reader.stage]) continue;
        // A wanted output may be NCHW where the link would not be.
        const bool nchw = plan.links[i].read[r] == DataFormat::NCHW ||
                          internal::IsNchw(value);
        (*in)[reader.stage][reader.input] = MaceTensor(
            value.shape(), value.raw_data(),
            nchw && Declared(reader).data_format() != DataFormat::NONE
                ? DataFormat::NCHW
                : DataFormat::NHWC,
            value.data_type(), value.memory_type());
      }
    }
    return MaceStatus();
  }

  // Whether the buffer of an output that is wanted can be the link.
  MaceStatus CheckWanted(const Link &link,
                         const internal::PlannedLink &planned,
                         const Plan &plan,
                         const MaceTensor &buffer) const {
    const std::string name = Name(link.stage, link.output);
    const IDataType type = plan.outputs[link.stage].at(link.output).data_type();
    if (buffer.data_type() != type || buffer.memory_type() != CPU_BUFFER) {
      return Invalid("output '" + name +
                     "' is also a link: its buffer has to be in memory of the "
                     "CPU, and " +
                     ElementName(type));
    }
    const bool nchw = planned.written.data_format() == DataFormat::NCHW;
    for (const Reader &reader : link.readers) {
      if (Declared(reader).data_format() != DataFormat::NONE ||
          planned.written.shape().size() != 4 ||
          nchw == (buffer.data_format() == DataFormat::NCHW)) {
        continue;
      }
      return Invalid("output '" + name + "' is also a link to '" +
                     Name(reader.stage, reader.input) +
                     "', which has no data format: its buffer has to be " +
                     (nchw ? "NCHW" : "NHWC"));
    }
    return MaceStatus();
  }

  std::shared_ptr<void> MemoryOf(size_t link,
                                 const internal::PlannedLink &planned) {
    if (links_[link].has_memory) return links_[link].memory.raw_data();
    // More than planned, since the data determined the shape of an input.
    if (planned.bytes > plans_.front().links[link].bytes) {
      return internal::AllocateBytes(planned.bytes);
    }
    return std::shared_ptr<void>(
        block_, static_cast<char *>(block_.get()) + planned.offset);
  }

  std::string DevicesOf(const Stage &stage) const {
    std::map<int, size_t> counts;
    for (const OperatorPlacement &op : stage.engine->GetPlacement().operators) {
      ++counts[op.device];
    }
    std::string text;
    for (const auto &count : counts) {
      const char *device = count.first == CPU   ? "the CPU"
                           : count.first == GPU ? "the GPU"
                                                : "another device";
      text += (text.empty() ? "" : ", ") + std::to_string(count.second) +
              " operators on " + device;
    }
    return text;
  }

  static bool OffCpu(const Stage &stage) {
    const auto operators = stage.engine->GetPlacement().operators;
    return std::any_of(
        operators.begin(), operators.end(),
        [](const OperatorPlacement &op) { return op.device != CPU; });
  }

  std::string ExplainText() const {
    std::string text = "pipeline of " + std::to_string(stages_.size()) +
                       " stages, " + std::to_string(links_.size()) + " links\n";
    for (const Stage &stage : stages_) {
      text += "stage '" + stage.name + "': " + DevicesOf(stage) + "\n";
    }
    if (plans_.empty()) {
      return text + "shapes are not known before the first run\n";
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      const internal::PlannedLink &planned = plans_.front().links[i];
      for (size_t r = 0; r < links_[i].readers.size(); ++r) {
        const Reader &reader = links_[i].readers[r];
        text += "link '" + Name(links_[i].stage, links_[i].output) + "' to '" +
                Name(reader.stage, reader.input) +
                "': " + ShapeText(planned.written) + ", " +
                std::to_string(planned.bytes) + " bytes";
        if (links_[i].has_memory) text += " of the application";
        if (!planned.written_copy.empty()) {
          text += ", copied by '" + stages_[links_[i].stage].name +
                  "' because " + planned.written_copy;
        }
        if (!planned.read_copies[r].empty()) {
          text += ", copied by '" + stages_[reader.stage].name + "' because " +
                  planned.read_copies[r];
        }
        const bool in_cpu = !links_[i].has_memory ||
                            links_[i].memory.memory_type() == CPU_BUFFER;
        if (in_cpu && (OffCpu(stages_[links_[i].stage]) ||
                       OffCpu(stages_[reader.stage]))) {
          text += std::string(", through memory of the CPU because ") +
                  CopyReasonText(CopyReason::DEVICE);
        } else if (planned.written_copy.empty() &&
                   planned.read_copies[r].empty()) {
          text += ", in place";
        }
        text += '\n';
      }
    }
    if (counted_) text += CopiesText();
    return text + "memory: " + std::to_string(block_bytes_) +
           " bytes of links, " +
           std::to_string(IntermediateBytes() - block_bytes_) +
           " bytes of intermediate tensors\n";
  }

  std::string CopiesText() const {
    std::string text;
    size_t count = 0;
    int64_t bytes = 0;
    for (size_t s = 0; s < last_copies_.size(); ++s) {
      for (const TensorCopy &copy : last_copies_[s]) {
        ++count;
        bytes += copy.bytes;
        text += std::string("  ") + (copy.is_output ? "output '" : "input '") +
                Name(s, copy.tensor) + "', " + std::to_string(copy.bytes) +
                " bytes, because " + CopyReasonText(copy.reason) + "\n";
      }
    }
    return "the last counted run copied " + std::to_string(count) +
           " tensors (" + std::to_string(bytes) + " bytes)\n" + text;
  }

  std::vector<Stage> stages_;
  std::vector<Link> links_;
  std::list<Plan> plans_;  // most recently used first
  std::shared_ptr<void> block_;
  size_t block_bytes_ = 0;
  bool counted_ = false;
  std::vector<std::vector<TensorCopy>> last_copies_;  // per stage
};

}  // namespace mace

#endif  // MACE_PIPELINE_MACE_PIPELINE_H_
