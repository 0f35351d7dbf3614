// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls through a stand-in for a phone's FastRPC library, and what is said when
// that or the DSP fails.

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "mace/core/graph/engine_options.h"
#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/public/mace_accelerator_c.h"
#include "mace/public/mace_c_handles.h"
#include "mace/runtimes/hexagon/fastrpc_transport.h"
#include "mace/runtimes/hexagon/testing/fastrpc_stand_in.h"

namespace mace {
namespace {

using hexagon::Area;
using hexagon::PowerRecord;
using hexagon::ProgramReply;
using testing::HasSubstr;

constexpr char kFolder[] = "mace/runtimes/hexagon/testing/";
// Rows are what threads divide.
constexpr uint32_t kRows = 8;
constexpr uint32_t kChannels = 8;
constexpr uint32_t kElements = kRows * kChannels;
constexpr uint32_t kOutput = 128;  // in the border

// A program that changes bit 7 of all elements.
struct FlipProgram {
  hexagon::ProgramHeader header;
  hexagon::TensorPlace tensor;
  hexagon::InstructionHeader enter_header;
  hexagon::EnterParameters enter;
  hexagon::InstructionHeader leave_header;
  hexagon::LeaveParameters leave;
};

FlipProgram MakeProgram() {
  FlipProgram program = {};
  program.header = {hexagon::kProgramMagic, hexagon::kProgramVersion,
                    sizeof(FlipProgram), 1, 2};
  hexagon::TensorPlace &tensor = program.tensor;
  tensor.area = static_cast<uint32_t>(Area::kArena);
  tensor.element_bytes = 1;
  tensor.batch = tensor.width = 1;
  tensor.height = kRows;
  tensor.channels = tensor.pixel_bytes = tensor.row_bytes = kChannels;
  tensor.image_bytes = kElements;
  program.enter_header = {
      static_cast<uint32_t>(hexagon::Opcode::kEnter),
      sizeof(hexagon::InstructionHeader) + sizeof(hexagon::EnterParameters)};
  program.enter = {0, 0, 1};
  program.leave_header = {
      static_cast<uint32_t>(hexagon::Opcode::kLeave),
      sizeof(hexagon::InstructionHeader) + sizeof(hexagon::LeaveParameters)};
  program.leave = {0, kOutput, 0};
  return program;
}

class FastRpcTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string library = std::string(kFolder) + "libfastrpc_stand_in.so";
    setenv("MACE_FASTRPC_LIBRARY", library.c_str(), 1);
    setenv("MACE_TEST_SKEL",
           (std::string(kFolder) + "v67/emulated_skel").c_str(), 1);
    void *opened = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(opened, nullptr) << dlerror();
    const auto function = reinterpret_cast<FastRpcStandInFunction>(
        dlsym(opened, "fastrpc_stand_in"));
    ASSERT_NE(function, nullptr);
    phone_ = function();
    hexagon::EmulatedMailbox *mailbox = phone_->mailbox;
    *phone_ = FastRpcStandIn();
    phone_->mailbox = mailbox;
    if (mailbox != nullptr) {
      mailbox->power_requests = 0;
      mailbox->started_threads = 0;
      mailbox->locks = 0;
      mailbox->fast_requests = 0;
    }
  }

  MaceStatus Open(const HexagonOptions &options = {}) {
    transport_.reset();
    Result<std::shared_ptr<HexagonTransport>> result =
        FastRpcTransport::Open(options);
    if (!result.ok()) return result.status();
    transport_ = std::move(result.value());
    return MaceStatus();
  }

  // Memory for all areas of a call.
  void Prepare() {
    constexpr size_t kBytes = 4096;
    Result<std::unique_ptr<HexagonMemory>> memory =
        transport_->Allocate(4 * kBytes);
    ASSERT_TRUE(memory.ok()) << memory.status().information();
    memory_ = std::move(memory.value());
    for (size_t i = 0; i < memory_->bytes(); ++i) {
      ASSERT_EQ(memory_->data()[i], 0);
    }
    const FlipProgram program = MakeProgram();
    std::memcpy(memory_->data(), &program, sizeof(program));
    call_.program = {memory_.get(), 0, sizeof(program)};
    range(Area::kArena) = {memory_.get(), kBytes, kBytes};
    range(Area::kBorder) = {memory_.get(), 2 * kBytes, kBytes};
    range(Area::kCounters) = {memory_.get(), 3 * kBytes,
                              2 * sizeof(hexagon::CounterRecord)};
  }

  HexagonRange &range(Area area) {
    return call_.areas[static_cast<uint32_t>(area)];
  }

  uint8_t *border() { return memory_->data() + range(Area::kBorder).offset; }

  // Runs the program and checks its result.
  void ExpectAnswer(uint8_t first) {
    for (uint32_t i = 0; i < kElements; ++i) {
      border()[i] = static_cast<uint8_t>(first + i);
      border()[kOutput + i] = 0;
    }
    const Result<ProgramReply> reply = transport_->Run(call_);
    ASSERT_TRUE(reply.ok()) << reply.status().information();
    ASSERT_EQ(reply.value().status, 0U) << reply.value().index;
    for (uint32_t i = 0; i < kElements; ++i) {
      ASSERT_EQ(border()[kOutput + i], (first + i) ^ 0x80) << i;
    }
  }

  FastRpcStandIn *phone_ = nullptr;
  std::shared_ptr<HexagonTransport> transport_;
  std::unique_ptr<HexagonMemory> memory_;
  HexagonCall call_;
};

TEST_F(FastRpcTest, RunsProgramsInSharedMemory) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(transport_->Name(), "the DSP (cdsp)");
  EXPECT_FALSE(transport_->is_emulated());
  EXPECT_TRUE(phone_->is_unsigned);
  EXPECT_STREQ(phone_->uri,
               "file:///libmace_hexagon_skel.so?"
               "mace_hexagon_skel_handle_invoke&_modver=1.0&_dom=cdsp");
  Prepare();
  ExpectAnswer(3);
  hexagon::CounterRecord counters[2];
  std::memcpy(counters, memory_->data() + range(Area::kCounters).offset,
              sizeof(counters));
  EXPECT_GT(counters[0].low, 0U);
  EXPECT_GT(counters[1].low, 0U);
  ExpectAnswer(120);
  // The request and the reply; nothing else is copied, and one call is made.
  EXPECT_EQ(phone_->calls, 2);
  EXPECT_EQ(phone_->copied_buffers, 4);
  // Memory may outlive the transport.
  transport_.reset();
  EXPECT_EQ(phone_->closed, 1);
  memory_.reset();
}

TEST_F(FastRpcTest, AnswersOfTheProgramArePassedOn) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  Prepare();
  memory_->data()[offsetof(FlipProgram, tensor.channels)] = 17;
  const Result<ProgramReply> reply = transport_->Run(call_);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply.value().status,
            static_cast<uint32_t>(hexagon::ProgramStatus::kWrongTensor));
  // Memory that is not there.
  range(Area::kArena).bytes = memory_->bytes();
  EXPECT_FALSE(transport_->Run(call_).ok());
  EXPECT_EQ(phone_->calls, 1);
}

TEST_F(FastRpcTest, PhonesWithoutFastRpcAreTold) {
  setenv("MACE_FASTRPC_LIBRARY", "/nowhere/libcdsprpc.so", 1);
  MaceStatus status = Open();
  EXPECT_EQ(status.code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_THAT(status.information(),
              HasSubstr("MACE_FASTRPC_LIBRARY names /nowhere/libcdsprpc.so"));
  setenv("MACE_FASTRPC_LIBRARY", "libm.so.6", 1);
  EXPECT_THAT(Open().information(), HasSubstr("libm.so.6 has no rpcmem_alloc"));
  unsetenv("MACE_FASTRPC_LIBRARY");
  status = Open();
  EXPECT_EQ(status.code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_THAT(status.information(), HasSubstr("no FastRPC library"));
  EXPECT_THAT(status.information(), HasSubstr("libadsprpc.so"));
}

struct Fault {
  const char *name;
  void (*damage)(FastRpcStandIn *phone);
  bool must_be_unsigned;
  const char *message;
};

class FastRpcFaultTest : public FastRpcTest,
                         public testing::WithParamInterface<Fault> {};

TEST_P(FastRpcFaultTest, IsTold) {
  GetParam().damage(phone_);
  HexagonOptions options;
  options.unsigned_pd = GetParam().must_be_unsigned;
  const MaceStatus status = Open(options);
  EXPECT_EQ(status.code(), MaceStatus::MACE_RUNTIME_ERROR);
  EXPECT_THAT(status.information(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    FastRpcFaultTest,
    testing::Values(
        Fault{"old", [](FastRpcStandIn *p) { p->architecture = 0x65; }, false,
              "the DSP (cdsp) is a Hexagon v65; v66 or later is needed"},
        Fault{"vectors", [](FastRpcStandIn *p) { p->vectors = 0; }, false,
              "the DSP (cdsp) has no vectors (HVX)"},
        Fault{
            "signature", [](FastRpcStandIn *p) { p->unsigned_support = 0; },
            false,
            "does not start, in a process for signed code: error 0x80000481, "
            "libmace_hexagon_skel.so lacks a signature that this device knows"},
        Fault{
            "refused", [](FastRpcStandIn *p) { p->unsigned_error = 0x2b; },
            true,
            "gives no process for unsigned code: error 0x2b, this program may "
            "not use it; leave out SetHexagonToUnsignedPD"},
        Fault{
            "no_file",
            [](FastRpcStandIn *p) {
              p->open_error = static_cast<int>(0x80000406);
            },
            false,
            "in a process for unsigned code: error 0x80000406, it cannot load "
            "libmace_hexagon_skel.so: the file is in no folder of "
            "ADSP_LIBRARY_PATH"},
        Fault{"no_device", [](FastRpcStandIn *p) { p->open_error = 0x3b; },
              false, "there is no such DSP, or its device file may not be"},
        Fault{"unknown", [](FastRpcStandIn *p) { p->open_error = 0x31; }, false,
              "does not start, in a process for unsigned code: error 0x31"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_F(FastRpcTest, SignedCodeRunsWhereThereIsNoProcessForOther) {
  phone_->unsigned_support = 0;
  phone_->has_signature = true;
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  EXPECT_FALSE(phone_->is_unsigned);
  Prepare();
  ExpectAnswer(1);
}

class FastRpcRestartTest : public FastRpcTest,
                           public testing::WithParamInterface<int> {};

TEST_P(FastRpcRestartTest, TheNextCallStartsAgain) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  Prepare();
  ExpectAnswer(7);
  phone_->failing_call = 2;
  phone_->call_error = GetParam();
  const Result<ProgramReply> reply = transport_->Run(call_);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.status().code(), MaceStatus::MACE_RUNTIME_ERROR);
  EXPECT_THAT(reply.status().information(),
              HasSubstr("the DSP (cdsp) did not answer: error 0x"));
  // The memory is still there.
  ExpectAnswer(9);
  EXPECT_EQ(phone_->opened, 2);
  // Until it does not start any more.
  phone_->failing_call = 4;
  phone_->open_error = 0x72;
  ASSERT_FALSE(transport_->Run(call_).ok());
  EXPECT_THAT(transport_->Run(call_).status().information(),
              HasSubstr("does not start"));
}

// Restart of the DSP, of its process, and a process that ends.
INSTANTIATE_TEST_SUITE_P(Errors,
                         FastRpcRestartTest,
                         testing::Values(104,
                                         39,
                                         static_cast<int>(0x8000040d)));

// Calls of FastRPC have no limit of time.
class FastRpcHangTest : public FastRpcTest {
 protected:
  void SetUp() override {
    FastRpcTest::SetUp();
    // The emulator starts within it.
    setenv("MACE_HEXAGON_TIMEOUT", "0.4", 1);
  }
  void TearDown() override { unsetenv("MACE_HEXAGON_TIMEOUT"); }

  void LetGo() { phone_->let_go = true; }
  std::string Failure() {
    const Result<ProgramReply> reply = transport_->Run(call_);
    return reply.ok() ? std::string() : reply.status().information();
  }
  // Whether a call ran after some tries.
  bool RunsAgain() {
    for (int i = 0; i < 1000; ++i) {
      if (Failure().empty()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
};

TEST_F(FastRpcHangTest, TheProcessIsKilled) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  Prepare();
  ExpectAnswer(7);
  phone_->hanging_call = 2;
  EXPECT_THAT(Failure(),
              HasSubstr("the DSP (cdsp) took more than 0.401 s running, and "
                        "its process was ended; MACE_HEXAGON_TIMEOUT sets"));
  EXPECT_EQ(phone_->killed, 1);
  // The memory is still there. The handle of the process that ended is closed
  // before another one is opened.
  ExpectAnswer(9);
  EXPECT_EQ(phone_->opened, 2);
  EXPECT_EQ(phone_->closed, 1);
}

TEST_F(FastRpcHangTest, ASystemThatDoesNotKillIt) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  Prepare();
  phone_->can_kill = false;
  phone_->hanging_call = 1;
  EXPECT_THAT(Failure(), HasSubstr("this system does not end its process"));
  // Others do not wait.
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Failure(), HasSubstr("has not answered an earlier call yet"));
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(350));
  EXPECT_EQ(phone_->calls, 1);
  LetGo();
  EXPECT_TRUE(RunsAgain());
  ExpectAnswer(9);
  EXPECT_EQ(phone_->closed, 1);
}

TEST_F(FastRpcHangTest, MemoryLivesAsLongAsTheCall) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  Prepare();
  phone_->can_kill = false;
  phone_->hanging_call = 1;
  EXPECT_NE(Failure(), "");
  transport_.reset();
  memory_.reset();
  EXPECT_EQ(phone_->freed, 0);
  EXPECT_EQ(phone_->closed, 0);
  LetGo();
  for (int i = 0; i < 1000 && phone_->freed == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(phone_->freed, 1);
}

TEST_F(FastRpcHangTest, AStartThatHangs) {
  phone_->hangs_at_start = true;
  const MaceStatus status = Open();
  EXPECT_EQ(status.code(), MaceStatus::MACE_RUNTIME_ERROR);
  EXPECT_THAT(status.information(), HasSubstr("took more than 0.401 s to "
                                              "start"));
  phone_->hangs_at_start = false;
  EXPECT_EQ(Open(), MaceStatus::MACE_SUCCESS);
}

TEST_F(FastRpcHangTest, AWrongTimeIsRefused) {
  setenv("MACE_HEXAGON_TIMEOUT", "-3", 1);
  EXPECT_THAT(Open().information(), HasSubstr("MACE_HEXAGON_TIMEOUT is '-3'"));
}

TEST_F(FastRpcTest, NoMemoryIsTold) {
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  phone_->has_memory = false;
  const auto memory = transport_->Allocate(1000);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), MaceStatus::MACE_OUT_OF_RESOURCES);
  EXPECT_THAT(memory.status().information(), HasSubstr("1000 bytes"));
  EXPECT_FALSE(transport_->Allocate(size_t{3} << 30).ok());
}

TEST_F(FastRpcTest, ThreadsOfTheDspCompute) {
  const struct {
    uint32_t contexts;
    uint32_t possible;
    const char *setting;
    uint32_t started;
  } cases[] = {
      // One vector context is the calling thread's.
      {4, 8, "", 3},  {4, 8, "1", 0}, {4, 8, "3", 2}, {4, 1, "", 1},
      {4, 0, "4", 0}, {2, 8, "8", 1}, {1, 8, "2", 0}, {0, 8, "", 0},
  };
  for (const auto &one : cases) {
    setenv("MACE_HEXAGON_THREADS", one.setting, 1);
    ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
    Prepare();
    hexagon::EmulatedMailbox *mailbox = phone_->mailbox;
    mailbox->contexts = one.contexts;
    mailbox->most_threads = one.possible;
    mailbox->started_threads = 0;
    mailbox->all_locks = 0;
    ExpectAnswer(1);
    ExpectAnswer(99);
    EXPECT_EQ(mailbox->threads, one.started);
    // They are started once.
    EXPECT_EQ(mailbox->started_threads, one.started);
    // Each thread has vectors while it computes: the calling one for a program,
    // the others for a part of each of its two instructions.
    EXPECT_EQ(mailbox->all_locks, 2 * (1 + 2 * one.started));
    EXPECT_EQ(mailbox->locks, 0U);
    transport_.reset();
    EXPECT_EQ(mailbox->threads, 0U);
  }
  unsetenv("MACE_HEXAGON_THREADS");
  memory_.reset();
}

TEST_F(FastRpcTest, ProgramsGetVtcmWhereThereIsSome) {
  constexpr uint32_t kBytes = 8192;
  // The tensor is there.
  const auto run = [this] {
    Prepare();
    FlipProgram program = MakeProgram();
    program.header.fast_bytes = kElements + 128;
    program.header.fast_offset = 1024;
    program.tensor.area = static_cast<uint32_t>(Area::kFast);
    std::memcpy(memory_->data(), &program, sizeof(program));
    ExpectAnswer(5);
  };
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(transport_->fast_bytes(), 0U);
  hexagon::EmulatedMailbox *mailbox = phone_->mailbox;
  const auto set = [mailbox](uint32_t described, uint32_t had) {
    mailbox->described_fast_bytes = described;
    mailbox->fast_bytes = had;
    mailbox->fast_requests = 0;
  };
  const auto in_arena = [this](int i) {
    return memory_
        ->data()[range(Area::kArena).offset + 1024 + static_cast<size_t>(i)];
  };
  set(kBytes, kBytes);
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(transport_->fast_bytes(), kBytes);
  run();
  EXPECT_EQ(mailbox->fast_requests, 1U);
  EXPECT_EQ(mailbox->fast_taken, 0U);
  EXPECT_EQ(in_arena(0), 0);
  // Somebody else has it.
  set(kBytes, 0);
  run();
  EXPECT_EQ(mailbox->fast_requests, 1U);
  EXPECT_EQ(in_arena(0), 5 ^ 0x80);
  setenv("MACE_HEXAGON_VTCM", "2", 1);
  ASSERT_EQ(Open(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(transport_->fast_bytes(), 2048U);
  unsetenv("MACE_HEXAGON_VTCM");
  set(0, 0);
}

TEST_F(FastRpcTest, WrongSettingsAreTold) {
  const struct {
    const char *name;
    const char *value;
    const char *message;
  } cases[] = {
      {"MACE_HEXAGON_THREADS", "0", "a number from 1 to 8"},
      {"MACE_HEXAGON_THREADS", "9", "MACE_HEXAGON_THREADS is '9'"},
      {"MACE_HEXAGON_VTCM", "256k", "MACE_HEXAGON_VTCM is '256k'"},
      {"MACE_HEXAGON_VTCM", "-1", "a number from 0 to 65536"},
  };
  for (const auto &one : cases) {
    setenv(one.name, one.value, 1);
    const MaceStatus status = Open();
    EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
    EXPECT_THAT(status.information(), HasSubstr(one.message));
    unsetenv(one.name);
  }
}

TEST(HexagonSettingsTest, WrongPowerIsRefused) {
  MaceEngineConfig config;
  EXPECT_EQ(config.SetHexagonToUnsignedPD(), MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(config.SetHexagonPower(HEXAGON_NN_CORNER_SVS, true, 0),
            MaceStatus::MACE_SUCCESS);
  const auto options = [&config] {
    return config.impl()->options.device_options.Get(kHexagonOptions);
  };
  EXPECT_TRUE(options().unsigned_pd);
  EXPECT_TRUE(options().has_power);
  EXPECT_TRUE(options().may_lower);
  EXPECT_EQ(options().corner, HEXAGON_NN_CORNER_SVS);
  for (const MaceStatus &status :
       {config.SetHexagonPower(static_cast<HexagonNNCornerType>(8), true, 0),
        config.SetHexagonPower(HEXAGON_NN_CORNER_SVS, true, -1)}) {
    EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
    EXPECT_THAT(status.information(), HasSubstr("HexagonNNCornerType"));
  }
  EXPECT_TRUE(options().may_lower);
}

TEST(HexagonSettingsTest, AreTheSameInC) {
  mace_config config;
  EXPECT_EQ(mace_config_set_hexagon_to_unsigned_pd(&config), MACE_OK);
  EXPECT_EQ(mace_config_set_hexagon_power(&config, MACE_CORNER_TURBO, 1, 70),
            MACE_OK);
  const HexagonOptions options =
      config.config.impl()->options.device_options.Get(kHexagonOptions);
  EXPECT_TRUE(options.unsigned_pd);
  EXPECT_TRUE(options.may_lower);
  EXPECT_EQ(options.corner, HEXAGON_NN_CORNER_TURBO);
  EXPECT_EQ(options.latency_us, 70);
  EXPECT_EQ(mace_config_set_hexagon_power(&config, 8, 0, 0),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_THAT(mace_last_error(), HasSubstr("HexagonNNCornerType"));
  EXPECT_EQ(mace_config_set_hexagon_to_unsigned_pd(nullptr),
            MACE_ERROR_INVALID_ARGS);
}

TEST_F(FastRpcTest, PowerIsAskedFor) {
  HexagonOptions options;
  options.has_power = true;
  options.corner = HEXAGON_NN_CORNER_TURBO;
  options.latency_us = 100;
  ASSERT_EQ(Open(options), MaceStatus::MACE_SUCCESS);
  ASSERT_EQ(phone_->mailbox->power_requests, 3U);
  // Of HAP_power.h: vectors 2, class 3 (4: computation), clocks 7; turbo is 6.
  const PowerRecord *power = phone_->mailbox->power;
  EXPECT_EQ(power[0].type, 2U);
  EXPECT_EQ(power[0].vectors_on, 1U);
  EXPECT_EQ(power[1].type, 3U);
  EXPECT_EQ(power[1].client_class, 4U);
  EXPECT_EQ(power[2].type, 7U);
  EXPECT_EQ(power[2].target, 6U);
  EXPECT_EQ(power[2].least, 6U);
  EXPECT_EQ(power[2].dcvs_enable, 0U);
  EXPECT_EQ(power[2].latency, 100U);
  // Another engine.
  options.corner = HEXAGON_NN_CORNER_SVS2;
  options.may_lower = true;
  transport_->SetPower(options);
  ASSERT_EQ(phone_->mailbox->power_requests, 5U);
  EXPECT_EQ(power[4].target, 1U);
  EXPECT_EQ(power[4].least, 0U);
  EXPECT_EQ(power[4].dcvs_enable, 1U);
  // Without a wish nothing is asked for.
  transport_->SetPower(HexagonOptions());
  EXPECT_EQ(phone_->mailbox->power_requests, 5U);
  // After a restart, the wish is told again.
  Prepare();
  phone_->failing_call = phone_->calls + 1;
  phone_->call_error = 104;
  ASSERT_FALSE(transport_->Run(call_).ok());
  ExpectAnswer(5);
  EXPECT_EQ(power[phone_->mailbox->power_requests - 1].target, 1U);
}

}  // namespace
}  // namespace mace
