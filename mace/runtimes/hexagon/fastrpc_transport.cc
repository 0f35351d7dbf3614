// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/fastrpc_transport.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/runtimes/hexagon/hexagon_settings.h"

namespace mace {
namespace {

using hexagon::ProgramReply;
using hexagon::RunReply;
using hexagon::RunRequest;

constexpr char kSkel[] = "libmace_hexagon_skel.so";
constexpr char kFolders[] = "ADSP_LIBRARY_PATH";
// Where DSPs look besides, if nobody says.
constexpr char kUsualFolders[] =
    ";/vendor/lib/rfsa/adsp;/vendor/dsp/cdsp;/vendor/dsp;/usr/lib/rfsa/adsp;/"
    "dsp";

constexpr uint32_t kOldestArchitecture = 0x66;

// Calls that have it keep it, too.
struct RpcBlock {
  RpcBlock(std::shared_ptr<const FastRpcApi> functions, void *memory)
      : api(std::move(functions)), data(memory) {}
  ~RpcBlock() { api->free(data); }
  RpcBlock(const RpcBlock &) = delete;
  RpcBlock &operator=(const RpcBlock &) = delete;

  std::shared_ptr<const FastRpcApi> api;
  void *data;
};

class RpcMemory final : public HexagonMemory {
 public:
  RpcMemory(std::shared_ptr<const RpcBlock> block, size_t bytes)
      : HexagonMemory(static_cast<uint8_t *>(block->data), bytes),
        block_(std::move(block)) {}
  const std::shared_ptr<const RpcBlock> &block() const { return block_; }

 private:
  std::shared_ptr<const RpcBlock> block_;
};

// What calls of the DSP's function take: all of it lives as long as the call.
struct OpenCall {
  std::string uri;
  uint64_t handle = 0;
};
struct PowerCall {
  hexagon::PowerRequest request;
  FastRpcArgument argument;
};
struct DescribeCall {
  hexagon::Description description = {};
  FastRpcArgument argument;
};
struct RunCall {
  RunRequest request;
  RunReply reply;
  FastRpcArgument arguments[hexagon::kRunInputs + hexagon::kRunOutputs];
  std::vector<std::shared_ptr<const RpcBlock>> blocks;
};

// Tells the DSP's loader where the library is, unless the application did.
void SetFolders() {
  if (std::getenv(kFolders) != nullptr) return;
  const Result<std::string> path = FindSkel(kSkel);
  // The system may have it in one of the usual folders.
  if (!path.ok()) return;
  const std::string folder = path.value().substr(0, path.value().rfind('/'));
  setenv(kFolders, (folder + kUsualFolders).c_str(), 0);
}

FastRpcArgument BufferOf(void *data, size_t bytes) {
  FastRpcArgument argument = {};
  argument.buffer.data = bytes == 0 ? nullptr : data;
  argument.buffer.bytes = bytes;
  return argument;
}

bool Contains(const HexagonRange &range) {
  return range.memory == nullptr ||
         (range.offset <= range.memory->bytes() &&
          range.bytes <= range.memory->bytes() - range.offset);
}

FastRpcArgument BufferOf(const HexagonRange &range) {
  if (range.memory == nullptr) return BufferOf(nullptr, 0);
  return BufferOf(range.memory->data() + range.offset, range.bytes);
}

}  // namespace

Result<std::shared_ptr<HexagonTransport>> FastRpcTransport::Open(
    const HexagonOptions &options) {
  // The library reads the variable when it is loaded.
  SetFolders();
  MACE_ASSIGN_OR_RETURN(FastRpcApi api, OpenFastRpcApi());
  std::shared_ptr<FastRpcTransport> transport(new FastRpcTransport());
  transport->api_ = std::make_shared<const FastRpcApi>(std::move(api));
  MACE_ASSIGN_OR_RETURN(const int64_t millis, ReadHexagonTimeout());
  transport->calls_ = WatchedCalls::Create(millis);
  if (transport->calls_ == nullptr) {
    return OutOfResources("no thread for the calls of ", transport->Name());
  }
  transport->power_ = options;
  MACE_ASSIGN_OR_RETURN(transport->settings_, HexagonSettings::Read());
  MACE_RETURN_IF_ERROR(transport->CheckVectors());
  MACE_RETURN_IF_ERROR(transport->ChooseProcess(options.unsigned_pd));
  MACE_RETURN_IF_ERROR(transport->Connect());
  transport->fast_bytes_ = transport->AskForVtcm();
  return std::shared_ptr<HexagonTransport>(std::move(transport));
}

FastRpcTransport::~FastRpcTransport() { Disconnect(); }

std::string FastRpcTransport::Name() const {
  return MakeString("the DSP (", api_->domain.name, ")");
}

Result<int> FastRpcTransport::Call(const char *what,
                                   std::function<int()> call) {
  if (calls_->is_stuck()) {
    return RuntimeError(Name(), " has not answered an earlier call yet");
  }
  const WatchedCalls::Reply reply = calls_->Run(std::move(call), [this] {
    FastRpcKill wish = {api_->domain.number};
    if (api_->control_session != nullptr) {
      api_->control_session(kKillProcess, &wish, sizeof(wish));
    }
  });
  if (reply.outcome == WatchedCalls::Outcome::kReturned) return reply.result;
  is_lost_ = true;
  const double seconds = static_cast<double>(calls_->millis()) / 1000;
  return RuntimeError(Name(), " took more than ", seconds, " s ", what,
                      reply.outcome == WatchedCalls::Outcome::kLate
                          ? ", and its process was ended; "
                          : ", and this system does not end its process; ",
                      kHexagonTimeout, " sets a longer time in seconds");
}

uint32_t FastRpcTransport::Ask(FastRpcAttribute attribute) const {
  if (api_->control_handle == nullptr) return 0;
  FastRpcCapability question = {};
  question.domain = static_cast<uint32_t>(api_->domain.number);
  question.attribute = attribute;
  const int failed =
      api_->control_handle(kDspInfo, &question, sizeof(question));
  return failed == 0 ? question.value : 0;
}

MaceStatus FastRpcTransport::CheckVectors() const {
  // Where it does not say, opening the library tells.
  const uint32_t architecture = Ask(kArchitecture) & 0xff;
  if (architecture == 0) return MaceStatus();
  VLOG(1) << Name() << " is a Hexagon v" << (architecture >> 4)
          << (architecture & 15);
  if (architecture < kOldestArchitecture) {
    return RuntimeError(Name(), " is a Hexagon v", architecture >> 4,
                        architecture & 15, "; v66 or later is needed");
  }
  if (Ask(kVectorsOf128Bytes) == 0) {
    return RuntimeError(Name(), " has no vectors (HVX)");
  }
  return MaceStatus();
}

MaceStatus FastRpcTransport::ChooseProcess(bool must_be_unsigned) {
  // A process for signed code takes this library only where the device knows a
  // signature (testsig).
  if (!must_be_unsigned && Ask(kUnsignedSupport) == 0) return MaceStatus();
  int failed = 0;
  if (api_->control_session == nullptr) {
    failed = 0x6c;
  } else {
    FastRpcUnsignedModule wish = {api_->domain.number, 1};
    failed = api_->control_session(kUnsignedModule, &wish, sizeof(wish));
  }
  is_unsigned_ = failed == 0;
  if (is_unsigned_ || !must_be_unsigned) return MaceStatus();
  return RuntimeError(
      Name(), " gives no process for unsigned code: ", FastRpcErrorText(failed),
      "; leave out SetHexagonToUnsignedPD and sign ", kSkel,
      ", or use another device");
}

MaceStatus FastRpcTransport::Connect() {
  if (is_lost_) Disconnect();
  const auto open = std::make_shared<OpenCall>();
  open->uri = MakeString(MACE_HEXAGON_URI, "&_dom=", api_->domain.name);
  MACE_ASSIGN_OR_RETURN(const int failed, Call("to start", [api = api_, open] {
                          return api->open(open->uri.c_str(), &open->handle);
                        }));
  if (failed != 0) {
    return RuntimeError(Name(), " does not start, in a process for ",
                        is_unsigned_ ? "unsigned" : "signed",
                        " code: ", FastRpcErrorText(failed));
  }
  handle_ = open->handle;
  is_open_ = true;
  is_lost_ = false;
  SendPower();
  return MaceStatus();
}

void FastRpcTransport::Disconnect() {
  if (calls_ == nullptr || calls_->is_stuck()) return;
  if (is_open_) {
    is_open_ = false;
    // Whatever it says, the next call opens another one.
    static_cast<void>(Call("to end", [api = api_, handle = handle_] {
      return api->close(handle);
    }));
  }
  is_lost_ = false;
}

void FastRpcTransport::SendPower() {
  if (!power_.has_power) return;
  // The DSP has them in the other order.
  constexpr int kCorners = 8;
  const int corner =
      power_.corner == HEXAGON_NN_CORNER_RELEASE ? 0 : kCorners - power_.corner;
  const auto power = std::make_shared<PowerCall>();
  power->request = {hexagon::kProgramVersion, static_cast<uint32_t>(corner),
                    static_cast<uint32_t>(power_.may_lower),
                    static_cast<uint32_t>(power_.latency_us)};
  power->argument = BufferOf(&power->request, sizeof(power->request));
  const Result<int> failed =
      Call("to set its clock", [api = api_, handle = handle_, power] {
        return api->invoke(handle, FastRpcCall(hexagon::kSetPower, 1, 0),
                           &power->argument);
      });
  // Results are the same without.
  if (!failed.ok() || failed.value() != 0) {
    LOG(WARNING) << Name() << " does not grant the power that SetHexagonPower "
                 << "asks for: "
                 << (failed.ok() ? FastRpcErrorText(failed.value())
                                 : failed.status().information());
  }
}

size_t FastRpcTransport::AskForVtcm() {
  const auto asked = std::make_shared<DescribeCall>();
  asked->argument = BufferOf(&asked->description, sizeof(asked->description));
  const Result<int> failed =
      Call("to say what it has", [api = api_, handle = handle_, asked] {
        return api->invoke(handle, FastRpcCall(hexagon::kDescribe, 0, 1),
                           &asked->argument);
      });
  const hexagon::Description &description = asked->description;
  // Another release is refused when it runs a program.
  if (!failed.ok() || failed.value() != 0 ||
      description.version != hexagon::kProgramVersion) {
    return 0;
  }
  VLOG(1) << Name() << " has " << description.fast_bytes << " bytes of VTCM";
  if (!settings_.has_fast_bytes) return description.fast_bytes;
  return std::min(description.fast_bytes, settings_.fast_bytes);
}

void FastRpcTransport::SetPower(const HexagonOptions &options) {
  if (!options.has_power) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  power_ = options;
  if (is_open_ && !is_lost_) SendPower();
}

Result<std::unique_ptr<HexagonMemory>> FastRpcTransport::Allocate(
    size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  void *data = bytes > INT_MAX ? nullptr
                               : api_->allocate(kSystemHeap, kCachedMemory,
                                                static_cast<int>(bytes));
  if (data == nullptr) {
    return OutOfResources("no memory for ", Name(), ": ", bytes, " bytes");
  }
  std::unique_ptr<HexagonMemory> memory = std::make_unique<RpcMemory>(
      std::make_shared<const RpcBlock>(api_, data), bytes);
  if (api_->to_file(data) < 0) {
    // It would be copied in each call.
    return OutOfResources("no shared memory for ", Name(), ": ", bytes,
                          " bytes");
  }
  std::memset(data, 0, bytes);
  return memory;
}

Result<ProgramReply> FastRpcTransport::Run(const HexagonCall &call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool is_valid = Contains(call.program);
  for (const HexagonRange &range : call.areas) {
    is_valid = is_valid && Contains(range);
  }
  if (!is_valid) return RuntimeError("the memory is not that of this DSP");
  if (!is_open_ || is_lost_) MACE_RETURN_IF_ERROR(Connect());
  const auto run = std::make_shared<RunCall>();
  const auto keep = [&run](const HexagonRange &range) {
    if (range.memory == nullptr) return;
    run->blocks.push_back(
        static_cast<const RpcMemory *>(range.memory)->block());
  };
  keep(call.program);
  for (const HexagonRange &range : call.areas) keep(range);
  const auto area = [&call](hexagon::Area which) {
    return BufferOf(call.areas[static_cast<uint32_t>(which)]);
  };
  run->request = {hexagon::kProgramVersion, settings_.threads};
  run->reply = {};
  const FastRpcArgument arguments[] = {
      BufferOf(&run->request, sizeof(run->request)),
      BufferOf(call.program),
      area(hexagon::Area::kConstants),
      area(hexagon::Area::kBorder),
      BufferOf(&run->reply, sizeof(run->reply)),
      area(hexagon::Area::kArena),
      area(hexagon::Area::kBorder),
      area(hexagon::Area::kCounters),
  };
  static_assert(sizeof(arguments) == sizeof(run->arguments));
  std::copy(std::begin(arguments), std::end(arguments), run->arguments);
  MACE_ASSIGN_OR_RETURN(
      const int failed, Call("running", [api = api_, handle = handle_, run] {
        return api->invoke(handle,
                           FastRpcCall(hexagon::kRun, hexagon::kRunInputs,
                                       hexagon::kRunOutputs),
                           run->arguments);
      }));
  if (failed != 0) {
    // Whatever happened, the next call starts with a new process.
    Disconnect();
    return RuntimeError(Name(), " did not answer: ", FastRpcErrorText(failed));
  }
  const RunReply &reply = run->reply;
  if (reply.version != hexagon::kProgramVersion) {
    return RuntimeError(kSkel,
                        " on this device is of another release: it runs "
                        "programs of version ",
                        reply.version, ", not ", hexagon::kProgramVersion,
                        "; take the one that was built with this library");
  }
  return reply.result;
}

}  // namespace mace
