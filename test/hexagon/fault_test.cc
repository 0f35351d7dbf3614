// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A DSP that is lost, does not start, or is of another release: the CPU
// computes the model, or one error says why.

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mace/runtimes/hexagon/transport.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace test_hexagon {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kOperators = 7;

// The child of this process; -1 if there is none.
pid_t Emulator() {
  const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/proc"), closedir);
  while (const dirent *entry = readdir(folder.get())) {
    const int process = std::atoi(entry->d_name);
    if (process <= 0) continue;
    const std::string path = "/proc/" + std::to_string(process) + "/stat";
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
        std::fopen(path.c_str(), "re"), std::fclose);
    int parent = 0;
    char state = 0;
    if (file != nullptr &&
        std::fscanf(file.get(), "%*d (%*[^)]) %c %d", &state, &parent) == 2 &&
        parent == getpid() && state != 'Z') {
      return process;
    }
  }
  return -1;
}

// A variable of the environment as long as this lives.
class Setting {
 public:
  Setting(const char *name, const std::string &value) : name_(name) {
    const char *old = std::getenv(name);
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (had_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

 private:
  const char *name_;
  bool had_;
  std::string old_;
};

MadeEngine OnDspAndCpu() {
  return core_test::Make(Network(DataType::kUint8), On({RT_HEXAGON, RT_CPU}));
}

void ExpectRight(const MadeEngine &made, size_t on_dsp) {
  static const Results wanted = Wanted(Network(DataType::kUint8), 1);
  Results results;
  ASSERT_OK(RunOnce(made.engine.get(), 1, &results));
  EXPECT_EQ(results, wanted);
  EXPECT_EQ(OnDsp(made), on_dsp) << made.engine->Explain();
}

// The reason of the one device that was left out.
std::string LeftOut(const MadeEngine &made) {
  const EnginePlacement placement = made.engine->GetPlacement();
  return placement.left_out.size() == 1 ? placement.left_out[0].reason
                                        : std::string();
}

TEST(HexagonFaultTest, StartsAgainAfterTheEmulatorEnded) {
  const MadeEngine made = OnDspAndCpu();
  ASSERT_OK(made.status);
  ExpectRight(made, kOperators);
  const pid_t first = Emulator();
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  // All its threads have ended.
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &info, WEXITED | WNOWAIT),
            0);
  ExpectRight(made, kOperators);
  EXPECT_GT(Emulator(), 0);
  EXPECT_NE(Emulator(), first);
}

TEST(HexagonFaultTest, EndsDuringARun) {
  const MadeEngine made = OnDspAndCpu();
  ASSERT_OK(made.status);
  const pid_t emulator = Emulator();
  ASSERT_GT(emulator, 0);
  kill(emulator, SIGSTOP);  // so that the run is not over yet
  std::thread killer([emulator] {
    std::this_thread::sleep_for(milliseconds(50));
    kill(emulator, SIGKILL);
  });
  const auto start = steady_clock::now();
  ExpectRight(made, 0);
  EXPECT_LT(steady_clock::now() - start, milliseconds(5000));
  killer.join();
  EXPECT_NE(LeftOut(made).find("was ended by signal 9 running"),
            std::string::npos)
      << LeftOut(made);
  ExpectRight(made, 0);
  // Another engine has it again.
  const MadeEngine next = OnDspAndCpu();
  ASSERT_OK(next.status);
  ExpectRight(next, kOperators);
}

TEST(HexagonFaultTest, TakesTooLong) {
  // The emulator starts within it.
  const Setting timeout("MACE_HEXAGON_TIMEOUT", "1");
  const MadeEngine made = OnDspAndCpu();
  ASSERT_OK(made.status);
  const pid_t emulator = Emulator();
  ASSERT_GT(emulator, 0);
  kill(emulator, SIGSTOP);
  ExpectRight(made, 0);
  EXPECT_NE(LeftOut(made).find("took more than 1 s"), std::string::npos)
      << LeftOut(made);
  EXPECT_NE(Emulator(), emulator);
}

TEST(HexagonFaultTest, NothingToStart) {
  {
    const Setting none("MACE_HEXAGON_EMULATOR", "no-such-program");
    const MadeEngine made = OnDspAndCpu();
    ASSERT_OK(made.status);
    ExpectRight(made, 0);
    EXPECT_NE(LeftOut(made).find("'no-such-program'"), std::string::npos)
        << LeftOut(made);
    const MadeEngine alone =
        core_test::Make(Network(DataType::kUint8), On({RT_HEXAGON}));
    EXPECT_MENTIONS(alone.status, "MACE_HEXAGON_EMULATOR");
  }
  {
    const Setting none("MACE_HEXAGON_SKEL", "no/such/file");
    const MadeEngine made = OnDspAndCpu();
    ASSERT_OK(made.status);
    ExpectRight(made, 0);
    EXPECT_NE(LeftOut(made).find("'no/such/file', which MACE_HEXAGON_SKEL"),
              std::string::npos)
        << LeftOut(made);
  }
  {
    const Setting none("MACE_HEXAGON_SKEL", "");
    EXPECT_MENTIONS(OpenHexagonTransport(HexagonOptions()).status(),
                    "mace_hexagon_skel, is");
  }
  {
    const Setting wrong("MACE_HEXAGON_TIMEOUT", "soon");
    EXPECT_MENTIONS(OpenHexagonTransport(HexagonOptions()).status(),
                    "MACE_HEXAGON_TIMEOUT is 'soon'");
  }
}

TEST(HexagonFaultTest, EndsWhenItStarts) {
  const Setting no_emulator("MACE_HEXAGON_EMULATOR", "false");
  const MadeEngine made = OnDspAndCpu();
  ASSERT_OK(made.status);
  ExpectRight(made, 0);
  EXPECT_NE(LeftOut(made).find("ended with status 1 when it started"),
            std::string::npos)
      << LeftOut(made);
}

TEST(HexagonFaultTest, OfAnotherRelease) {
  const Setting other("MACE_HEXAGON_EMULATOR",
                      std::getenv("MACE_TEST_OTHER_RELEASE"));
  const MadeEngine made = OnDspAndCpu();
  ASSERT_OK(made.status);
  ExpectRight(made, 0);
  EXPECT_NE(LeftOut(made).find("is of another release: it runs programs of "
                               "version 1000"),
            std::string::npos)
      << LeftOut(made);
  EXPECT_EQ(Emulator(), -1);
}

TEST(HexagonFaultTest, TheEmulatorEndsWithTheLastEngine) {
  {
    const MadeEngine made = OnDspAndCpu();
    ASSERT_OK(made.status);
    EXPECT_GT(Emulator(), 0);
  }
  EXPECT_EQ(Emulator(), -1);
}

}  // namespace
}  // namespace test_hexagon
}  // namespace mace
