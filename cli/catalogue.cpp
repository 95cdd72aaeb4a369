// Where the curator's data files are: the folder that is typed, else the one in the user's configuration, never one beside a study.
#include "catalogue.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

fs::path home_folder(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set == '/') return set;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') throw InvalidValue("which catalogue? HOME is not set: type --catalogue FOLDER");
  return fs::path(home) / below_home;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Catalogue catalogue_of(const std::string& typed) {
  if (!typed.empty()) {
    if (!fs::is_directory(typed)) throw InvalidValue("--catalogue " + typed + " is no folder");
    return Catalogue(fs::absolute(typed).lexically_normal());
  }
  const fs::path configuration = home_folder("XDG_CONFIG_HOME", ".config") / "sotto" / "config.toml";
  if (fs::exists(configuration)) {
    try {
      if (const fs::path named = catalogue_in(read_file(configuration), configuration.parent_path()); !named.empty()) return Catalogue(named);
    } catch (const StudyError& error) {
      throw StudyError(configuration.string() + ": " + error.what(), 0);
    }
  }
  return Catalogue(home_folder("XDG_DATA_HOME", ".local/share") / "sotto" / "catalogue");
}

}  // namespace sotto::cli
