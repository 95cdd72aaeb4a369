// Images as an engine: writes their labels to a file in memory, which DuckDB reads.
#include "data/engines/images/engine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/engines/engines.hpp"
#include "data/engines/images/idx.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {

ImageEngine::ImageEngine(IdxSource source, std::vector<Column> columns, Limits limits)
    : source_(std::move(source)), columns_(std::move(columns)), limits_(std::move(limits)) {
  if (columns_.size() != 1 || columns_.front().type != Type::integer) {
    throw InvalidValue(
        "images have one column, their label: declare [columns.label] with type = \"integer\" and "
        "nothing else");
  }
  require_fit(source_);
}

ImageEngine::~ImageEngine() {
  labels_.reset();
  if (file_ >= 0) close(file_);
}

Engine& ImageEngine::labels() const {
  if (labels_) return *labels_;
  std::string name;  // with doubled quotes, for the header of a CSV file
  for (const char c : columns_.front().name)
    name += c == '"' ? std::string("\"\"") : std::string(1, c);
  std::string text = "\"" + name + "\"\n";
  for (const unsigned char label : read_labels(source_)) text += std::to_string(label) + "\n";
  file_ = memfd_create("labels", MFD_CLOEXEC);
  std::size_t done = 0;
  while (file_ >= 0 && done < text.size()) {
    const ssize_t wrote = write(file_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  if (done < text.size())
    throw EngineError(
        std::string("cannot store the labels of the images in memory: ") + std::strerror(errno),
        "");
  const FileSource rows{
      .path = "/proc/self/fd/" + std::to_string(file_), .format = "csv", .records = "lines"};
  labels_ = open_duckdb(rows, columns_, limits_);
  return *labels_;
}

}  // namespace sotto::data_detail
