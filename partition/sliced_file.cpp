#include "sliced_file.hpp"

#include <utility>

namespace halo::partition {

SlicedFile::SlicedFile(const SliceTarget& target, const std::string& name, const std::string& dtype,
                       std::vector<std::int64_t> shape)
    : path_(target.folder / name), interrupt_(target.interrupt), writer_(path_, dtype, shape) {
  record_.file.name = name;
  record_.file.dtype = dtype;
  record_.file.shape = std::move(shape);
}

SlicedRecord SlicedFile::finish() {
  writer_.finish();
  record_.file.bytes = static_cast<std::int64_t>(std::filesystem::file_size(path_));
  return std::move(record_);
}

}  // namespace halo::partition
