// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "sealed_model.h"

#include <sodium.h>
#include <sys/mman.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sealed {
namespace {

using mace::MaceStatus;

constexpr size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr size_t kSaltBytes = 16;
constexpr size_t kWordBytes = 4;
constexpr size_t kHeaderBytes = 64;
constexpr uint32_t kVersion = 1;
constexpr uint32_t kLargestChunk = 16 << 20;
constexpr uint32_t kCompressed = 1u << 31;

// Where things are in the header.
constexpr size_t kVersionAt = 8;
constexpr size_t kChunkBytesAt = 12;
constexpr size_t kGraphBytesAt = 16;
constexpr size_t kWeightBytesAt = 24;
constexpr size_t kSaltAt = 32;
constexpr size_t kTagAt = 48;

static_assert(kKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "");
static_assert(kSaltBytes + sizeof(uint64_t) == kNonceBytes, "");
static_assert(kTagAt + kTagBytes == kHeaderBytes, "");

uint64_t LittleEndian(const unsigned char *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

class Reader {
 public:
  Reader(const std::string &path, const unsigned char *key)
      : path_(path), key_(key) {}

  MaceStatus Read(Model *model) {
    if (sodium_init() < 0) {
      return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR,
                        "libsodium cannot be initialised");
    }
    file_.reset(std::fopen(path_.c_str(), "rb"));
    if (file_ == nullptr) return Wrong(std::strerror(errno));
    if (!ReadHeader()) return Damaged();
    const uint64_t graph = LittleEndian(header_ + kGraphBytesAt, 8);
    const uint64_t weights = LittleEndian(header_ + kWeightBytesAt, 8);
    if (graph > SIZE_MAX || weights > SIZE_MAX ||
        !model->graph.Allocate(static_cast<size_t>(graph)) ||
        !model->weights.Allocate(static_cast<size_t>(weights))) {
      return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                        path_ + ": no memory for the model");
    }
    if (!ReadPart(&model->graph) || !ReadPart(&model->weights)) {
      return OutOfMemory() ? MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                                        path_ + ": no memory for a chunk")
                           : Damaged();
    }
    // Nothing may follow.
    if (std::fgetc(file_.get()) != EOF) return Damaged();
    if (!model->graph.Protect() || !model->weights.Protect()) {
      return Wrong(std::strerror(errno));
    }
    return MaceStatus::MACE_SUCCESS;
  }

 private:
  MaceStatus Wrong(const std::string &what) const {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS, path_ + ": " + what);
  }

  // One message for all: what exactly failed is of use only to an attacker.
  MaceStatus Damaged() const {
    return Wrong(
        "is no sealed model, was changed since it was sealed, or was sealed "
        "with another key");
  }

  bool OutOfMemory() const { return out_of_memory_; }

  bool ReadBytes(unsigned char *bytes, size_t count) {
    return std::fread(bytes, 1, count, file_.get()) == count;
  }

  // Decrypts in place, if the bytes are authentic.
  bool Decrypt(unsigned char *bytes,
               size_t count,
               const unsigned char *tag,
               const unsigned char *also,
               size_t also_count) {
    unsigned char nonce[kNonceBytes];
    std::memcpy(nonce, header_ + kSaltAt, kSaltBytes);
    for (size_t i = 0; i < sizeof(number_); ++i) {
      nonce[kSaltBytes + i] = static_cast<unsigned char>(number_ >> (8 * i));
    }
    ++number_;
    return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
               bytes, nullptr, bytes, count, tag, also, also_count, nonce,
               key_) == 0;
  }

  bool ReadHeader() {
    unsigned char none = 0;
    if (!ReadBytes(header_, kHeaderBytes) ||
        !Decrypt(&none, 0, header_ + kTagAt, header_, kTagAt)) {
      return false;
    }
    chunk_bytes_ =
        static_cast<uint32_t>(LittleEndian(header_ + kChunkBytesAt, 4));
    return std::memcmp(header_, "MACESEAL", kVersionAt) == 0 &&
           LittleEndian(header_ + kVersionAt, 4) == kVersion &&
           chunk_bytes_ > 0 && chunk_bytes_ <= kLargestChunk;
  }

  bool ReadPart(Pages *part) {
    for (size_t at = 0; at < part->size(); at += chunk_bytes_) {
      const size_t count = std::min<size_t>(chunk_bytes_, part->size() - at);
      if (!ReadChunk(part->data() + at, count)) return false;
    }
    return true;
  }

  bool ReadChunk(unsigned char *plain, size_t count) {
    unsigned char tag[kTagBytes];
    unsigned char also[kHeaderBytes + kWordBytes];
    std::memcpy(also, header_, kHeaderBytes);
    if (!ReadBytes(also + kHeaderBytes, kWordBytes) ||
        !ReadBytes(tag, kTagBytes)) {
      return false;
    }
    const auto word =
        static_cast<uint32_t>(LittleEndian(also + kHeaderBytes, kWordBytes));
    const bool compressed = (word & kCompressed) != 0;
    const size_t stored = word & ~kCompressed;
    // The size is not authenticated yet, but bound: it cannot do harm.
    if (compressed ? stored >= count : stored != count) return false;
    if (compressed && packed_.size() < stored) {
      packed_.Free();
      if (!packed_.Allocate(stored)) {
        out_of_memory_ = true;
        return false;
      }
    }
    unsigned char *bytes = compressed ? packed_.data() : plain;
    if (!ReadBytes(bytes, stored) ||
        !Decrypt(bytes, stored, tag, also, sizeof(also))) {
      return false;
    }
    if (!compressed) return true;
    uLongf size = static_cast<uLongf>(count);
    return uncompress(plain, &size, bytes, static_cast<uLong>(stored)) ==
               Z_OK &&
           size == count;
  }

  const std::string path_;
  const unsigned char *const key_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  unsigned char header_[kHeaderBytes] = {};
  uint32_t chunk_bytes_ = 0;
  uint64_t number_ = 0;
  Pages packed_;
  bool out_of_memory_ = false;
};

}  // namespace

Pages &Pages::operator=(Pages &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

bool Pages::Allocate(size_t size) {
  // An empty part has an address, too.
  void *pages = mmap(nullptr, std::max<size_t>(size, 1), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  Free();
  data_ = static_cast<unsigned char *>(pages);
  size_ = size;
#ifdef MADV_DONTDUMP
  madvise(pages, std::max<size_t>(size, 1), MADV_DONTDUMP);
#endif
  return true;
}

bool Pages::Protect() {
  return mprotect(data_, std::max<size_t>(size_, 1), PROT_READ) == 0;
}

void Pages::Free() {
  if (data_ == nullptr) return;
  const size_t size = std::max<size_t>(size_, 1);
  if (mprotect(data_, size, PROT_READ | PROT_WRITE) == 0) {
    sodium_memzero(data_, size);
  }
  munmap(data_, size);
  data_ = nullptr;
  size_ = 0;
}

void Forget(unsigned char (&key)[kKeyBytes]) { sodium_memzero(key, kKeyBytes); }

mace::MaceStatus Open(const std::string &path,
                      const unsigned char (&key)[kKeyBytes],
                      Model *model) {
  Model opened;
  const MaceStatus status = Reader(path, key).Read(&opened);
  if (status == MaceStatus::MACE_SUCCESS) {
    *model = std::move(opened);
  } else {
    *model = Model();
  }
  return status;
}

mace::MaceStatus CreateEngine(const std::string &path,
                              const unsigned char (&key)[kKeyBytes],
                              const std::vector<std::string> &inputs,
                              const std::vector<std::string> &outputs,
                              const mace::MaceEngineConfig &config,
                              Model *model,
                              std::shared_ptr<mace::MaceEngine> *engine) {
  engine->reset();
  MaceStatus status = Open(path, key, model);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  bool weights_unused = false;
  status = mace::CreateMaceEngineFromProto(
      model->graph.data(), model->graph.size(), model->weights.data(),
      model->weights.size(), inputs, outputs, config, engine, &weights_unused);
  // The engine has read the graph, and on some devices copied the weights.
  model->graph.Free();
  if (weights_unused || status != MaceStatus::MACE_SUCCESS) {
    model->weights.Free();
  }
  return status;
}

}  // namespace sealed
