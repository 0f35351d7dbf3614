// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
//   sealed_model_test digits.sealed model.key digits.pb digits.data
//     the model is what was sealed and runs like it; and of copies that are
//     changed in every region of the file, none runs
//   sealed_model_test memory large.sealed model.key CHUNK-BYTES
//     decrypting takes the model's memory and that of a chunk

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "sealed_model.h"

namespace {

using Bytes = std::vector<unsigned char>;
using mace::MaceStatus;

constexpr size_t kHeaderBytes = 64;
constexpr size_t kWordBytes = 4;
constexpr size_t kTagBytes = 16;

int failures = 0;
unsigned char key[sealed::kKeyBytes];

void Expect(bool condition, const std::string &what) {
  if (condition) return;
  std::fprintf(stderr, "expected: %s\n", what.c_str());
  ++failures;
}

Bytes ReadFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream),
          std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string &path, const Bytes &bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<float> Run(mace::MaceEngine *engine) {
  const auto buffer = [](size_t count) {
    auto data = std::shared_ptr<float>(new float[count],
                                       std::default_delete<float[]>());
    for (size_t i = 0; i < count; ++i) {
      data.get()[i] = static_cast<float>(i % 5) / 8;
    }
    return data;
  };
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["image"] = mace::MaceTensor({1, 8, 8, 1}, buffer(64));
  outputs["probability"] = mace::MaceTensor({1, 10}, buffer(10));
  const MaceStatus status = engine->Run(inputs, &outputs);
  Expect(status == MaceStatus::MACE_SUCCESS, status.information());
  const float *probability = outputs["probability"].data().get();
  return {probability, probability + 10};
}

MaceStatus Create(const std::string &path,
                  sealed::Model *model,
                  std::shared_ptr<mace::MaceEngine> *engine) {
  return sealed::CreateEngine(path, key, {"image"}, {"probability"},
                              mace::MaceEngineConfig(), model, engine);
}

// A file of these bytes makes an error, and nothing that could run.
void ExpectRefusal(const std::string &path,
                   const Bytes &bytes,
                   const std::string &what) {
  WriteFile(path, bytes);
  sealed::Model model;
  std::shared_ptr<mace::MaceEngine> engine;
  const MaceStatus status = Create(path, &model, &engine);
  Expect(status == MaceStatus::MACE_INVALID_ARGS &&
             status.information().find("was changed") != std::string::npos,
         "an error of " + what + ", not: " + status.information());
  Expect(
      engine == nullptr && model.graph.size() == 0 && model.weights.size() == 0,
      "no engine and no bytes from " + what);
}

struct Chunk {
  size_t begin, stored;
  size_t end() const { return begin + kWordBytes + kTagBytes + stored; }
};

std::vector<Chunk> ChunksOf(const Bytes &file) {
  std::vector<Chunk> chunks;
  for (size_t at = kHeaderBytes; at < file.size(); at = chunks.back().end()) {
    uint32_t word = 0;
    std::memcpy(&word, &file[at], sizeof(word));
    chunks.push_back({at, word & 0x7fffffffu});
  }
  Expect(!chunks.empty() && chunks.back().end() == file.size(),
         "a file that ends with a chunk");
  return chunks;
}

// All bytes of the header, of the sizes and of the tags, and each 97th of what
// is encrypted, its first and last included.
std::vector<size_t> SampledBytes(const Bytes &file,
                                 const std::vector<Chunk> &chunks) {
  std::vector<size_t> sampled;
  for (size_t i = 0; i < kHeaderBytes; ++i) sampled.push_back(i);
  for (const Chunk &chunk : chunks) {
    const size_t encrypted = chunk.begin + kWordBytes + kTagBytes;
    for (size_t i = chunk.begin; i < encrypted; ++i) sampled.push_back(i);
    for (size_t i = encrypted; i < chunk.end(); i += 97) sampled.push_back(i);
    sampled.push_back(chunk.end() - 1);
  }
  Expect(sampled.back() == file.size() - 1, "the last byte among the sampled");
  return sampled;
}

// What happens to files besides flipped bits.
void RefusesOtherChanges(const std::string &path,
                         const Bytes &file,
                         const std::vector<Chunk> &chunks) {
  for (const Chunk &chunk : chunks) {
    ExpectRefusal(path, Bytes(file.begin(), file.begin() + chunk.begin),
                  "a file that ends before a chunk");
    ExpectRefusal(path, Bytes(file.begin(), file.begin() + chunk.begin + 9),
                  "a file that ends within a tag");
    ExpectRefusal(path, Bytes(file.begin(), file.begin() + chunk.end() - 1),
                  "a file that ends within a chunk");
    Bytes without(file);
    without.erase(without.begin() + chunk.begin, without.begin() + chunk.end());
    ExpectRefusal(path, without, "a file without a chunk");
  }
  for (size_t i = 0; i + 1 < chunks.size(); ++i) {
    const auto at = [&](size_t offset) { return file.begin() + offset; };
    Bytes swapped(file.begin(), at(chunks[i].begin));
    swapped.insert(swapped.end(), at(chunks[i + 1].begin),
                   at(chunks[i + 1].end()));
    swapped.insert(swapped.end(), at(chunks[i].begin), at(chunks[i].end()));
    swapped.insert(swapped.end(), at(chunks[i + 1].end()), file.end());
    ExpectRefusal(path, swapped, "a file with two chunks swapped");
  }
  Bytes longer(file);
  longer.push_back(0);
  ExpectRefusal(path, longer, "a file with a byte more");
  longer.insert(longer.end(), file.begin(), file.end());
  ExpectRefusal(path, longer, "two files in one");
  ExpectRefusal(path, {}, "an empty file");
}

void RefusesChanges(const std::string &path, const Bytes &file) {
  const std::vector<Chunk> chunks = ChunksOf(file);
  Expect(chunks.size() > 3, "several chunks");
  const std::vector<size_t> sampled = SampledBytes(file, chunks);
  Bytes changed(file);
  for (size_t i = 0; i < sampled.size(); ++i) {
    // Each bit in turn, and all of them.
    const int mask = i % 9 == 8 ? 0xff : 1 << (i % 9);
    const size_t at = sampled[i];
    changed[at] = static_cast<unsigned char>(changed[at] ^ mask);
    ExpectRefusal(path, changed, "a flip in byte " + std::to_string(at));
    changed[at] = file[at];
  }
  RefusesOtherChanges(path, file, chunks);
  key[31] ^= 1;
  ExpectRefusal(path, file, "another key");
  key[31] ^= 1;
  std::printf("refused %zu flips of %zu bytes in %zu chunks\n", sampled.size(),
              file.size(), chunks.size());
}

void RunsLikeItsFiles(const char *path, const Bytes &graph, Bytes weights) {
  sealed::Model opened;
  Expect(sealed::Open(path, key, &opened) == MaceStatus::MACE_SUCCESS,
         "a file that opens");
  Expect(opened.graph.size() == graph.size() &&
             std::memcmp(opened.graph.data(), graph.data(), graph.size()) == 0,
         "the graph's bytes");
  Expect(opened.weights.size() == weights.size() &&
             std::memcmp(opened.weights.data(), weights.data(),
                         weights.size()) == 0,
         "the weights' bytes");
  Expect(reinterpret_cast<uintptr_t>(opened.weights.data()) % 64 == 0,
         "weights at a multiple of 64");

  sealed::Model model;
  std::shared_ptr<mace::MaceEngine> engine, plain;
  MaceStatus status = Create(path, &model, &engine);
  Expect(status == MaceStatus::MACE_SUCCESS, status.information());
  status = mace::CreateMaceEngineFromProto(
      graph.data(), graph.size(), weights.data(), weights.size(), {"image"},
      {"probability"}, mace::MaceEngineConfig(), &plain);
  Expect(status == MaceStatus::MACE_SUCCESS, status.information());
  if (failures > 0) return;
  const std::vector<float> a = Run(engine.get());
  const std::vector<float> b = Run(plain.get());
  Expect(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0,
         "the bits of the plain model");
}

int64_t StatusKib(const char *name) {
  std::ifstream stream("/proc/self/status");
  std::string word;
  while (stream >> word) {
    int64_t value = 0;
    if (word == name && stream >> value) return value;
  }
  return -1;
}

void TakesLittleMemory(const char *path, size_t chunk_bytes) {
  sealed::Model model;
  // What the first file makes the program load is no part of the second's.
  Expect(sealed::Open("/dev/null", key, &model) != MaceStatus::MACE_SUCCESS,
         "an error of an empty file");
  const int64_t before = StatusKib("VmRSS:");
  Expect(sealed::Open(path, key, &model) == MaceStatus::MACE_SUCCESS,
         "a file that opens");
  const int64_t taken = (StatusKib("VmHWM:") - before) * 1024;
  const auto plain =
      static_cast<int64_t>(model.graph.size() + model.weights.size());
  // The kernel counts the pages of a process in groups.
  const int64_t counted = 256 * 1024;
  std::printf("%lld bytes of memory for a model of %lld\n",
              static_cast<long long>(taken), static_cast<long long>(plain));
  Expect(before > 0 && taken >= plain - counted, "a measurement");
  Expect(taken <= plain + static_cast<int64_t>(chunk_bytes) + counted,
         "the memory of the model and a chunk");
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const bool memory = std::strcmp(argv[1], "memory") == 0;
  const Bytes key_file = ReadFile(argv[memory ? 3 : 2]);
  if (key_file.size() != sizeof(key)) return 2;
  std::memcpy(key, key_file.data(), sizeof(key));
  if (memory) {
    TakesLittleMemory(argv[2], std::stoul(argv[4]));
  } else {
    RunsLikeItsFiles(argv[1], ReadFile(argv[3]), ReadFile(argv[4]));
    const std::string changed = std::string(argv[1]) + ".changed";
    RefusesChanges(changed, ReadFile(argv[1]));
    unlink(changed.c_str());
  }
  std::printf("sealed model: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
