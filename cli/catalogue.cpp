// Where the curator's data files are: the folder that is typed, else the one in the user's configuration, never one beside a study.
#include "catalogue.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "sotto/core/errors.hpp"
#include "sotto/core/suggestion.hpp"
#include "sotto/ledger/ledger.hpp"

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
    if (fs::exists(typed) && !fs::is_directory(typed)) {
      throw InvalidValue("--catalogue " + typed + " is a file, and the catalogue is a folder: type --catalogue FOLDER");
    }
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

LedgerPlace ledger_place(const std::string& typed, const std::string& catalogue) {
  const bool is_place = fs::is_regular_file(typed) || typed.find('/') != std::string::npos || !is_data_name(typed);
  if (is_place) return {.place = typed};
  const Catalogue known = catalogue_of(catalogue);
  const std::vector<std::string> names = known.names();
  if (std::find(names.begin(), names.end(), typed) == names.end()) {
    const std::string there =
        names.empty() ? "which is empty" : suggestion(typed.ends_with(".sotto") ? fs::path(typed).stem().string() : typed, names);
    throw InvalidValue("there is no ledger file " + typed + ", and no data of this name in the catalogue " + known.folder().string() +
                       (names.empty() ? ", " : "; ") + there + "\ntype: the name of data as `sotto data list` shows it, or a ledger's path");
  }
  const DataFile data = known.find(typed);
  require_ledger(data);
  return {.place = data.ledger, .key = data.key.string(), .witness = data.witness};
}

void require_ledger(const DataFile& data) {
  if (data.is_public) throw InvalidValue("\"" + data.name + "\" are public data, which have no ledger");
  if (data.ledger.find("://") != std::string::npos || fs::exists(data.ledger)) return;
  throw LedgerError("the ledger of \"" + data.name + "\" is not at " + data.ledger +
                    ": if it was moved, correct `ledger` in the data file; if these data never had one, type: sotto data ledger " + data.name +
                    " --epsilon E --delta D");
}

}  // namespace sotto::cli
