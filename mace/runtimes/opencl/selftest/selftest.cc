// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/selftest/selftest.h"

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/selftest/child_process.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {
namespace {

constexpr int kKernelMillis = 10000;
constexpr int kCompilerMillis = 60000;
// Opening the driver, and a trivial kernel.
constexpr int kDriverMillis = 30000;
// Of all workers together; the supervisor ends earlier.
constexpr int kTotalMillis = 600000;
constexpr size_t kMostCrashes = 3;

// Entries of the table, besides the models'.
constexpr char kRunning[] = "running";
constexpr char kCrashes[] = "crashes";
// The kernel of TestDriver.
constexpr char kTrivial[] = "self_test";

std::vector<unsigned char> ToBytes(const std::string &text) {
  return std::vector<unsigned char>(text.begin(), text.end());
}

std::string TextAt(KVStorage *table, const std::string &key) {
  const std::vector<unsigned char> *bytes = table->Find(key);
  if (bytes == nullptr) return std::string();
  return std::string(bytes->begin(), bytes->end());
}

// All that the plan depends on, besides GPU, driver and the sources of kernels,
// which the variants of the verdict are of.
std::string ModelKey(const Graph &graph,
                     const std::vector<Shape> &shapes,
                     const std::vector<std::vector<DeviceType>> &wishes) {
  const DeploymentHints &hints = graph.hints();
  std::string text = MakeString(
      graph.model().name, " ", graph.model().data_crc32, " ",
      static_cast<int>(hints.precision), hints.half_storage, " ",
      static_cast<int>(AcceptedOpenclHints(hints).memory), " ", hints.winograd);
  for (const char *variable :
       {"MACE_OPENCL_STORAGE", "MACE_OPENCL_PLACE_ALL"}) {
    const char *value = std::getenv(variable);
    text += MakeString(" ", value == nullptr ? "" : value);
  }
  for (const auto &wish : wishes) {
    text += '/';
    for (DeviceType type : wish) {
      text += MakeString(" ", static_cast<int>(type));
    }
  }
  for (const Shape &shape : shapes) text += shape.ToString();
  for (const GraphNode &node : graph.nodes()) {
    text += MakeString("\n", node.def->type, " ", node.def->name);
    for (const AttributeValue &value : node.def->attributes) {
      text += MakeString(" ", value.name, "=", value.i, value.s, value.f);
      for (int64_t number : value.ints) text += MakeString(",", number);
      for (float number : value.floats) text += MakeString(",", number);
    }
    for (const auto *ports : {&node.inputs, &node.outputs}) {
      for (int id : *ports) text += MakeString(" ", id);
    }
  }
  for (const GraphTensor &tensor : graph.tensors()) {
    text += MakeString("\n", static_cast<int>(tensor.tensor.data_type), " ",
                       static_cast<int>(tensor.tensor.layout));
  }
  return HashDigits(HashText(text));
}

// Engines that start at the same time find the verdict of the first.
std::mutex &Mutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

// The results of a process without storage. Never destroyed: engines of other
// threads may outlive static objects.
KVStorage *TableOfProcess() {
  static KVStorage *table = CreateMemoryStorage({}).release();
  return table;
}

// In the worker: lines for the supervisor.
class ReportProgress final : public TestProgress {
 public:
  explicit ReportProgress(int file) : file_(file) {}
  void BeginCompiling() override { WriteLine(file_, "compile"); }
  void Begin(const std::string &variant,
             const std::string &kernel,
             const std::string &what) override {
    WriteLine(file_, "begin");
    WriteLine(file_, variant);
    WriteLine(file_, kernel);
    WriteLine(file_, OneLine(what));
  }
  void End(const std::string &variant, const std::string &reason) override {
    WriteLine(file_, "tested");
    WriteLine(file_, variant);
    WriteLine(file_, OneLine(reason));
  }

 private:
  int file_;
};

}  // namespace

// In this process: notes in the table.
class SelfTest::StoreProgress final : public TestProgress {
 public:
  explicit StoreProgress(KVStorage *table) : table_(table) {}
  void BeginCompiling() override {}
  void Begin(const std::string &variant,
             const std::string &kernel,
             const std::string &what) override {
    Note(MakeString(getpid(), " ", kernel, " ", what));
    noted_ = true;
  }
  // Nothing runs any more.
  void EndAll() {
    if (noted_) Note(std::string());
  }
  void End(const std::string &variant, const std::string &reason) override {}

 private:
  void Note(const std::string &text) {
    table_->Insert(kRunning, ToBytes(text));
    table_->Flush();
  }

  KVStorage *table_;
  bool noted_ = false;
};

// The supervisor and its workers.
class SelfTest::Children {
 public:
  Children(GpuSession *session, const TestedModel &model)
      : session_(session), model_(model) {}

  // Whether there is a verdict. A failure is one of this process's driver.
  Result<bool> Test(GpuVerdict *verdict) {
    ChildProcess supervisor;
    if (!supervisor.Start([this](int file) { Supervise(file); })) {
      VLOG(1) << "self-test: no child process";
      return false;
    }
    MACE_RETURN_IF_ERROR(session_->Open());
    std::string kind;
    std::string text;
    std::string line;
    const auto next = [&](std::string *to) {
      return supervisor.ReadLine(kTotalMillis, to) == ChildProcess::Read::kLine;
    };
    if (next(&kind)) {
      while (next(&line)) {
        if (!line.empty()) text += line + "\n";
      }
    }
    if (kind == "verdict" && verdict->Parse(text)) return true;
    LOG(WARNING) << "the GPU's self-test has no result in a child process: "
                 << (text.empty() ? "it ended early" : text);
    return false;
  }

 private:
  void RunWorker(int file, bool one_by_one) {
    const auto check = [&](const MaceStatus &status) {
      if (IsOk(status)) return;
      WriteLine(file, "failed");
      WriteLine(file, StatusMessage(status));
      _exit(0);
    };
    try {
      check(session_->Open());
      check(TestDriver(session_->queues()));
      WriteLine(file, "driver");
      model_.host->BeginRun();  // starts the CPU's threads
      ReportProgress progress(file);
      auto verdict =
          TestKernels(session_, model_, one_by_one, &results_, &progress);
      check(verdict.status());
      WriteLine(file, "verdict");
      WriteLine(file, verdict.value().ToText());
    } catch (...) {
      check(CurrentExceptionStatus());
    }
    // No destructors: drivers wait in them for threads.
    _exit(0);
  }

  // Workers, one after the other, until one gets to the end. Writes the text of
  // the verdict, or why there is none.
  void Supervise(int file) {
    bool one_by_one = false;
    while (true) {
      ChildProcess worker;
      if (!worker.Start([&](int to) { RunWorker(to, one_by_one); })) {
        WriteLine(file, "failed");
        WriteLine(file, "fork failed");
        return;
      }
      std::string state = "start";
      std::string variant;
      std::string kernel;
      std::string what;
      std::string line;
      auto read = ChildProcess::Read::kLine;
      const auto next = [&](std::string *to) {
        read = worker.ReadLine(Limit(state, variant), to);
        return read == ChildProcess::Read::kLine;
      };
      while (next(&line)) {
        if (line == "verdict" || line == "failed") {
          // To the parent, as it is.
          WriteLine(file, line);
          while (next(&line)) WriteLine(file, line);
          return;
        }
        state = line;
        if (line == "begin") {
          if (!next(&variant) || !next(&kernel) || !next(&what)) break;
        } else if (line == "tested") {
          if (!next(&variant) || !next(&line)) break;
          results_.variants[variant] = line;
        }
      }
      const std::string how = worker.Stop();
      if (state == "begin") {
        const bool hangs = read == ChildProcess::Read::kTimeout;
        results_.crashes[kernel] =
            what +
            (hangs ? " did not end within " +
                         std::to_string(Limit(state, variant) / 1000) + " s"
                   : " ended the test process" +
                         (how.empty() ? "" : " by " + how));
        one_by_one = one_by_one || IsCompilation(variant);
        if (results_.crashes.size() >= kMostCrashes) {
          GpuVerdict verdict;
          verdict.refused = "self-test: ";
          for (const auto &[name, reason] : results_.crashes) {
            verdict.refused += reason + "; ";
          }
          verdict.refused += "it is not tried further";
          WriteLine(file, "verdict");
          WriteLine(file, verdict.ToText());
          return;
        }
      } else if (state == "compile" && !one_by_one) {
        one_by_one = true;
      } else {
        WriteLine(file, "failed");
        WriteLine(file, "the test process ended at '" + state + "' " + how);
        return;
      }
    }
  }

  static int Limit(const std::string &state, const std::string &variant) {
    if (state == "start") return kDriverMillis;
    return state == "begin" && !IsCompilation(variant) ? kKernelMillis
                                                       : kCompilerMillis;
  }

  GpuSession *session_;
  const TestedModel &model_;
  KernelResults results_;  // of the workers that ended
};

bool SelfTest::ReadVerdict(std::string *owner, GpuVerdict *verdict) {
  const std::string text = TextAt(table_, key_);
  const size_t line = text.find('\n');
  if (line == std::string::npos) return false;
  *owner = text.substr(0, line);
  return verdict->Parse(text.substr(line + 1));
}

void SelfTest::WriteVerdict(const GpuVerdict &verdict) {
  table_->Insert(
      key_, ToBytes(session_->runtime()->DriverId() + "\n" + verdict.ToText()));
  table_->Insert(kRunning, {});
  if (table_->Flush() != 0) {
    LOG(WARNING) << "the result of the GPU's self-test can't be stored";
  }
}

MaceStatus SelfTest::Use(const GpuVerdict &verdict) {
  if (!verdict.refused.empty()) return Unsupported(verdict.refused);
  if (!verdict.why.empty()) LOG(WARNING) << verdict.why;
  for (const auto &[node, reason] : verdict.refusals) {
    VLOG(1) << "operator " << node << " runs on the CPU: " << reason;
  }
  session_->SetVerdict(verdict);
  return MaceStatus();
}

// What ended this process, or another one, in an earlier test.
void SelfTest::ReadCrashes() {
  std::string crashes = TextAt(table_, kCrashes);
  std::istringstream running(TextAt(table_, kRunning));
  pid_t process = 0;
  std::string kernel;
  std::string what;
  if (running >> process >> kernel && std::getline(running >> std::ws, what) &&
      (process == getpid() || kill(process, 0) != 0)) {
    crashes += kernel + " " + what +
               " ended the process, or did not end, in an earlier start\n";
    table_->Insert(kCrashes, ToBytes(crashes));
    table_->Insert(kRunning, {});
    table_->Flush();
  }
  std::istringstream lines(crashes);
  while (lines >> kernel && std::getline(lines >> std::ws, what)) {
    results_.crashes[kernel] = what;
  }
}

MaceStatus SelfTest::TestHere(const TestedModel &model) {
  if (stored_ == nullptr) {
    LOG(WARNING) << "the GPU's kernels are not tested: the driver was "
                    "already open, and there is no storage";
    return MaceStatus();
  }
  ReadCrashes();
  GpuVerdict verdict;
  if (results_.crashes.size() >= kMostCrashes ||
      results_.crashes.count(kTrivial) > 0) {
    verdict.refused = "self-test: " + results_.crashes.begin()->second;
  } else {
    StoreProgress progress(table_);
    progress.Begin(std::string(), kTrivial, "a trivial kernel");
    MaceStatus trivial = TestDriver(session_->queues());
    if (!IsOk(trivial)) {
      progress.EndAll();
      return trivial;
    }
    host_->BeginRun();
    auto tested = TestKernels(session_, model, true, &results_, &progress);
    host_->EndRun();
    progress.EndAll();
    // The engine meets the same failure, and says what follows.
    if (!tested.ok()) {
      session_->SetVerdict(verdict);
      return MaceStatus();
    }
    verdict = std::move(tested.value());
  }
  WriteVerdict(verdict);
  return Use(verdict);
}

SelfTest::SelfTest(GpuSession *session, Device *device, HostDevice *host)
    : session_(session),
      device_(device),
      host_(host),
      stored_(OpenSelfTests(session->options())),
      table_(stored_ != nullptr ? stored_.get() : TableOfProcess()) {}

SelfTest::~SelfTest() = default;

MaceStatus SelfTest::Start(const Graph &graph,
                           const std::vector<Shape> &shapes,
                           const std::vector<std::vector<DeviceType>> &wishes) {
  const std::lock_guard<std::mutex> lock(Mutex());
  key_ = ModelKey(graph, shapes, wishes);
  GpuVerdict verdict;
  std::string owner;
  const bool stored = ReadVerdict(&owner, &verdict);
  std::unique_ptr<GraphShapes> inferred;
  if (shapes.size() == graph.inputs().size()) {
    auto result = InferShapes(graph, shapes, host_);
    // If the model is wrong, who places the graph says so.
    if (result.ok()) inferred = std::move(result.value());
  }
  // A driver does not survive a fork: the application opened it for its queue.
  const bool opened =
      OpenclRuntime::WasOpened() || session_->options().queue != nullptr;
  if (!stored && inferred != nullptr && !opened) {
    const TestedModel model = {graph, *inferred, wishes, device_, host_};
    Children children(session_, model);
    MACE_ASSIGN_OR_RETURN(const bool found, children.Test(&verdict));
    if (found) {
      session_->OpenCache();  // what the children compiled
      WriteVerdict(verdict);
      return Use(verdict);
    }
    verdict = GpuVerdict();
  }
  MACE_RETURN_IF_ERROR(session_->Open());
  const bool valid = stored && owner == session_->runtime()->DriverId();
  if (valid) return Use(verdict);
  if (stored) table_->Clear();
  if (inferred == nullptr) return MaceStatus();
  return TestHere({graph, *inferred, wishes, device_, host_});
}

MaceStatus SelfTest::TestNew(BoundPlan *bound) {
  if (stored_ == nullptr) return MaceStatus();
  const std::lock_guard<std::mutex> lock(Mutex());
  ReadCrashes();
  GpuVerdict verdict = session_->verdict();
  for (const std::string &variant : verdict.good) results_.variants[variant];
  const size_t before = verdict.refusals.size();
  const size_t known = verdict.good.size();
  size_t wrong = 0;
  StoreProgress progress(table_);
  const MaceStatus status =
      TestVariants(bound,
                   {bound->partition()->graph(),
                    bound->partition()->shapes(),
                    {},
                    device_,
                    host_},
                   &results_, &progress, &verdict, &wrong);
  progress.EndAll();
  MACE_RETURN_IF_ERROR(status);
  if (verdict.good.size() > known || wrong > 0) {
    WriteVerdict(verdict);
    session_->SetVerdict(verdict);
  }
  if (verdict.refusals.size() == before) return MaceStatus();
  return RuntimeError(verdict.refusals.begin()->second);
}

}  // namespace mace
