// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a call of an emulated DSP takes, beside what it consists of.
//
//   transport [rounds]
//
// Prints a line for each round, which measures in turns, in nanoseconds:
//
// call  an empty program, by the transport: checked, run and answered
// wake  two processes that wake each other once, by futexes, as a call does
// dsp   an inference of one small layer that the emulator computes
// cpu   the same one that the CPU computes

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/hexagon/program/program.h"
#include "mace/public/mace.h"
#include "mace/runtimes/hexagon/transport.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 50;
constexpr int64_t kInputs = 128;
constexpr int64_t kOutputs = 32;

[[noreturn]] void Fail(const std::string &why) {
  std::fprintf(stderr, "transport: %s\n", why.c_str());
  std::exit(1);
}

void Require(const MaceStatus &status) {
  if (status != MaceStatus::MACE_SUCCESS) Fail(status.information());
}

template <typename Call>
long long NanosOf(const Call &call) {
  const auto begin = Clock::now();
  call();
  const auto time = Clock::now() - begin;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

class EmptyProgram {
 public:
  EmptyProgram() {
    auto opened = OpenHexagonTransport(HexagonOptions());
    if (!opened.ok()) Fail(opened.status().information());
    transport_ = std::move(opened.value());
    hexagon::ProgramHeader header = {};
    header.magic = hexagon::kProgramMagic;
    header.version = hexagon::kProgramVersion;
    header.bytes = sizeof(header);
    auto memory = transport_->Allocate(sizeof(header));
    if (!memory.ok()) Fail(memory.status().information());
    memory_ = std::move(memory.value());
    std::memcpy(memory_->data(), &header, sizeof(header));
    call_.program = {memory_.get(), 0, sizeof(header)};
  }
  void Run() const {
    const auto reply = transport_->Run(call_);
    if (!reply.ok()) Fail(reply.status().information());
    const auto status =
        static_cast<hexagon::ProgramStatus>(reply.value().status);
    if (status != hexagon::ProgramStatus::kDone) {
      Fail("the DSP did not run an empty program");
    }
  }

 private:
  std::shared_ptr<HexagonTransport> transport_;
  std::unique_ptr<HexagonMemory> memory_;
  HexagonCall call_;
};

// Another process that answers each request.
class Answerer {
 public:
  Answerer() {
    void *page = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) Fail("no memory");
    words_ = new (page) Words();
    child_ = fork();
    if (child_ < 0) Fail("no process");
    if (child_ == 0) {
      for (uint32_t done = 0;; ++done) {
        Wait(&words_->request, done);
        Set(&words_->reply, done + 1);
      }
    }
  }
  ~Answerer() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(words_, sizeof(Words));
  }
  Answerer(const Answerer &) = delete;
  Answerer &operator=(const Answerer &) = delete;

  void Ask() {
    const uint32_t done = words_->reply;
    Set(&words_->request, done + 1);
    Wait(&words_->reply, done);
  }

 private:
  struct Words {
    uint32_t request = 0;
    uint32_t reply = 0;
  };
  // Until *word is not `value`.
  static void Wait(const uint32_t *word, uint32_t value) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
      syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
    }
  }
  static void Set(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  Words *words_ = nullptr;
  pid_t child_ = -1;
};

// An engine of one fully connected layer.
class Layer {
 public:
  Layer(const std::vector<RuntimeType> &runtimes, size_t on_dsp) {
    test_hexagon::NetworkBuilder network(DataType::kUint8);
    network.Input({1, 1, 1, kInputs})
        .Dense("x", "y", {kOutputs, kInputs})
        .Output("y");
    core_test::MakeOptions options;
    Require(options.config.SetRuntimeTypes(runtimes));
    Require(options.config.SetCPUThreadPolicy(1, AFFINITY_NONE));
    made_ = core_test::Make(network.model(), options);
    Require(made_.status);
    if (test_hexagon::OnDsp(made_) != on_dsp) Fail(made_.engine->Explain());
    const std::vector<uint8_t> bytes = test_hexagon::Numbers(1).Bytes(kInputs);
    inputs_["x"] = test_hexagon::BytesOf({1, 1, 1, kInputs}, bytes);
    outputs_["y"] = test_hexagon::BytesOf(
        {1, 1, 1, kOutputs}, std::vector<uint8_t>(size_t{kOutputs}));
  }
  void Run() { Require(made_.engine->Run(inputs_, &outputs_)); }
  std::vector<uint8_t> results() {
    return test_hexagon::BytesOf(outputs_["y"]);
  }

 private:
  core_test::MadeEngine made_;
  core_test::Tensors inputs_;
  core_test::Tensors outputs_;
};

void Measure(int rounds) {
  Answerer answerer;  // before there are threads
  const EmptyProgram program;
  Layer dsp({RT_HEXAGON, RT_CPU}, 1);
  Layer cpu({RT_CPU}, 0);
  for (int i = 0; i < kWarmUp + rounds; ++i) {
    const auto call = NanosOf([&] { program.Run(); });
    const auto wake = NanosOf([&] { answerer.Ask(); });
    const auto by_dsp = NanosOf([&] { dsp.Run(); });
    const auto by_cpu = NanosOf([&] { cpu.Run(); });
    if (i < kWarmUp) continue;
    std::printf("%lld %lld %lld %lld\n", call, wake, by_dsp, by_cpu);
  }
  if (dsp.results() != cpu.results()) Fail("the DSP's results are others");
}

}  // namespace
}  // namespace mace

int main(int argc, char **argv) {
  constexpr int kRounds = 5000;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : kRounds;
  if (rounds <= 0) mace::Fail("usage: transport [rounds]");
  mace::Measure(rounds);
  return 0;
}
