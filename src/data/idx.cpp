#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "sotto/core/errors.hpp"
#include "sotto/data/examples.hpp"

// A file: two zero bytes, the type of its numbers (8: bytes), how many dimensions it has, each dimension in four bytes, the greatest first,
// and the numbers. docs/decisions/0023-examples.md says why zlib.
namespace sotto {
namespace {

constexpr std::uint32_t images_of_bytes = 0x803;
constexpr std::uint32_t labels_of_bytes = 0x801;
constexpr std::uint32_t most_pixels = 1U << 24U;

class IdxFile {
 public:
  explicit IdxFile(const std::filesystem::path& path) : name_(path.string()), file_(gzopen(path.c_str(), "rbe")) {
    if (file_ == nullptr) throw EngineError("cannot read " + name_ + ": " + std::strerror(errno), "");
    gzbuffer(file_, 1U << 18U);
  }
  IdxFile(const IdxFile&) = delete;
  IdxFile& operator=(const IdxFile&) = delete;
  ~IdxFile() { gzclose_r(file_); }

  void read(unsigned char* bytes, unsigned size) {
    const int got = gzread(file_, bytes, size);
    if (got < 0) throw InvalidValue(name_ + " is damaged: what gzip packed does not unpack");
    if (static_cast<unsigned>(got) != size) throw InvalidValue(name_ + " ends before all that its head announces");
  }
  std::uint32_t number() {
    unsigned char b[4];
    read(b, 4);
    return std::uint32_t{b[0]} << 24U | std::uint32_t{b[1]} << 16U | std::uint32_t{b[2]} << 8U | b[3];
  }
  void require_end() {
    unsigned char more = 0;
    const int got = gzread(file_, &more, 1);
    if (got < 0) throw InvalidValue(name_ + " is damaged: what gzip packed does not unpack");
    int error = Z_OK;
    gzerror(file_, &error);
    if (error != Z_OK && error != Z_STREAM_END) throw InvalidValue(name_ + " ends before all that its head announces");  // within gzip's checksum
    if (got != 0) throw InvalidValue(name_ + " goes on after all that its head announces");
  }
  void require_magic(std::uint32_t magic, const char* what) {
    if (number() != magic) throw InvalidValue(name_ + " is no IDX file of " + what);
  }

 private:
  std::string name_;
  gzFile file_;
};

}  // namespace

Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::size_t classes, std::int64_t memory,
                const std::filesystem::path& scratch) {
  if (classes < 1 || classes > 256) throw InvalidValue("labels of bytes have from 1 to 256 classes");
  IdxFile pixels(images);
  pixels.require_magic(images_of_bytes, "images (bytes, three dimensions)");
  const std::uint32_t count = pixels.number();
  const std::uint32_t height = pixels.number();
  const std::uint32_t width = pixels.number();
  if (height == 0 || width == 0 || height > most_pixels / width) throw InvalidValue(images.string() + " has images of no size that sotto reads");
  IdxFile names(labels);
  names.require_magic(labels_of_bytes, "labels (bytes, one dimension)");
  if (const std::uint32_t named = names.number(); named != count) {
    throw InvalidValue(images.string() + " has " + std::to_string(count) + " images, and " + labels.string() + " " + std::to_string(named) +
                       " labels");
  }
  std::int16_t codes[256];
  for (int i = 0; i < 256; ++i) codes[i] = code_of(i, {0, 255, true});
  const std::uint32_t size = height * width;
  std::vector<unsigned char> image(size);
  Examples::Maker maker(size, memory, scratch);
  for (std::uint32_t i = 0; i < count; ++i) {
    unsigned char label = 0;
    pixels.read(image.data(), size);
    names.read(&label, 1);
    if (label >= classes) throw InvalidValue(labels.string() + " has a label that is not below " + std::to_string(classes));
    const auto row = maker.add(label);
    for (std::uint32_t j = 0; j < size; ++j) row[j] = codes[image[j]];
  }
  pixels.require_end();
  names.require_end();
  return {std::move(maker).made(), height, width};
}

}  // namespace sotto
