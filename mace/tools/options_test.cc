// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mace {
namespace tools {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;

ParseOutcome Parse(const std::vector<std::string> &extra, Options *options) {
  std::vector<std::string> words = {
      "mace_run",         "--model_file=m.pb",
      "--input_node=a,b", "--input_shape=1,224,224,3:1,10",
      "--output_node=c",  "--output_shape=1,5"};
  words.insert(words.end(), extra.begin(), extra.end());
  std::vector<const char *> argv;
  for (const std::string &word : words) argv.push_back(word.c_str());
  return ParseOptions(static_cast<int>(argv.size()), argv.data(), options);
}

// The message that refusing `extra` prints.
std::string Refusal(const std::vector<std::string> &extra) {
  Options options;
  testing::internal::CaptureStderr();
  const ParseOutcome outcome = Parse(extra, &options);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(outcome.run);
  EXPECT_EQ(kExitBadRequest, outcome.status);
  return message;
}

TEST(OptionsTest, JoinsNamesShapesTypesAndFormats) {
  Options options;
  ASSERT_TRUE(
      Parse({"--input_data_type=float32,int32", "--input_data_format=NCHW,NONE",
             "--round=7", "--num_threads", "2", "--benchmark"},
            &options)
          .run);
  ASSERT_EQ(2u, options.inputs.size());
  EXPECT_EQ("a", options.inputs[0].name);
  EXPECT_EQ((std::vector<int64_t>{1, 224, 224, 3}), options.inputs[0].shape);
  EXPECT_EQ(DataFormat::NCHW, options.inputs[0].data_format);
  EXPECT_EQ(IDataType::IDT_INT32, options.inputs[1].data_type);
  EXPECT_EQ(DataFormat::NONE, options.inputs[1].data_format);
  EXPECT_EQ(IDataType::IDT_FLOAT, options.outputs[0].data_type);
  EXPECT_EQ(7, options.round);
  EXPECT_EQ(2, options.num_threads);
  EXPECT_TRUE(options.benchmark);
  EXPECT_EQ(1, options.cpu_affinity_policy);
}

TEST(OptionsTest, OneFormatStandsForAllInputs) {
  Options options;
  ASSERT_TRUE(Parse({"--input_data_format=NONE"}, &options).run);
  EXPECT_EQ(DataFormat::NONE, options.inputs[1].data_format);
}

TEST(OptionsTest, FlagsTakeTrueAndFalse) {
  Options options;
  ASSERT_TRUE(Parse({"--benchmark=false", "--out_of_range_check=false",
                     "--fake_warmup=true"},
                    &options)
                  .run);
  EXPECT_FALSE(options.benchmark);
  EXPECT_FALSE(options.out_of_range_check);
  EXPECT_TRUE(options.fake_warmup);
}

TEST(OptionsTest, APlanHasNoRuns) {
  Options options;
  ASSERT_TRUE(Parse({"--plan_only"}, &options).run);
  EXPECT_TRUE(options.plan_only);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(Parse({"--plan_only", "--benchmark"}, &options).run);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(std::string::npos, said.find("--plan_only runs nothing")) << said;
}

// Scripts pass these flags for every runtime: there is a warning, and the run
// continues.
TEST(OptionsTest, FlagsOfOtherRuntimesAreAnsweredWithAWarning) {
  for (const char *flag :
       {"accelerator_binary_file", "accelerator_storage_file",
        "accelerator_cache_policy", "apu_boost_hint", "apu_preference_hint",
        "htp_performance"}) {
    const std::string name = std::string("--") + flag;
    for (const std::vector<std::string> &words :
         {std::vector<std::string>{name + "=1"},
          std::vector<std::string>{name, "1"}}) {
      Options options;
      testing::internal::CaptureStderr();
      EXPECT_TRUE(Parse(words, &options).run) << name;
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_NE(std::string::npos, said.find(name + " has no effect")) << said;
      EXPECT_EQ('W', said[0]);
    }
  }
}

TEST(OptionsTest, FlagsOfAccelerators) {
  Options options;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(
      Parse({"--runtime=apu+cpu", "--accelerator_cache_policy=3",
             "--accelerator_binary_file=b", "--accelerator_storage_file=s",
             "--apu_boost_hint=40", "--apu_preference_hint=2"},
            &options)
          .run);
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  EXPECT_EQ(3, options.accelerator.cache_policy);
  EXPECT_EQ("b", options.accelerator.binary_file);
  EXPECT_EQ("s", options.accelerator.storage_file);
  EXPECT_EQ(40, options.accelerator.boost_hint);
  EXPECT_EQ(2, options.accelerator.preference_hint);
}

TEST(OptionsTest, FlagsOfTheDsp) {
  Options options;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(Parse({"--runtime=dsp+cpu", "--dsp_unsigned_pd", "--dsp_power=2",
                     "--dsp_dcvs", "--dsp_latency=100"},
                    &options)
                  .run);
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  EXPECT_TRUE(options.dsp.unsigned_pd);
  EXPECT_EQ(HEXAGON_NN_CORNER_TURBO, options.dsp.power);
  EXPECT_TRUE(options.dsp.dcvs);
  EXPECT_EQ(100, options.dsp.latency_us);
  testing::internal::CaptureStderr();
  Options others;
  ASSERT_TRUE(Parse({"--dsp_power=2"}, &others).run);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(std::string::npos, said.find("does not name the dsp")) << said;
}

// Of an accelerator that is not the one it is for.
TEST(OptionsTest, FlagsOfAnotherAccelerator) {
  Options options;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(
      Parse({"--runtime=htp+cpu", "--apu_boost_hint=4", "--htp_performance=7"},
            &options)
          .run);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(std::string::npos, said.find("does not name the apu")) << said;
  EXPECT_EQ(std::string::npos, said.find("htp_performance")) << said;
  EXPECT_EQ(7, options.accelerator.performance);
}

TEST(OptionsTest, FlagsOfTheGpu) {
  Options options;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(Parse({"--runtime=cpu+gpu", "--opencl_cache_full_path=c",
                     "--opencl_binary_file=b", "--opencl_parameter_file=p",
                     "--opencl_cache_reuse_policy=0", "--gpu_perf_hint=1",
                     "--gpu_priority_hint=2", "--gpu_out_of_range_check"},
                    &options)
                  .run);
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  EXPECT_EQ("c", options.gpu.cache_full_path);
  EXPECT_EQ("b", options.gpu.binary_file);
  EXPECT_EQ("p", options.gpu.parameter_file);
  EXPECT_EQ(0, options.gpu.cache_reuse_policy);
  EXPECT_EQ(1, options.gpu.perf_hint);
  EXPECT_EQ(2, options.gpu.priority_hint);
  EXPECT_TRUE(options.gpu.out_of_range_check);
  EXPECT_NE(std::string::npos,
            Refusal({"--gpu_perf_hint=4"}).find("--gpu_perf_hint"));
  EXPECT_NE(std::string::npos, Refusal({"--opencl_cache_reuse_policy=2"})
                                   .find("--opencl_cache_reuse_policy"));
}

// Scripts pass these flags for every runtime.
TEST(OptionsTest, FlagsOfTheGpuHaveNoEffectOnOthers) {
  for (const char *flag :
       {"--opencl_cache_full_path=c", "--opencl_binary_file=b",
        "--opencl_parameter_file=p", "--opencl_cache_reuse_policy=1",
        "--gpu_perf_hint=3", "--gpu_priority_hint=3",
        "--gpu_out_of_range_check"}) {
    Options options;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(Parse({flag}, &options).run);
    const std::string name(flag);
    EXPECT_NE(std::string::npos,
              testing::internal::GetCapturedStderr().find(
                  name.substr(0, name.find('=')) +
                  " has no effect: --runtime=cpu does not name the gpu"))
        << flag;
  }
}

TEST(OptionsTest, FindsTheDevicesThatARuntimeNames) {
  EXPECT_TRUE(NamesRuntime("gpu", "gpu"));
  EXPECT_TRUE(NamesRuntime("cpu+gpu", "gpu"));
  EXPECT_TRUE(NamesRuntime("front=gpu+cpu,back=cpu", "gpu"));
  EXPECT_FALSE(NamesRuntime("cpu", "gpu"));
  EXPECT_FALSE(NamesRuntime("gpu=cpu", "gpu"));  // a subgraph of that name
}

TEST(OptionsTest, RefusalsNameTheFlag) {
  EXPECT_NE(std::string::npos, Refusal({"--rounds=3"}).find("--rounds"));
  EXPECT_NE(std::string::npos, Refusal({"--round=0"}).find("--round"));
  EXPECT_NE(std::string::npos, Refusal({"--round=x"}).find("--round"));
  EXPECT_NE(std::string::npos,
            Refusal({"--input_data_type=float64"}).find("float64"));
  EXPECT_NE(
      std::string::npos,
      Refusal({"--output_data_format=NHWC,NHWC"}).find("--output_data_format"));
  EXPECT_NE(std::string::npos,
            Refusal({"--cpu_affinity_policy=9"}).find("cpu_affinity_policy"));
  EXPECT_NE(std::string::npos, Refusal({"--input_dir=d"}).find("--output_dir"));
}

TEST(OptionsTest, RunsForATime) {
  Options options;
  ASSERT_TRUE(
      Parse({"--duration=2.5", "--warmup_rounds=4", "--json=-"}, &options).run);
  EXPECT_EQ(2.5, options.duration_s);
  EXPECT_EQ(4, options.warmup_rounds);
  EXPECT_EQ("-", options.report_json);
  for (const char *other : {"--round=3", "--input_dir=d"}) {
    const std::string message =
        Refusal({"--duration=1", other, "--output_dir=o"});
    EXPECT_NE(std::string::npos, message.find("--duration")) << message;
  }
  EXPECT_NE(std::string::npos,
            Refusal({"--fake_warmup", "--warmup_rounds=2"}).find("warmup"));
  EXPECT_NE(std::string::npos, Refusal({"--duration=0"}).find("--duration"));
}

// The help of every flag names its value, not the C++ type of the value.
TEST(OptionsTest, HelpNamesValues) {
  Options options;
  testing::internal::CaptureStdout();
  const ParseOutcome outcome = Parse({"--help"}, &options);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_FALSE(outcome.run);
  EXPECT_EQ(kExitSuccess, outcome.status);
  EXPECT_NE(std::string::npos, help.find("  --round N "));
  EXPECT_NE(std::string::npos, help.find("  --model_file FILE "));
  for (const char *type : {" TEXT", " INT", " UINT", " FLOAT"}) {
    EXPECT_EQ(std::string::npos, help.find(type)) << help;
  }
}

TEST(OptionsTest, ShapesMustFitNames) {
  Options options;
  const char *argv[] = {"mace_run",         "--model_file=m",
                        "--input_node=a,b", "--input_shape=1,2",
                        "--output_node=c",  "--output_shape=1"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(kExitBadRequest, ParseOptions(6, argv, &options).status);
  EXPECT_NE(std::string::npos, testing::internal::GetCapturedStderr().find(
                                   "1 shapes for the 2 names"));
}

TEST(OptionsTest, SplitsLists) {
  EXPECT_EQ((std::vector<std::string>{"a", "b,c", ""}),
            SplitList("a,b\\,c,", ','));
}

TEST(OptionsTest, ParsesShapes) {
  Shapes shapes;
  EXPECT_EQ("", ParseShapes("1,2:scalar:0,3", &shapes));
  EXPECT_EQ((Shapes{{1, 2}, {}, {0, 3}}), shapes);
  for (const char *text :
       {"", "1,", "1,x", "-1,2", "1:", "99999999999999999999",
        "1099511627776,1099511627776"}) {
    Shapes ignored;
    EXPECT_NE("", ParseShapes(text, &ignored)) << text;
  }
}

}  // namespace
}  // namespace tools
}  // namespace mace
