// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The adapters to vendors' libraries, against stand-ins for these libraries:
// results, the cache, hints, and everything that can fail.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/public/mace.h"
#include "mace/public/mace_accelerator_c.h"
#include "mace/public/mace_c_handles.h"
#include "test/delegates/delegate_testing.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::MadeEngine;
using delegate_testing::Count;
using delegate_testing::Environment;
using delegate_testing::ExpectClose;
using delegate_testing::FloatNetwork;
using delegate_testing::LibraryPath;
using delegate_testing::MakeOn;
using delegate_testing::OnCpu;
using delegate_testing::OperatorsOn;
using delegate_testing::RunNetwork;

const Dims kImage = {1, 6, 6, 3};
constexpr int64_t kClasses = 4;
constexpr float kTolerance = 1e-5f;
// One step of the last operator's results for each rounding that differs.
constexpr float kQuantizedTolerance = 0.13f;

struct Vendor {
  const char *name;
  // What it is tested with: FloatNetwork, or QuantizedNetwork of one scale.
  bool computes_floats;
  RuntimeType runtime;
  const char *variable;  // names the library
  const char *library;
  const char *without_a_function;
  const char *missing;     // the function that is missing
  const char *refuse_add;  // makes the stand-in refuse sums; null: it can't
  int64_t operators;       // of the network; all
};

const Vendor kVendors[] = {
    {"Neuron", true, RT_APU, "MACE_NEURON_LIBRARY", "libneuron_stand_in.so",
     "libneuron_without_compute.so", "NeuronExecution_compute", "refuse 0", 7},
    {"Qnn", true, RT_HTP, "MACE_QNN_LIBRARY", "libqnn_stand_in.so",
     "libqnn_without_compute.so", "graph_execute", "refuse ElementWiseAdd", 7},
    {"Hta", false, RT_HTA, "MACE_HTA_LIBRARY", "libhta_stand_in.so",
     "libhta_without_compute.so", "hexagon_hta_nn_execute_new", nullptr, 6},
};

// The stand-ins compute on the CPU, and a call takes longer than these
// networks.
class PlaceAll final : public ::testing::Environment {
 public:
  void SetUp() override { setenv("MACE_DELEGATE_PLACE_ALL", "1", 1); }
};
const ::testing::Environment *const place_all =
    ::testing::AddGlobalTestEnvironment(new PlaceAll);

class DelegatesTest : public ::testing::TestWithParam<Vendor> {
 protected:
  const Vendor &vendor() const { return GetParam(); }
  DeviceType device() const {
    return static_cast<DeviceType>(vendor().runtime);
  }
  int64_t Counted(const char *name) const {
    return Count(vendor().library, name);
  }
  MadeEngine Made(const MaceEngineConfig &config = MaceEngineConfig()) const {
    return MakeOn(vendor().runtime, Network(), config);
  }
  core_test::ModelBuilder Network() const {
    return vendor().computes_floats
               ? FloatNetwork()
               : delegate_testing::QuantizedNetwork(DataType::kUint8, true);
  }
  float Tolerance() const {
    return vendor().computes_floats ? kTolerance : kQuantizedTolerance;
  }
  // The engine still computes what the CPU does.
  void ExpectRight(const MadeEngine &made) const {
    for (int run = 0; run < 2; ++run) {
      ExpectClose(RunNetwork(made, kImage, kClasses),
                  OnCpu(Network(), kImage, kClasses), Tolerance());
    }
  }
  // One message about the device, and nothing runs on it.
  void ExpectLeftOut(const MadeEngine &made, const std::string &reason) const {
    ExpectRight(made);
    const EnginePlacement placement = made.engine->GetPlacement();
    ASSERT_EQ(placement.left_out.size(), 1u);
    EXPECT_EQ(placement.left_out[0].device, device());
    EXPECT_NE(placement.left_out[0].reason.find(reason), std::string::npos)
        << placement.left_out[0].reason;
    EXPECT_NE(made.engine->Explain().find(reason), std::string::npos);
    EXPECT_EQ(OperatorsOn(made, device()), 0);
  }

 private:
  const Environment library_{vendor().variable, LibraryPath(vendor().library)};
};

TEST_P(DelegatesTest, ComputeWhatTheCpuDoes) {
  const int64_t executed = Counted("executed");
  const MadeEngine made = Made();
  ExpectRight(made);
  EXPECT_EQ(OperatorsOn(made, device()), vendor().operators)
      << made.engine->Explain();
  EXPECT_EQ(Counted("executed"), executed + 2);
}

TEST_P(DelegatesTest, FreeWhatTheyMake) {
  const int64_t alive = Counted("alive");
  {
    const MadeEngine made = Made();
    ExpectRight(made);
    EXPECT_GT(Counted("alive"), alive);
  }
  EXPECT_EQ(Counted("alive"), alive);
}

TEST_P(DelegatesTest, ComputeInIntegers) {
  for (DataType type : {DataType::kUint8, DataType::kInt8}) {
    const auto network =
        delegate_testing::QuantizedNetwork(type, !vendor().computes_floats);
    const MadeEngine made = MakeOn(vendor().runtime, network);
    ExpectClose(RunNetwork(made, kImage, kClasses),
                OnCpu(network, kImage, kClasses), kQuantizedTolerance);
    EXPECT_EQ(OperatorsOn(made, device()), 6) << made.engine->Explain();
  }
}

class FloatDelegatesTest : public DelegatesTest {};

TEST_P(FloatDelegatesTest, LeaveToTheCpuWhatTheyDoNotTake) {
  const auto network = delegate_testing::InterruptedNetwork();
  const MadeEngine made = MakeOn(vendor().runtime, network);
  ExpectClose(RunNetwork(made, kImage, kClasses),
              OnCpu(network, kImage, kClasses), kTolerance);
  const auto operators = made.engine->GetPlacement().operators;
  ASSERT_EQ(operators.size(), 5u);
  EXPECT_EQ(operators[0].device, device());
  EXPECT_EQ(operators[1].device, CPU);
  ASSERT_EQ(operators[1].refusals.size(), 1u);
  EXPECT_EQ(operators[1].refusals[0].reason, "it has no LocalResponseNorm");
  EXPECT_EQ(operators[2].device, device());
}

TEST_P(DelegatesTest, TakeNewShapes) {
  const auto network = delegate_testing::OpenNetwork(!vendor().computes_floats);
  const MadeEngine made = MakeOn(vendor().runtime, network);
  for (int64_t size : {4, 7, 4}) {
    const Dims shape = {1, size, size + 1, 3};
    const int64_t elements = size * (size + 1) * 8;
    ExpectClose(RunNetwork(made, shape, elements),
                OnCpu(network, shape, elements), Tolerance());
    EXPECT_EQ(OperatorsOn(made, device()), 2);
  }
}

TEST_P(DelegatesTest, GiveTheReasonWhyThereIsNoLibrary) {
  const Environment none(vendor().variable, "/no/such/library.so");
  ExpectLeftOut(Made(), "/no/such/library.so");
}

TEST_P(DelegatesTest, AreRequiredWithoutTheCpu) {
  const Environment none(vendor().variable, "/no/such/library.so");
  core_test::MakeOptions options;
  EXPECT_CODE(options.config.SetRuntimeType(vendor().runtime), MACE_SUCCESS);
  const MadeEngine made = core_test::Make(Network(), options);
  EXPECT_CODE(made.status, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(made.status, vendor().variable);
}

TEST_P(DelegatesTest, NameTheFunctionThatALibraryLacks) {
  const Environment lacks(vendor().variable,
                          LibraryPath(vendor().without_a_function));
  ExpectLeftOut(Made(), std::string("has no ") + vendor().missing);
}

// A call takes longer than the CPU needs for so small a network.
TEST_P(DelegatesTest, LeaveToTheCpuWhatACallIsTooLongFor) {
  const Environment estimates("MACE_DELEGATE_PLACE_ALL", "0");
  const MadeEngine made = Made();
  ExpectRight(made);
  EXPECT_EQ(OperatorsOn(made, device()), 0);
  const std::string text = made.engine->Explain();
  EXPECT_NE(text.find("operator(s) would take 0 us and its 2 copies 100 us, "
                      "but "),
            std::string::npos)
      << text;
}

TEST_P(FloatDelegatesTest, HearTheLibraryRefuseAnOperator) {
  const Environment fails("MACE_STAND_IN_FAILS", vendor().refuse_add);
  const MadeEngine made = Made();
  ExpectRight(made);
  const OperatorPlacement add = made.engine->GetPlacement().operators[2];
  EXPECT_EQ(add.device, CPU);
  ASSERT_EQ(add.refusals.size(), 1u);
  EXPECT_NE(add.refusals[0].reason.find("does not support it"),
            std::string::npos)
      << add.refusals[0].reason;
  EXPECT_EQ(OperatorsOn(made, device()), vendor().operators - 1);
}

TEST_P(DelegatesTest, SurviveACompilationThatFails) {
  const Environment fails("MACE_STAND_IN_FAILS", "compile");
  ExpectLeftOut(Made(), "can't be compiled");
}

TEST_P(DelegatesTest, SurviveARunThatFails) {
  const MadeEngine made = Made();
  ExpectRight(made);
  const Environment fails("MACE_STAND_IN_FAILS", "execute");
  ExpectLeftOut(made, "failed");
}

class CacheTest : public DelegatesTest {
 protected:
  CacheTest() {
    file_ = ::testing::TempDir() + "/compiled.bin";
    std::remove(file_.c_str());
  }
  ~CacheTest() override { std::remove(file_.c_str()); }

  MadeEngine MadeWith(AcceleratorCachePolicy policy) const {
    MaceEngineConfig config;
    EXPECT_CODE(config.SetAcceleratorCache(policy, file_, file_), MACE_SUCCESS);
    return Made(config);
  }
  bool Exists() const { return std::ifstream(file_).good(); }

  std::string file_;
};

TEST_P(CacheTest, SpareTheNextStartTheCompilation) {
  ExpectRight(MadeWith(ACCELERATOR_CACHE_STORE));
  ASSERT_TRUE(Exists());
  const int64_t compiled = Counted("compiled");
  const int64_t restored = Counted("restored");
  const MadeEngine made = MadeWith(ACCELERATOR_CACHE_LOAD);
  ExpectRight(made);
  EXPECT_EQ(Counted("compiled"), compiled);
  EXPECT_EQ(Counted("restored"), restored + 1);
  EXPECT_EQ(OperatorsOn(made, device()), vendor().operators);
  EXPECT_NE(made.engine->Explain().find("from the cache"), std::string::npos);
}

TEST_P(CacheTest, IsNotWrittenUnlessAskedFor) {
  ExpectRight(MadeWith(ACCELERATOR_CACHE_NONE));
  ExpectRight(MadeWith(ACCELERATOR_CACHE_LOAD));
  EXPECT_FALSE(Exists());
}

TEST_P(CacheTest, IsReadOrWritten) {
  const int64_t compiled = Counted("compiled");
  ExpectRight(MadeWith(APU_CACHE_LOAD_OR_STORE));
  EXPECT_EQ(Counted("compiled"), compiled + 1);
  ExpectRight(MadeWith(APU_CACHE_LOAD_OR_STORE));
  EXPECT_EQ(Counted("compiled"), compiled + 1);
}

TEST_P(CacheTest, OfAnotherModelIsNotUsed) {
  ExpectRight(MadeWith(ACCELERATOR_CACHE_STORE));
  MaceEngineConfig config;
  EXPECT_CODE(config.SetAcceleratorCache(ACCELERATOR_CACHE_LOAD, file_, ""),
              MACE_SUCCESS);
  const auto network = delegate_testing::OpenNetwork(!vendor().computes_floats);
  const int64_t restored = Counted("restored");
  const MadeEngine made = MakeOn(vendor().runtime, network, config);
  ExpectClose(RunNetwork(made, {1, 4, 4, 3}, 128),
              OnCpu(network, {1, 4, 4, 3}, 128), Tolerance());
  EXPECT_EQ(Counted("restored"), restored);
}

TEST_P(CacheTest, ThatIsDamagedIsCompiledAgain) {
  ExpectRight(MadeWith(ACCELERATOR_CACHE_STORE));
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('?').put('?');
  file.close();
  const int64_t compiled = Counted("compiled");
  const MadeEngine made = MadeWith(ACCELERATOR_CACHE_LOAD);
  ExpectRight(made);
  EXPECT_EQ(Counted("compiled"), compiled + 1);
  EXPECT_EQ(OperatorsOn(made, device()), vendor().operators);
}

TEST_P(CacheTest, ThatTheLibraryRefusesIsCompiledAgain) {
  ExpectRight(MadeWith(ACCELERATOR_CACHE_STORE));
  const Environment fails("MACE_STAND_IN_FAILS", "restore");
  const int64_t compiled = Counted("compiled");
  const MadeEngine made = MadeWith(ACCELERATOR_CACHE_LOAD);
  ExpectRight(made);
  EXPECT_EQ(Counted("compiled"), compiled + 1);
  EXPECT_EQ(OperatorsOn(made, device()), vendor().operators);
}

TEST_P(CacheTest, ThatCannotBeWrittenIsNoError) {
  file_ = "/no/such/folder/compiled.bin";
  ExpectRight(MadeWith(ACCELERATOR_CACHE_STORE));
}

const auto name_of = [](const ::testing::TestParamInfo<Vendor> &info) {
  return std::string(info.param.name);
};
INSTANTIATE_TEST_SUITE_P(Vendors,
                         DelegatesTest,
                         ::testing::ValuesIn(kVendors),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Vendors,
                         FloatDelegatesTest,
                         ::testing::Values(kVendors[0], kVendors[1]),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Vendors,
                         CacheTest,
                         ::testing::ValuesIn(kVendors),
                         name_of);

class HtaTest : public ::testing::Test {
 private:
  const Environment library_{"MACE_HTA_LIBRARY",
                             LibraryPath("libhta_stand_in.so")};
};

// Weights that have a scale for each output are rounded to one scale.
TEST_F(HtaTest, RoundsWeightsOfSeveralScales) {
  for (DataType type : {DataType::kUint8, DataType::kInt8}) {
    const auto network = delegate_testing::QuantizedNetwork(type);
    const MadeEngine made = MakeOn(RT_HTA, network);
    constexpr float kThreeSteps = 0.19f;
    ExpectClose(RunNetwork(made, kImage, kClasses),
                OnCpu(network, kImage, kClasses), kThreeSteps);
    EXPECT_EQ(OperatorsOn(made, HTA), 6);
  }
}

TEST_F(HtaTest, SaysThatItComputesNoFloats) {
  const MadeEngine made = MakeOn(RT_HTA, FloatNetwork());
  ExpectClose(RunNetwork(made, kImage, kClasses),
              OnCpu(FloatNetwork(), kImage, kClasses), kTolerance);
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    EXPECT_EQ(op.device, CPU);
    ASSERT_EQ(op.refusals.size(), 1u);
    EXPECT_EQ(op.refusals[0].reason,
              "it computes in 8-bit integers, not in floats");
  }
}

TEST(HintsTest, ReachNeuroPilot) {
  const Environment library("MACE_NEURON_LIBRARY",
                            LibraryPath("libneuron_stand_in.so"));
  MaceEngineConfig config;
  EXPECT_CODE(config.SetAPUHints(37, NEURON_PREFER_SUSTAINED_SPEED),
              MACE_SUCCESS);
  RunNetwork(MakeOn(RT_APU, FloatNetwork(), config), kImage, kClasses);
  EXPECT_EQ(Count("libneuron_stand_in.so", "hint"), 37);
  EXPECT_EQ(Count("libneuron_stand_in.so", "preference"), 2);
}

TEST(HintsTest, ReachQnn) {
  const Environment library("MACE_QNN_LIBRARY",
                            LibraryPath("libqnn_stand_in.so"));
  constexpr int kTurbo = 0x80;
  constexpr int kSvs = 0x40;
  MaceEngineConfig config;
  EXPECT_CODE(config.SetQnnPerformance(HEXAGON_HIGH_PERFORMANCE), MACE_SUCCESS);
  RunNetwork(MakeOn(RT_HTP, FloatNetwork(), config), kImage, kClasses);
  EXPECT_EQ(Count("libqnn_stand_in.so", "hint"), kTurbo);
  EXPECT_CODE(config.SetQnnPerformance(HEXAGON_POWER_SAVER), MACE_SUCCESS);
  RunNetwork(MakeOn(RT_HTP, FloatNetwork(), config), kImage, kClasses);
  EXPECT_EQ(Count("libqnn_stand_in.so", "hint"), kSvs);
}

// The events of QNN that a run logs, and which objects stay.
std::string LoggedByQnn(const char *level) {
  const Environment library("MACE_QNN_LIBRARY",
                            LibraryPath("libqnn_stand_in.so"));
  const Environment wish("MACE_QNN_PROFILE_LEVEL", level);
  const int64_t alive = Count("libqnn_stand_in.so", "alive");
  ::testing::internal::CaptureStderr();
  RunNetwork(MakeOn(RT_HTP, FloatNetwork()), kImage, kClasses);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(Count("libqnn_stand_in.so", "alive"), alive);
  return text;
}

TEST(ProfileTest, OfQnnIsLogged) {
  const std::string whole = "HTP: Accelerator (execute) time: 1234 us\n";
  const std::string part = "HTP:   Conv2d:OpId_0: 100 cycles\n";
  std::string text = LoggedByQnn("0");
  EXPECT_EQ(text.find("HTP: "), std::string::npos) << text;
  text = LoggedByQnn("1");
  EXPECT_NE(text.find(whole), std::string::npos) << text;
  EXPECT_EQ(text.find("OpId"), std::string::npos) << text;
  text = LoggedByQnn("2");
  EXPECT_NE(text.find(whole), std::string::npos) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ProfileTest, ThatQnnDoesNotHaveIsNoError) {
  const Environment fails("MACE_STAND_IN_FAILS", "profile");
  const std::string text = LoggedByQnn("2");
  EXPECT_NE(text.find("MACE_QNN_PROFILE_LEVEL has no effect"),
            std::string::npos)
      << text;
}

TEST(HintsTest, ReachTheLibrariesFromC) {
  const Environment neuron("MACE_NEURON_LIBRARY",
                           LibraryPath("libneuron_stand_in.so"));
  const Environment qnn("MACE_QNN_LIBRARY", LibraryPath("libqnn_stand_in.so"));
  constexpr int kSvs = 0x40;
  mace_config config;
  EXPECT_EQ(mace_config_set_apu_hints(&config, 21, MACE_PREFER_LOW_POWER),
            MACE_OK);
  EXPECT_EQ(
      mace_config_set_qnn_performance(&config, MACE_PERFORMANCE_POWER_SAVER),
      MACE_OK);
  const std::string file = ::testing::TempDir() + "/from_c.bin";
  EXPECT_EQ(mace_config_set_accelerator_cache(&config, MACE_CACHE_STORE,
                                              nullptr, file.c_str()),
            MACE_OK);
  RunNetwork(MakeOn(RT_APU, FloatNetwork(), config.config), kImage, kClasses);
  EXPECT_EQ(Count("libneuron_stand_in.so", "hint"), 21);
  EXPECT_EQ(Count("libneuron_stand_in.so", "preference"), 0);
  EXPECT_EQ(std::remove(file.c_str()), 0);
  RunNetwork(MakeOn(RT_HTP, FloatNetwork(), config.config), kImage, kClasses);
  EXPECT_EQ(Count("libqnn_stand_in.so", "hint"), kSvs);
}

TEST(HintsTest, OfWrongValuesInCAreRefused) {
  mace_config config;
  EXPECT_EQ(mace_config_set_apu_hints(&config, -1, MACE_PREFER_LOW_POWER),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::string(mace_last_error()).find("the boost is 0 to 100"),
            std::string::npos)
      << mace_last_error();
  EXPECT_EQ(mace_config_set_qnn_performance(&config, 9),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_config_set_accelerator_cache(&config, MACE_CACHE_STORE,
                                              nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_config_set_apu_hints(nullptr, 1, MACE_PREFER_LOW_POWER),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::string(mace_last_error()).find("`config` is NULL"),
            std::string::npos)
      << mace_last_error();
}

TEST(HintsTest, OfWrongValuesAreRefused) {
  MaceEngineConfig config;
  EXPECT_CODE(config.SetAPUHints(101, NEURON_PREFER_LOW_POWER),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetAPUHints(1, static_cast<APUPreferenceHint>(3)),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetQnnPerformance(static_cast<HexagonPerformanceType>(9)),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetAcceleratorCache(static_cast<AcceleratorCachePolicy>(4),
                                         "a", "b"),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetAcceleratorCache(ACCELERATOR_CACHE_STORE, "a", ""),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetAcceleratorCache(ACCELERATOR_CACHE_LOAD, "", "b"),
              MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetAcceleratorCache(APU_CACHE_LOAD_OR_STORE, "", "b"),
              MACE_SUCCESS);
}

}  // namespace
}  // namespace mace
