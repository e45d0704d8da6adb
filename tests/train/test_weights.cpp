#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/temporary_folder.hpp"
#include "halo/base/error.hpp"
#include "halo/train/weights.hpp"

namespace train = halo::train;
namespace nn = halo::nn;
using halo::datasets::read_bytes;
using halo::datasets::TemporaryFolder;
using halo::datasets::write_bytes;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kLengthBytes = 8;

/// A weight [2 x 3] that files hold transposed, an attention vector with three axes, a bias; offsets in the
/// flat buffer in another order.
nn::Program small_model() {
  nn::Program program;
  program.parameters = {
      {.name = "lin.weight",
       .rows = 2,
       .cols = 3,
       .offset = 4,
       .file_shape = {3, 2},
       .transpose_in_file = true},
      {.name = "att", .rows = 1, .cols = 2, .offset = 0, .file_shape = {1, 2, 1}},
      {.name = "bias", .rows = 1, .cols = 2, .offset = 2, .file_shape = {2}},
  };
  return program;
}

const std::vector<float> kFlat = {10.0F, 11.0F, 20.0F, 21.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string file_bytes(const std::string& header, const std::string& data) {
  return bytes_of(std::vector<std::uint64_t>{header.size()}) + header + data;
}

/// The entries of small_model() and their data, float32, to be changed by tests.
struct File {
  Json header = {{"att", {{"dtype", "F32"}, {"shape", {1, 2, 1}}, {"data_offsets", {0, 8}}}},
                 {"bias", {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {8, 16}}}},
                 {"lin.weight", {{"dtype", "F32"}, {"shape", {3, 2}}, {"data_offsets", {16, 40}}}}};
  std::string data =
      bytes_of(std::vector<float>{10.0F, 11.0F, 20.0F, 21.0F, 1.0F, 4.0F, 2.0F, 5.0F, 3.0F, 6.0F});

  std::string bytes() const { return file_bytes(header.dump(), data); }
};

std::vector<float> read(const std::string& bytes) {
  const TemporaryFolder folder;
  write_bytes(folder / "w.safetensors", bytes);
  std::vector<float> flat(kFlat.size(), -1.0F);
  try {
    train::read_weights_file(folder / "w.safetensors", small_model(), flat);
  } catch (...) {
    CHECK(flat == std::vector<float>(kFlat.size(), -1.0F));
    throw;
  }
  return flat;
}

void check_refused(const std::string& bytes, const char* because) {
  CHECK_THROWS_WITH_AS(read(bytes), doctest::Contains(because), halo::InputError);
}

}  // namespace

TEST_CASE("weights are written under their names, in the file's shapes, aligned") {
  const TemporaryFolder folder;
  train::write_weights_file(folder / "w.safetensors", small_model(), kFlat);
  const std::string bytes = read_bytes(folder / "w.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  CHECK(length % 8 == 0);
  const auto header = Json::parse(bytes.substr(kLengthBytes, length));
  CHECK(header["lin.weight"] == Json({{"dtype", "F32"}, {"shape", {3, 2}}, {"data_offsets", {0, 24}}}));
  CHECK(header["att"]["shape"] == Json({1, 2, 1}));
  CHECK(header["bias"]["data_offsets"] == Json({32, 40}));
  CHECK(bytes.substr(kLengthBytes + length) ==
        bytes_of(std::vector<float>{1.0F, 4.0F, 2.0F, 5.0F, 3.0F, 6.0F, 10.0F, 11.0F, 20.0F, 21.0F}));
  CHECK(read(bytes) == kFlat);
}

TEST_CASE("a file with the tensors in another order, metadata and batch counters is the same") {
  File file;
  file.header["__metadata__"] = {{"format", "pt"}};
  file.header["norm.num_batches_tracked"] = {
      {"dtype", "I64"}, {"shape", Json::array()}, {"data_offsets", {40, 48}}};
  file.data += std::string(8, '\x01');
  CHECK(read(file.bytes()) == kFlat);
}

TEST_CASE("other floating-point types are rounded to float32") {
  File file;
  // float16: 1.5, the smallest subnormal; bfloat16: -2, 1 + 2^-7; float64: 1 + 2^-30 and others.
  file.header["att"]["dtype"] = "F16";
  file.header["att"]["data_offsets"] = {0, 4};
  file.header["bias"]["dtype"] = "BF16";
  file.header["bias"]["data_offsets"] = {4, 8};
  file.header["lin.weight"]["dtype"] = "F64";
  file.header["lin.weight"]["data_offsets"] = {8, 56};
  file.data = bytes_of(std::vector<std::uint16_t>{0x3E00, 0x8001, 0xC000, 0x3F81}) +
              bytes_of(std::vector<double>{1.0 + 0x1p-30, 0.1, -3.0, 1e-50, 5.0, 6.0});
  const auto flat = read(file.bytes());
  CHECK(flat ==
        std::vector<float>{1.5F, -0x1p-24F, -2.0F, 1.0F + 0x1p-7F, 1.0F, -3.0F, 5.0F, 0.1F, 0.0F, 6.0F});
}

TEST_CASE("every tensor that is missing, too many or of another shape is named") {
  File file;
  file.header.erase("att");
  file.header["attention"] = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {0, 8}}};
  file.header["lin.weight"]["shape"] = {2, 3};
  check_refused(file.bytes(), "att [1, 2, 1] is missing");
  check_refused(file.bytes(), "attention [2] is not in the model");
  check_refused(file.bytes(), "lin.weight is [2, 3], the model has [3, 2]");
}

TEST_CASE("numbers that are not finite, or no floats, are refused") {
  File file;
  std::memcpy(file.data.data() + 4, bytes_of(std::vector<float>{HUGE_VALF}).data(), 4);
  check_refused(file.bytes(), "tensor att");
  File integers;
  integers.header["bias"]["dtype"] = "I32";
  check_refused(integers.bytes(), "F32, F64, F16 or BF16");
  File too_large;
  too_large.header["bias"]["dtype"] = "F64";
  too_large.header["bias"]["data_offsets"] = {8, 24};
  too_large.header["lin.weight"]["data_offsets"] = {24, 48};
  too_large.data.insert(8, bytes_of(std::vector<double>{1e300}));
  check_refused(too_large.bytes(), "tensor bias");
}

TEST_CASE("a damaged file is refused, whatever is damaged") {
  const File good;
  CHECK(read(good.bytes()) == kFlat);
  const auto damaged = [&](const char* tensor, const char* key, const Json& value) {
    File file;
    file.header[tensor][key] = value;
    return file.bytes();
  };
  for (std::size_t size = 0; size < good.bytes().size(); ++size) {
    CAPTURE(size);
    check_refused(good.bytes().substr(0, size), "not a whole .safetensors file");
  }
  check_refused(good.bytes() + "x", "as the header says");
  check_refused(file_bytes("[1, 2]", ""), "a damaged header");
  check_refused(file_bytes(R"({"a": 1, "a": 2})", ""), "a damaged header");
  check_refused(bytes_of(std::vector<std::uint64_t>{1ULL << 62}) + "{}", "the header's length");
  check_refused(file_bytes(R"({"a": 1})", ""), "dtype, shape, data_offsets");
  check_refused(damaged("bias", "data_offsets", {8}), "where its data begin and end");
  check_refused(damaged("bias", "data_offsets", {4, 12}), "that fills the bytes from 8 on");
  check_refused(damaged("bias", "data_offsets", {8, 20}), "that fills the bytes from 8 on");
  check_refused(damaged("bias", "dtype", "F33"), "that fills the bytes from 8 on");
  check_refused(damaged("bias", "shape", {-2}), "that fills the bytes from 8 on");
  check_refused(damaged("bias", "shape", {1LL << 40, 1LL << 40}), "that fills the bytes from 8 on");
  check_refused(damaged("bias", "shape", "2"), "dtype, shape, data_offsets");
}

TEST_CASE("a file that is not there is an input error") {
  std::vector<float> flat(kFlat.size());
  CHECK_THROWS_AS(train::read_weights_file("/nonexistent/w.safetensors", small_model(), flat),
                  halo::InputError);
  CHECK_THROWS_AS(train::read_weights_file("/tmp", small_model(), flat), halo::InputError);
}
