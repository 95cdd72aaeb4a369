// Reads images and labels in the IDX format.
#include "data/engines/images/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "data/records/file.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/examples.hpp"

// An IDX file has two zero bytes, the type of its numbers (8: bytes), the number of its dimensions,
// each dimension in four bytes (big-endian), and the numbers. docs/decisions/0023-examples.md says
// why zlib reads it.
namespace sotto {
namespace {

constexpr std::uint32_t images_of_bytes = 0x803;
constexpr std::uint32_t labels_of_bytes = 0x801;
constexpr std::uint32_t most_pixels = 1U << 24U;
constexpr const char* corrupt = ": corrupt gzip stream; copy the file again";
constexpr const char* truncated = " is shorter than its header says: copy it again";

/// An IDX file, compressed by gzip or not. All errors name the file.
class IdxFile {
 public:
  explicit IdxFile(const std::filesystem::path& path)
      : name_(path.string()), source_(path), file_(gzopen(source_.path_again().c_str(), "rbe")) {
    if (file_ == nullptr)
      throw EngineError("cannot read " + name_ + ": " + std::strerror(errno), "");
    gzbuffer(file_, 1U << 18U);
  }
  IdxFile(const IdxFile&) = delete;
  IdxFile& operator=(const IdxFile&) = delete;
  ~IdxFile() { gzclose_r(file_); }

  void read(unsigned char* bytes, unsigned size) {
    const int count = gzread(file_, bytes, size);
    if (count < 0) throw InvalidValue(name_ + corrupt);
    if (static_cast<unsigned>(count) != size) throw InvalidValue(name_ + truncated);
  }
  std::uint32_t number() {
    unsigned char b[4];
    read(b, 4);
    return std::uint32_t{b[0]} << 24U | std::uint32_t{b[1]} << 16U | std::uint32_t{b[2]} << 8U |
           b[3];
  }
  void require_end() {
    unsigned char more = 0;
    const int count = gzread(file_, &more, 1);
    if (count < 0) throw InvalidValue(name_ + corrupt);
    int error = Z_OK;
    gzerror(file_, &error);
    if (error != Z_OK && error != Z_STREAM_END)
      throw InvalidValue(name_ + truncated);  // within gzip's checksum
    if (count != 0) throw InvalidValue(name_ + " is longer than its header says: copy it again");
    source_.require_unchanged();
  }
  void require_magic(std::uint32_t magic, const char* what) {
    if (number() != magic) throw InvalidValue(name_ + " is not an IDX file of " + what);
  }

 private:
  std::string name_;
  data_detail::File source_;
  gzFile file_;
};

// The class of a label that is not in the list. Its images are skipped.
constexpr std::int16_t no_class = -1;

// A file of images with its file of labels, if there is one, after their headers.
struct IdxPair {
  IdxPair(const std::filesystem::path& image_file, const std::filesystem::path& label_file)
      : pixels(image_file) {
    pixels.require_magic(images_of_bytes, "images (bytes, three dimensions)");
    count = pixels.number();
    height = pixels.number();
    width = pixels.number();
    if (height == 0 || width == 0 || height > most_pixels / width) {
      throw InvalidValue(image_file.string() + " has images of " + std::to_string(height) + " x " +
                         std::to_string(width) +
                         " pixels: at least 1, and at most 2^24, can be read");
    }
    labelled = count;
    if (label_file.empty()) return;
    names.emplace(label_file);
    names->require_magic(labels_of_bytes, "labels (bytes, one dimension)");
    labelled = names->number();
  }
  IdxFile pixels;
  std::optional<IdxFile> names;
  std::uint32_t count, height, width, labelled;
};

template <class Classify>
Examples read_pairs(IdxPair& pair, const Classify& class_of, std::int64_t memory,
                    const std::filesystem::path& scratch, const Progress& progress) {
  std::int16_t codes[256];
  for (int i = 0; i < 256; ++i) codes[i] = code_of(i, {0, 255, true});
  const std::uint32_t size = pair.height * pair.width;
  std::vector<unsigned char> image(size);
  Examples::Builder builder(size, memory, scratch);
  for (std::uint32_t i = 0; i < pair.count; ++i) {
    unsigned char label = 0;
    pair.pixels.read(image.data(), size);
    if (pair.names) pair.names->read(&label, 1);
    const std::int16_t image_class = class_of(label);
    if (image_class == no_class) continue;
    const auto row = builder.add(image_class);
    for (std::uint32_t j = 0; j < size; ++j) row[j] = codes[image[j]];
    if (progress && i % 1024 == 0 && !progress(static_cast<double>(i) / pair.count))
      throw EngineError("stopped", "");
  }
  pair.pixels.require_end();
  if (pair.names) pair.names->require_end();
  return std::move(builder).build();
}

}  // namespace

Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                std::size_t classes, std::int64_t memory, const std::filesystem::path& scratch) {
  if (classes < 1 || classes > 256)
    throw InvalidValue("classes = " + std::to_string(classes) +
                       " is not allowed: labels are bytes, with 1 to 256 classes");
  IdxPair pair(images, labels);
  if (pair.labelled != pair.count) {
    throw InvalidValue(images.string() + " has " + std::to_string(pair.count) + " images, and " +
                       labels.string() + " has " + std::to_string(pair.labelled) +
                       " labels: they must be files of the same images");
  }
  const auto class_of = [&](unsigned char label) {
    if (label >= classes)
      throw InvalidValue(labels.string() + " has a label that is not below " +
                         std::to_string(classes) + ", the number of classes");
    return static_cast<std::int16_t>(label);
  };
  Examples examples = read_pairs(pair, class_of, memory, scratch, {});
  return {std::move(examples), pair.height, pair.width};
}

namespace data_detail {

void require_fit(const IdxSource& source) {
  const IdxPair pair(source.images, source.labels);
  if (pair.height != source.height || pair.width != source.width) {
    throw InvalidValue(source.images.string() + " has images of " + std::to_string(pair.height) +
                       " x " + std::to_string(pair.width) +
                       " pixels, and the data file declares size = [" +
                       std::to_string(source.height) + ", " + std::to_string(source.width) + "]");
  }
  if (pair.labelled != pair.count) {  // the numbers may be secret: only the detail has them
    throw EngineError(
        "the files of images and of labels do not have the same number of entries",
        std::to_string(pair.count) + " images, " + std::to_string(pair.labelled) + " labels");
  }
}

std::vector<unsigned char> read_labels(const IdxSource& source) {
  require_fit(source);
  IdxPair pair(source.images, source.labels);
  if (!pair.names) throw EngineError("the data file names no `labels` for these images", "");
  std::vector<unsigned char> labels;
  while (labels.size() <
         pair.count) {  // in steps: a wrong count reaches the file's end before it exhausts memory
    const std::size_t start = labels.size();
    labels.resize(std::min<std::size_t>(start + most_pixels, pair.count));
    pair.names->read(labels.data() + start, static_cast<unsigned>(labels.size() - start));
  }
  pair.names->require_end();
  return labels;
}

Examples read_images(const IdxSource& source, const std::vector<Value>& labels,
                     const Limits& limits, const Progress& progress) {
  require_fit(source);
  if (!labels.empty() && source.labels.empty())
    throw InvalidValue("the data file names no `labels` for these images");
  std::vector<std::int16_t> classes(256, labels.empty() ? std::int16_t{0} : no_class);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto* label = std::get_if<std::int64_t>(&labels[i]);
    if (label == nullptr || *label < 0 || *label > 255)
      throw InvalidValue(
          "a value of the label is not an integer from 0 to 255: labels of images are bytes");
    classes[static_cast<std::size_t>(*label)] = static_cast<std::int16_t>(i);
  }
  IdxPair pair(source.images, source.labels);
  return read_pairs(
      pair, [&](unsigned char label) { return classes[label]; }, limits.memory, limits.scratch,
      progress);
}

}  // namespace data_detail

}  // namespace sotto
