// Loads libduckdb.so after a check of its SHA-256 and version.
#include "data/engines/duckdb/library.hpp"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/file.hpp"
#include "core/api/hexadecimal.hpp"

namespace sotto::duckdb {
namespace {

std::unique_ptr<Library>
    the_library;  // one in a process, never unloaded: DuckDB's threads may outlive an engine

constexpr std::string_view series = "v1.4.";  // the versions with the C interface of the header
constexpr std::string_view listed = SOTTO_DUCKDB_HASHES;  // of cmake/duckdb.sha256

std::optional<RegularFile> opened(const std::filesystem::path& path) {
  try {
    return RegularFile(path);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

std::string sha256(int file) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> bytes(std::size_t{1} << 20U);
  for (ssize_t count = 1; good && count > 0;) {
    count = read(file, bytes.data(), bytes.size());
    good = count >= 0 &&
           EVP_DigestUpdate(context.get(), bytes.data(), static_cast<std::size_t>(count)) == 1;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (!good || EVP_DigestFinal_ex(context.get(), digest, &length) != 1)
    throw EngineError("libduckdb.so cannot be read or hashed", "");
  return hexadecimal({digest, length});
}

std::vector<std::filesystem::path> candidates(const std::filesystem::path& path) {
  if (!path.empty()) return {path};
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return {here.parent_path() / "lib/sotto/libduckdb.so", "/usr/local/lib/sotto/libduckdb.so",
          "/usr/lib/sotto/libduckdb.so"};
}

// Opens, hashes and loads the same file by its descriptor, so that another file at its path changes
// nothing.
void* find(const Limits& limits) {
  for (const auto& candidate : candidates(limits.duckdb)) {
    std::error_code ignored;
    const auto file = opened(std::filesystem::absolute(candidate, ignored));
    if (!file) continue;
    const std::string hash = sha256(file->descriptor());
    if (listed.find(hash) == std::string_view::npos && !limits.any_duckdb) {
      throw EngineError(
          candidate.string() + " is not a DuckDB that sotto knows: its SHA-256 is " + hash, "",
          Remedy::known_duckdb | Remedy::any_duckdb);
    }
    if (void* handle = dlopen(("/proc/self/fd/" + std::to_string(file->descriptor())).c_str(),
                              RTLD_LAZY | RTLD_LOCAL))
      return handle;
    throw EngineError(candidate.string() + " cannot be loaded", dlerror(), Remedy::known_duckdb);
  }
  throw EngineError("DuckDB, which reads files of data and tables in memory, is not installed", "",
                    Remedy::known_duckdb);
}

template <typename Function>
void resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    throw EngineError(std::string("libduckdb.so lacks the function ") + name +
                          ": it is not DuckDB " + std::string(series) + "x",
                      name, Remedy::known_duckdb);
}

std::unique_ptr<Library> resolved(void* handle) {
  auto library = std::make_unique<Library>();
#define SOTTO_RESOLVE(name) resolve(handle, "duckdb_" #name, library->name);
  SOTTO_DUCKDB_FUNCTIONS(SOTTO_RESOLVE)
#undef SOTTO_RESOLVE
  const std::string version = library->library_version();
  if (!version.starts_with(series)) {
    throw EngineError(
        "sotto needs DuckDB " + std::string(series) + "x, and libduckdb.so is " + version, "",
        Remedy::known_duckdb);
  }
  return library;
}

}  // namespace

const Library& load(const Limits& limits) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!the_library) the_library = resolved(find(limits));
  return *the_library;
}

const Library& loaded() { return *the_library; }

}  // namespace sotto::duckdb
