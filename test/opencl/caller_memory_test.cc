// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Inputs and outputs in OpenCL memory of an application, on its queue. The
// truth is the CPU's result, and the layouts of
// docs/reference/memory_layout.md.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/half.h"
#include "mace/pipeline/mace_pipeline.h"
#include "mace/public/mace_c.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {
namespace {

constexpr int64_t kHeight = 12;
constexpr int64_t kWidth = 70;
constexpr int64_t kChannels = 3;

template <typename Function>
Function Find(const char *name) {
  void *library = dlopen(std::getenv("MACE_OPENCL_LIBRARY"), RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}
#define CL(name) Find<decltype(&::name)>(#name)

// How a tensor is in memory.
struct Layout {
  MemoryType memory = GPU_BUFFER;
  IDataType type = IDataType::IDT_FLOAT;
  DataFormat format = DataFormat::NHWC;

  bool half() const { return type == IDataType::IDT_FLOAT16; }
  size_t element() const { return half() ? 2 : 4; }
};

// Where element [0, y, x, c] is, in elements. Images are as wide and high as
// they need to be.
size_t Place(const Layout &layout,
             int64_t height,
             int64_t width,
             int64_t channels,
             int64_t y,
             int64_t x,
             int64_t c) {
  int64_t at = (y * width + x) * channels + c;
  if (layout.memory == GPU_IMAGE) {
    const int64_t pixels = (channels + 3) / 4 * width;
    at = (y * pixels + c / 4 * width + x) * 4 + c % 4;
  } else if (layout.format == DataFormat::NCHW) {
    at = (c * height + y) * width + x;
  }
  return static_cast<size_t>(at);
}

// An application with OpenCL objects of its own.
class Application {
 public:
  explicit Application(cl_command_queue_properties properties = 0) {
    cl_platform_id platform = nullptr;
    cl_int error = CL(clGetPlatformIDs)(1, &platform, nullptr);
    EXPECT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(
        CL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr),
        CL_SUCCESS);
    context_ =
        CL(clCreateContext)(nullptr, 1, &device_, nullptr, nullptr, &error);
    EXPECT_EQ(error, CL_SUCCESS);
    queue_ = CL(clCreateCommandQueue)(context_, device_, properties, &error);
    EXPECT_EQ(error, CL_SUCCESS);
  }
  ~Application() {
    CL(clReleaseCommandQueue)(queue_);
    CL(clReleaseContext)(context_);
  }

  cl_command_queue queue() const { return queue_; }

  std::shared_ptr<void> Buffer(size_t bytes,
                               cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    cl_int error = CL_SUCCESS;
    const cl_mem memory =
        CL(clCreateBuffer)(context_, flags, bytes, nullptr, &error);
    EXPECT_EQ(error, CL_SUCCESS);
    return Owned(memory);
  }
  std::shared_ptr<void> Image(size_t width,
                              size_t height,
                              bool half,
                              cl_channel_order order = CL_RGBA) const {
    cl_image_format format = {};
    format.image_channel_order = order;
    format.image_channel_data_type = half ? CL_HALF_FLOAT : CL_FLOAT;
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = width;
    desc.image_height = height;
    cl_int error = CL_SUCCESS;
    const cl_mem memory = CL(clCreateImage)(context_, CL_MEM_READ_WRITE,
                                            &format, &desc, nullptr, &error);
    EXPECT_EQ(error, CL_SUCCESS);
    return Owned(memory);
  }
  std::shared_ptr<void> Room(const Layout &layout,
                             int64_t height,
                             int64_t width,
                             int64_t channels) const {
    if (layout.memory == GPU_IMAGE) {
      return Image(static_cast<size_t>((channels + 3) / 4 * width),
                   static_cast<size_t>(height), layout.half());
    }
    return Buffer(static_cast<size_t>(height * width * channels) *
                  layout.element());
  }

  // Without waiting: the engine's commands come after it.
  MaceTensor Upload(const Layout &layout,
                    const std::vector<float> &values,
                    int64_t height = kHeight,
                    int64_t width = kWidth,
                    int64_t channels = kChannels) {
    const std::shared_ptr<void> memory = Room(layout, height, width, channels);
    const int64_t stored =
        layout.memory == GPU_IMAGE ? (channels + 3) / 4 * 4 : channels;
    sent_.emplace_back(static_cast<size_t>(height * width * stored) *
                       layout.element());
    std::vector<unsigned char> &bytes = sent_.back();
    size_t i = 0;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < channels; ++c) {
          const size_t at = Place(layout, height, width, channels, y, x, c);
          const float value = values[i++];
          const uint16_t half = FloatToHalf(value);
          std::memcpy(&bytes[at * layout.element()],
                      layout.half() ? static_cast<const void *>(&half) : &value,
                      layout.element());
        }
      }
    }
    const auto object = static_cast<cl_mem>(memory.get());
    if (layout.memory == GPU_IMAGE) {
      const size_t origin[3] = {0, 0, 0};
      const size_t region[3] = {static_cast<size_t>((channels + 3) / 4 * width),
                                static_cast<size_t>(height), 1};
      EXPECT_EQ(
          CL(clEnqueueWriteImage)(queue_, object, CL_FALSE, origin, region, 0,
                                  0, bytes.data(), 0, nullptr, nullptr),
          CL_SUCCESS);
    } else {
      EXPECT_EQ(
          CL(clEnqueueWriteBuffer)(queue_, object, CL_FALSE, 0, bytes.size(),
                                   bytes.data(), 0, nullptr, nullptr),
          CL_SUCCESS);
    }
    std::vector<int64_t> shape = {1, height, width, channels};
    if (layout.format == DataFormat::NCHW) {
      shape = {1, channels, height, width};
    }
    return MaceTensor(shape, memory, layout.format, layout.type, layout.memory);
  }

  // Room for [1, kClasses].
  MaceTensor Classes(const Layout &layout) const {
    return MaceTensor({1, kClasses}, Room(layout, 1, 1, kClasses),
                      layout.format, layout.type, layout.memory);
  }
  std::vector<float> Download(const Layout &layout,
                              const MaceTensor &tensor) const {
    const auto object = static_cast<cl_mem>(tensor.raw_data().get());
    const int64_t stored =
        layout.memory == GPU_IMAGE ? (kClasses + 3) / 4 * 4 : kClasses;
    std::vector<unsigned char> bytes(static_cast<size_t>(stored) *
                                     layout.element());
    if (layout.memory == GPU_IMAGE) {
      const size_t origin[3] = {0, 0, 0};
      const size_t region[3] = {static_cast<size_t>(stored) / 4, 1, 1};
      EXPECT_EQ(CL(clEnqueueReadImage)(queue_, object, CL_TRUE, origin, region,
                                       0, 0, bytes.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
    } else {
      EXPECT_EQ(
          CL(clEnqueueReadBuffer)(queue_, object, CL_TRUE, 0, bytes.size(),
                                  bytes.data(), 0, nullptr, nullptr),
          CL_SUCCESS);
    }
    std::vector<float> values;
    for (int64_t c = 0; c < kClasses; ++c) {
      const unsigned char *at =
          &bytes[Place(layout, 1, 1, kClasses, 0, 0, c) * layout.element()];
      float value = 0;
      uint16_t half = 0;
      if (layout.half()) {
        std::memcpy(&half, at, sizeof(half));
        value = HalfToFloat(half);
      } else {
        std::memcpy(&value, at, sizeof(value));
      }
      values.push_back(value);
    }
    return values;
  }

 private:
  static std::shared_ptr<void> Owned(cl_mem memory) {
    const auto release = CL(clReleaseMemObject);
    return std::shared_ptr<void>(memory, [release](void *object) {
      if (object != nullptr) release(static_cast<cl_mem>(object));
    });
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<std::vector<unsigned char>> sent_;
};

class CallerMemory : public EngineOnTestDriver {
 protected:
  static MakeOptions OnQueueOf(const Application &application,
                               const std::vector<RuntimeType> &runtimes = {
                                   RT_OPENCL, RT_CPU}) {
    MakeOptions options = On(runtimes);
    EXPECT_SUCCESS(
        options.config.SetGPUContext(GPUContextBuilder()
                                         .SetStoragePath(ProgramFolder())
                                         .SetOpenCLQueue(application.queue())
                                         .Finalize()));
    return options;
  }

  static void ExpectClose(const std::vector<float> &result,
                          int round,
                          float tolerance) {
    const std::vector<float> &wanted = wanted_[static_cast<size_t>(round)];
    ASSERT_EQ(result.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(result[i], wanted[i], tolerance) << i;
    }
  }

  static void RunInPlace(const MadeEngine &made,
                         Application *application,
                         const Layout &in,
                         const Layout &out,
                         int round) {
    const MaceTensor x = application->Upload(in, Image(round));
    Tensors outputs = {{"y", application->Classes(out)}};
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    EXPECT_EQ(outputs["y"].shape(), (std::vector<int64_t>{1, kClasses}));
    ExpectClose(application->Download(out, outputs["y"]), round,
                in.half() || out.half() ? 1e-3f : 1e-5f);
  }
};

// Everything that an application may have, in images and in buffers between.
TEST_F(CallerMemory, IsReadAndWrittenInPlace) {
  const Layout in[] = {
      {},
      {GPU_BUFFER, IDataType::IDT_FLOAT16},
      {GPU_BUFFER, IDataType::IDT_FLOAT, DataFormat::NCHW},
      {GPU_IMAGE, IDataType::IDT_FLOAT},
      {GPU_IMAGE, IDataType::IDT_FLOAT16},
  };
  const Layout out[] = {
      {},
      {GPU_BUFFER, IDataType::IDT_FLOAT16},
      {GPU_IMAGE, IDataType::IDT_FLOAT},
      {GPU_IMAGE, IDataType::IDT_FLOAT16},
      {},
  };
  for (const char *family : {"target", "adreno_630"}) {
    driver_->reset();
    driver_->set_family(family);
    {
      Application application;
      const MadeEngine made =
          core_test::Make(Network(), OnQueueOf(application));
      ASSERT_OK(made.status);
      for (int i = 0; i < 5; ++i) {
        SCOPED_TRACE(testing::Message() << family << ", layout " << i);
        RunInPlace(made, &application, in[i], out[i], i % kRounds);
      }
      // Memory of the process, as ever, and one of each.
      std::vector<float> result;
      ASSERT_OK(RunOnce(made, 1, &result));
      ExpectRight(result, 1);
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      ASSERT_OK(made.engine->Run({{"x", application.Upload({}, Image(0))}},
                                 &outputs));
      ExpectRight(Values(outputs["y"]), 0);
      for (const OperatorPlacement &op :
           made.engine->GetPlacement().operators) {
        EXPECT_EQ(op.device, DeviceType::GPU) << op.operator_name;
      }
    }
    ExpectClean();
  }
}

// A run neither copies nor maps anything.
TEST_F(CallerMemory, IsNotCopied) {
  driver_->reset();
  Application application;
  const MadeEngine made = core_test::Make(Network(), OnQueueOf(application));
  ASSERT_OK(made.status);
  const MaceTensor x = application.Upload({}, Image(0));
  Tensors outputs = {{"y", application.Classes({})}};
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  const char *copies[] = {"clEnqueueWriteBuffer", "clEnqueueReadBuffer",
                          "clEnqueueWriteImage",  "clEnqueueReadImage",
                          "clEnqueueCopyBuffer",  "clEnqueueMapBuffer"};
  uint64_t before = 0;
  for (const char *function : copies) before += driver_->calls(function);
  const uint64_t arguments = driver_->calls("clSetKernelArg");
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  uint64_t after = 0;
  for (const char *function : copies) after += driver_->calls(function);
  EXPECT_EQ(after, before);
  EXPECT_EQ(driver_->calls("clSetKernelArg"), arguments);
  // Another run has as many launches as one with memory of the process.
  const uint64_t launches = driver_->calls("clEnqueueNDRangeKernel");
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  EXPECT_EQ(driver_->calls("clEnqueueNDRangeKernel") - launches,
            test_opencl::kLaunches);
}

// With recordings, too.
TEST_F(CallerMemory, MayBeAnotherInEachRun) {
  setenv("MACE_OPENCL_COMMAND_BUFFERS", "1", 1);
  for (const char *family : {"target", "adreno_740"}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    {
      Application application;
      const MadeEngine made =
          core_test::Make(Network(), OnQueueOf(application));
      ASSERT_OK(made.status);
      MaceTensor x[kRounds];
      Tensors y[kRounds];
      for (int i = 0; i < kRounds; ++i) {
        x[i] = application.Upload({}, Image(i));
        y[i] = {{"y", application.Classes({})}};
      }
      for (int round : {0, 0, 0, 1, 1, 1, 0, 1, 0, 0}) {
        ASSERT_OK(made.engine->Run({{"x", x[round]}}, &y[round]));
        ExpectClose(application.Download({}, y[round]["y"]), round, 1e-5f);
      }
      if (std::string(family) == "adreno_740") {
        EXPECT_GT(driver_->calls("clEnqueueRecordingQCOM"), 0u);
      }
      for (int round : {0, 1, 0}) {
        RunInPlace(made, &application, {}, {}, round);
      }
    }
    ExpectClean();
  }
  unsetenv("MACE_OPENCL_COMMAND_BUFFERS");
}

// An AHardwareBuffer is given back when a buffer has its place, and the other
// way round.
TEST_F(CallerMemory, MayBeOfAnotherKindInEachRun) {
  std::string why;
  const MaceTestNativeWindow *window = LoadTestNativeWindow(&why);
  ASSERT_NE(window, nullptr) << why;
  driver_->reset();
  ASSERT_NE(driver_->set_family("mali_g710"), 0);
  AHardwareBuffer_Desc desc = {};
  desc.width = kHeight * kWidth * kChannels * 4;
  desc.height = 1;
  desc.layers = 1;
  desc.format = AHARDWAREBUFFER_FORMAT_BLOB;
  desc.usage = AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER;
  AHardwareBuffer *hardware = nullptr;
  ASSERT_EQ(window->allocate(&desc, &hardware), 0);
  const std::vector<float> values = Image(1);
  std::memcpy(window->memory(hardware), values.data(), desc.width);
  {
    Application application;
    const MadeEngine made = core_test::Make(Network(), OnQueueOf(application));
    ASSERT_OK(made.status);
    const MaceTensor buffer = application.Upload({}, Image(0));
    const MaceTensor imported({1, kHeight, kWidth, kChannels},
                              std::shared_ptr<void>(hardware, [](void *) {}),
                              DataFormat::NHWC, IDataType::IDT_FLOAT,
                              GPU_HARDWARE_BUFFER);
    for (int round : {0, 1, 1, 0, 1}) {
      const MaceTensor &x = round == 0 ? buffer : imported;
      Tensors outputs = {{"y", application.Classes({})}};
      ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
      ExpectClose(application.Download({}, outputs["y"]), round, 1e-5f);
      EXPECT_EQ(window->references(hardware), 1 + round);
    }
  }
  EXPECT_EQ(window->references(hardware), 1);
  window->release(hardware);
  EXPECT_EQ(window->misuses(), 0);
  ExpectClean();
}

// A wrong tensor is an error that says what is wanted, and the GPU stays in
// use.
TEST_F(CallerMemory, IsChecked) {
  driver_->reset();
  {
    Application application;
    Application other;
    const MadeEngine made = core_test::Make(Network(), OnQueueOf(application));
    ASSERT_OK(made.status);
    const auto input = [](std::shared_ptr<void> memory,
                          MemoryType type = GPU_BUFFER,
                          IDataType element = IDataType::IDT_FLOAT,
                          DataFormat format = DataFormat::NHWC) {
      return MaceTensor(format == DataFormat::NCHW
                            ? std::vector<int64_t>{1, 3, 12, 70}
                            : std::vector<int64_t>{1, 12, 70, 3},
                        std::move(memory), format, element, type);
    };
    const size_t bytes = kHeight * kWidth * kChannels * 4;
    const struct {
      MaceTensor tensor;
      const char *mentions[3];
    } wrong[] = {
        {input(application.Buffer(bytes - 4)),
         {"input 'x'", "10080 bytes", "10076"}},
        {input(application.Buffer(bytes), GPU_IMAGE),
         {"input 'x'", "GPU_IMAGE", "GPU_BUFFER"}},
        {input(application.Image(70, 12, false)),
         {"input 'x'", "GPU_IMAGE", "GPU_BUFFER"}},
        {input(application.Image(69, 12, false), GPU_IMAGE),
         {"input 'x'", "70 x 12", "69 x 12"}},
        {input(application.Image(70, 12, true), GPU_IMAGE),
         {"input 'x'", "CL_RGBA", "CL_FLOAT"}},
        {input(other.Buffer(bytes)),
         {"input 'x'", "another OpenCL context", "SetOpenCLQueue"}},
        {input(application.Buffer(bytes, CL_MEM_WRITE_ONLY)),
         {"input 'x'", "CL_MEM_WRITE_ONLY", "CL_MEM_READ_ONLY"}},
        {input(nullptr), {"input 'x'", "null buffer", ""}},
        {input(application.Buffer(bytes), static_cast<MemoryType>(7)),
         {"input 'x'", "memory type 7", "GPU_BUFFER"}},
        {input(application.Buffer(bytes), GPU_BUFFER, IDataType::IDT_FLOAT16,
               DataFormat::NCHW),
         {"input 'x'", "NCHW", "float32"}},
        {input(application.Image(70, 12, false), GPU_IMAGE,
               IDataType::IDT_FLOAT, DataFormat::NCHW),
         {"input 'x'", "NHWC", "NCHW"}},
        {input(application.Buffer(bytes), GPU_BUFFER, IDataType::IDT_BFLOAT16),
         {"input 'x'", "bfloat16", ""}},
    };
    for (const auto &entry : wrong) {
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      const MaceStatus status =
          made.engine->Run({{"x", entry.tensor}}, &outputs);
      EXPECT_NE(status.code(), MaceStatus::MACE_SUCCESS);
      for (const char *text : entry.mentions) EXPECT_MENTIONS(status, text);
    }
    const auto run = [&](std::shared_ptr<void> x, std::shared_ptr<void> y) {
      Tensors outputs = {
          {"y", MaceTensor({1, kClasses}, std::move(y), DataFormat::NHWC,
                           IDataType::IDT_FLOAT, GPU_BUFFER)}};
      return made.engine->Run({{"x", input(std::move(x))}}, &outputs);
    };
    const auto buffer = application.Buffer(bytes);
    const MaceStatus same = run(buffer, buffer);
    EXPECT_CODE(same, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(same, "the same GPU memory as");
    const MaceStatus read_only =
        run(buffer, application.Buffer(40, CL_MEM_READ_ONLY));
    EXPECT_CODE(read_only, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(read_only, "output 'y'");
    EXPECT_MENTIONS(read_only, "CL_MEM_READ_WRITE");
    RunInPlace(made, &application, {}, {}, 1);
    EXPECT_EQ(made.engine->GetPlacement().left_out.size(), 0u);
  }
  ExpectClean();
}

TEST_F(CallerMemory, NeedsTheGpu) {
  driver_->reset();
  Application application;
  const auto refused = [&](const MakeOptions &options) {
    const MadeEngine made = core_test::Make(Network(), options);
    EXPECT_SUCCESS(made.status);
    Tensors outputs = {{"y", core_test::Room(kClasses)}};
    return made.engine->Run({{"x", application.Upload({}, Image(0))}},
                            &outputs);
  };
  const MaceStatus cpu = refused(On({RT_CPU}));
  EXPECT_CODE(cpu, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(cpu, "input 'x' is in GPU memory, but no operator runs on");
  // On the GPU, but not on the application's queue.
  const MaceStatus own = refused(On({RT_OPENCL, RT_CPU}));
  EXPECT_CODE(own, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(own, "SetOpenCLQueue");

  // An operator that only the CPU has.
  ModelBuilder model;
  model.Input("x", {1, 4}, DataType::kUint8)
      .Input("w", {4, 4}, DataType::kInt8)
      .Input("a", {1, 8})
      .Operator("product", "MatMulInteger", {"x", "w"}, {"z"})
      .Operator("tanh", "Activation", {"a"}, {"b"},
                {core_test::StringAttribute("activation", "TANH")})
      .Output("z")
      .Output("b");
  const MadeEngine made = core_test::Make(model, OnQueueOf(application));
  ASSERT_OK(made.status);
  Tensors outputs = {{"b", core_test::Room(8)}};
  const MaceStatus mixed = made.engine->Run(
      {{"x", MaceTensor({1, 4}, application.Buffer(4), DataFormat::NHWC,
                        IDataType::IDT_UINT8, GPU_BUFFER)},
       {"w", core_test::TensorOf<int8_t>({4, 4}, std::vector<int8_t>(16, 1),
                                         IDataType::IDT_INT8)},
       {"a", Floats({1, 8}, std::vector<float>(8, 0.5f))}},
      &outputs);
  EXPECT_CODE(mixed, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(mixed, "input 'x'");
  EXPECT_MENTIONS(mixed, "operator 'product', which reads it, runs on");
}

TEST_F(CallerMemory, NeedsAnOrderedQueue) {
  driver_->reset();
  {
    Application application(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const MadeEngine made =
        core_test::Make(Network(), OnQueueOf(application, {RT_OPENCL}));
    EXPECT_CODE(made.status, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(made.status, "SetOpenCLQueue");
    EXPECT_MENTIONS(made.status, "OUT_OF_ORDER");
  }
  ExpectClean();
}

// A reshape is no launch, unless both of its ends are the application's.
TEST_F(CallerMemory, IsOfOneTensorOnly) {
  driver_->reset();
  {
    Application application;
    ModelBuilder model;
    model.Input("x", {1, 1, 1, kClasses})
        .Operator("flat", "Reshape", {"x"}, {"y"},
                  {core_test::IntsAttribute("shape", {1, kClasses})})
        .Output("y");
    const MadeEngine made = core_test::Make(model, OnQueueOf(application));
    ASSERT_OK(made.status);
    const std::vector<float> values = core_test::Ramp(kClasses);
    const MaceTensor x = application.Upload({}, values, 1, 1, kClasses);
    Tensors in_place = {{"y", application.Classes({})}};
    ASSERT_OK(made.engine->Run({{"x", x}}, &in_place));
    EXPECT_EQ(application.Download({}, in_place["y"]), values);
    Tensors copied = {{"y", core_test::Room(kClasses)}};
    ASSERT_OK(made.engine->Run({{"x", x}}, &copied));
    EXPECT_EQ(Values(copied["y"]), values);
    Tensors written = {{"y", application.Classes({})}};
    ASSERT_OK(made.engine->Run({{"x", Floats({1, 1, 1, kClasses}, values)}},
                               &written));
    EXPECT_EQ(application.Download({}, written["y"]), values);
  }
  ExpectClean();
}

// The self-test writes to its own memory, not to the application's.
TEST_F(CallerMemory, IsNotTouchedByTheSelfTest) {
  driver_->reset();
  {
    Application application;
    MakeOptions options = On({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetGPUContext(
        GPUContextBuilder()
            .SetStoragePath(std::getenv("TEST_TMPDIR"))
            .SetOpenCLQueue(application.queue())
            .Finalize()));
    const MadeEngine made = core_test::Make(Network(), options);
    ASSERT_OK(made.status);
    for (const MemoryType memory : {GPU_IMAGE, GPU_BUFFER}) {
      RunInPlace(made, &application, {memory}, {memory}, 0);
    }
  }
  ExpectClean();
}

// Two engines in the application's context, of which one has the memory of the
// other; and a third in a context of its own.
TEST_F(CallerMemory, BelongsToSeveralEngines) {
  driver_->reset();
  {
    Application application;
    const MadeEngine own = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    ASSERT_OK(own.status);
    MakeOptions options = OnQueueOf(application);
    options.tutor = own.engine.get();
    const MadeEngine first = core_test::Make(Network(), options);
    const MadeEngine second =
        core_test::Make(Network(), OnQueueOf(application));
    ASSERT_OK(first.status);
    ASSERT_OK(second.status);
    for (int round = 0; round < kRounds; ++round) {
      std::vector<float> result;
      ASSERT_OK(RunOnce(own, round, &result));
      ExpectRight(result, round);
      RunInPlace(first, &application, {}, {}, round);
      RunInPlace(second, &application, {GPU_IMAGE}, {}, round);
    }
  }
  ExpectClean();
}

// A link there is not copied; one in memory of the process is, twice.
TEST_F(CallerMemory, LinksEnginesOfAPipeline) {
  driver_->reset();
  {
    Application application;
    MakeOptions front = OnQueueOf(application);
    front.outputs = {"a"};
    const MadeEngine first = core_test::Make(Network(), front);
    const MadeEngine second =
        core_test::Make(Network("a"), OnQueueOf(application));
    ASSERT_OK(first.status);
    ASSERT_OK(second.status);
    const MaceTensor link({1, kHeight, kWidth, 16},
                          application.Room({}, kHeight, kWidth, 16),
                          DataFormat::NHWC, IDataType::IDT_FLOAT, GPU_BUFFER);
    for (const bool in_gpu : {true, false}) {
      MacePipeline pipeline;
      ASSERT_OK(pipeline.AddEngine("first", first.engine));
      ASSERT_OK(pipeline.AddEngine("second", second.engine));
      ASSERT_OK(pipeline.Connect("first", "a", "second", "a",
                                 in_gpu ? &link : nullptr));
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      std::vector<RunMetadata> metadata;
      ASSERT_OK(pipeline.Run(
          {{"x", core_test::Floats({1, kHeight, kWidth, kChannels}, Image(0))}},
          &outputs, &metadata));
      ExpectRight(Values(outputs["y"]), 0);
      for (const RunMetadata &stage : metadata) {
        // x or y, and the link unless it is in the GPU.
        EXPECT_EQ(stage.border_copies.size(), in_gpu ? 1u : 2u);
        for (const TensorCopy &copy : stage.border_copies) {
          EXPECT_EQ(copy.reason, CopyReason::DEVICE);
        }
      }
      EXPECT_NE(pipeline.Explain().find(
                    in_gpu ? "bytes of the application, in place\n"
                           : "bytes, through memory of the CPU because"),
                std::string::npos)
          << pipeline.Explain();
    }
  }
  ExpectClean();
}

TEST_F(CallerMemory, WorksInC) {
  driver_->reset();
  {
    Application application;
    mace_config *config = nullptr;
    ASSERT_EQ(mace_config_create(&config), MACE_OK);
    ASSERT_EQ(mace_config_set_device(config, MACE_DEVICE_GPU), MACE_OK);
    mace_gpu gpu = {};
    gpu.queue = application.queue();
    ASSERT_EQ(mace_config_set_gpu(config, &gpu), MACE_OK);
    const ModelBuilder network = Network();
    const std::string graph = network.graph();
    const auto weights = core_test::AlignedCopy(network.weights());
    mace_model model = {};
    model.graph = graph.data();
    model.graph_size = graph.size();
    model.weights = weights.get();
    model.weights_size = network.weights().size();
    mace_engine *engine = nullptr;
    ASSERT_EQ(mace_engine_create(&model, config, &engine), MACE_OK)
        << mace_last_error();
    const MaceTensor image = application.Upload({}, Image(0));
    const MaceTensor classes = application.Classes({});
    mace_tensor x = {};
    x.name = "x";
    x.data = image.raw_data().get();
    x.bytes = kHeight * kWidth * kChannels * 4;
    x.type = MACE_TYPE_FLOAT;
    x.format = MACE_FORMAT_NHWC;
    x.rank = 4;
    const int64_t dims[] = {1, kHeight, kWidth, kChannels};
    std::memcpy(x.dims, dims, sizeof(dims));
    x.memory = MACE_MEMORY_GPU_BUFFER;
    mace_tensor y = {};
    y.name = "y";
    y.data = classes.raw_data().get();
    y.bytes = kClasses * 4;
    y.type = MACE_TYPE_FLOAT;
    y.format = MACE_FORMAT_NHWC;
    y.memory = MACE_MEMORY_GPU_BUFFER;
    EXPECT_EQ(mace_engine_run(engine, &x, 1, &y, 1), MACE_OK)
        << mace_last_error();
    EXPECT_EQ(y.rank, 2u);
    EXPECT_EQ(y.dims[1], kClasses);
    ExpectClose(application.Download({}, classes), 0, 1e-5f);
    x.memory = MACE_MEMORY_GPU_IMAGE;
    EXPECT_NE(mace_engine_run(engine, &x, 1, &y, 1), MACE_OK);
    mace_engine_destroy(engine);
    mace_config_destroy(config);
  }
  ExpectClean();
}

// The calls that only this needs fail while an engine is made: the CPU takes
// its place, and says that it can't have the memory.
TEST_F(CallerMemory, SurvivesFailuresOfTheQueue) {
  const struct {
    const char *function;
    uint64_t n;
  } calls[] = {{"clGetCommandQueueInfo", 1},
               {"clGetCommandQueueInfo", 2},
               {"clGetCommandQueueInfo", 3},
               {"clRetainContext", 1},
               {"clRetainCommandQueue", 1}};
  for (const auto &call : calls) {
    SCOPED_TRACE(testing::Message() << call.function << " " << call.n);
    driver_->reset();
    {
      Application application;
      const MaceTensor x = application.Upload({}, Image(0));
      driver_->fail_function(call.function, call.n, 0);
      const MadeEngine alone =
          core_test::Make(Network(), OnQueueOf(application, {RT_OPENCL}));
      EXPECT_EQ(driver_->failures(), 1u);
      EXPECT_NE(alone.status.code(), MaceStatus::MACE_SUCCESS);
      EXPECT_MENTIONS(alone.status, call.function);
      driver_->fail_function(call.function, call.n, 0);
      const MadeEngine made =
          core_test::Make(Network(), OnQueueOf(application));
      ASSERT_OK(made.status);
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      const MaceStatus status = made.engine->Run({{"x", x}}, &outputs);
      EXPECT_CODE(status, MACE_UNSUPPORTED);
      EXPECT_MENTIONS(status, "input 'x' is in GPU memory, but no operator");
    }
    ExpectClean();
  }
}

// Each call of a run with new memory fails once: the result is right, or a
// status says what failed, and nothing leaks. A tensor that can't be checked
// does not take the GPU from the engine; other failures do.
TEST_F(CallerMemory, SurvivesTheFailureOfEveryCall) {
  const Layout in = {GPU_IMAGE};
  uint64_t failed = 0;
  for (uint64_t call = 1;; ++call) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    driver_->reset();
    bool done = false;
    {
      Application application;
      const MadeEngine made =
          core_test::Make(Network(), OnQueueOf(application));
      ASSERT_OK(made.status);
      const MaceTensor first = application.Upload(in, Image(0));
      const MaceTensor second = application.Upload(in, Image(1));
      Tensors outputs = {{"y", application.Classes({})}};
      ASSERT_OK(made.engine->Run({{"x", first}}, &outputs));
      driver_->fail_call(call, 0);
      const MaceStatus status = made.engine->Run({{"x", second}}, &outputs);
      done = driver_->failures() == 0;
      driver_->stop_failing();
      const bool left = !made.engine->GetPlacement().left_out.empty();
      if (status == MaceStatus::MACE_SUCCESS) {
        ExpectClose(application.Download({}, outputs["y"]), 1, 1e-5f);
      } else {
        EXPECT_FALSE(done);
        EXPECT_MENTIONS(status, left ? "in GPU memory" : "clGet");
      }
      // What was not changed then is changed now.
      if (!left) {
        ASSERT_OK(made.engine->Run({{"x", first}}, &outputs));
        ExpectClose(application.Download({}, outputs["y"]), 0, 1e-5f);
      }
    }
    ExpectClean();
    if (done || HasFailure()) break;
    ++failed;
  }
  EXPECT_GT(failed, 20u);
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
