// The catalogue is the folder that was typed, else the one in the user's configuration; it is never
// looked for next to a study, which an analyst may have written.
#include "catalogue.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/api/file.hpp"
#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

fs::path home_folder(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set == '/') return set;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/')
    throw InvalidValue(
        "there is no default catalogue, because HOME is not set: type --catalogue FOLDER");
  return fs::path(home) / below_home;
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  try {
    return read_text_file(path, most);
  } catch (const FileError& error) {
    if (error.is_absent())
      throw std::runtime_error("cannot read " + path + ": is it there, and may you read it?");
    throw;
  }
}

Catalogue catalogue_of(const std::string& typed) {
  if (!typed.empty()) {
    if (fs::exists(typed) && !fs::is_directory(typed)) {
      throw InvalidValue("--catalogue " + typed +
                         " is a file, and the catalogue is a folder: type --catalogue FOLDER");
    }
    return Catalogue(fs::absolute(typed).lexically_normal());
  }
  const fs::path configuration =
      home_folder("XDG_CONFIG_HOME", ".config") / "sotto" / "config.toml";
  if (fs::exists(configuration)) {
    try {
      if (const fs::path named =
              catalogue_in(read_file(configuration), configuration.parent_path());
          !named.empty())
        return Catalogue(named);
    } catch (const StudyError& error) {
      throw StudyError(configuration.string() + ": " + error.what(), 0);
    }
  }
  return Catalogue(home_folder("XDG_DATA_HOME", ".local/share") / "sotto" / "catalogue");
}

namespace {

// Returns the names of the studies in the folder of `path`, sorted.
std::vector<std::string> studies_near(const fs::path& path) {
  std::vector<std::string> studies;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(
           path.has_parent_path() ? path.parent_path() : fs::path("."), ignored)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".toml" && !name.ends_with(".data.toml"))
      studies.push_back(name);
  }
  std::sort(studies.begin(), studies.end());
  return studies;
}

// Returns what to type when no study file exists at `path`.
std::string message_for_absent(const fs::path& path, const Catalogue& catalogue) {
  const std::string name = path.filename().string();
  const std::string stem = path.stem().string();
  const std::vector<std::string> data = catalogue.names();
  const bool is_data = std::find(data.begin(), data.end(), name) != data.end();
  const std::vector<std::string> studies = studies_near(path);
  const std::string what =
      is_data
          ? "\"" + name + "\" is the name of data, and `run` takes the file of a study about them"
          : "there is no file " + path.string();
  std::string near = closest(name, studies);
  if (near.empty()) {  // the name may lack its extension
    const auto it = std::find_if(studies.begin(), studies.end(), [&](const std::string& one) {
      return same_folded(fs::path(one).stem().string(), stem);
    });
    if (it != studies.end()) near = *it;
  }
  const std::string there = near.empty() ? studies.empty() ? "" : "; here are: " + join(studies)
                                         : "; did you mean " + near + "?";
  const std::string about = is_data ? name : data.size() == 1 ? data.front() : "DATA";
  return what + there + "\ntype: " +
         (near.empty() ? "" : "sotto run " + (path.parent_path() / near).string() + ", or ") +
         "sotto study init " + about + " " +
         (path.extension() == ".toml" ? path.string() : "study.toml") + ", which writes one";
}

// Whether the extension is one of files of data, not of studies.
bool is_table(const fs::path& path) {
  static const std::vector<std::string> endings{".csv",    ".tsv", ".parquet", ".json", ".jsonl",
                                                ".ndjson", ".gz",  ".zip",     ".xlsx", ".data"};
  return std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end();
}

}  // namespace

std::string read_study(const std::string& path, const Catalogue& catalogue) {
  if (fs::is_directory(path))
    throw InvalidValue(path + " is a folder, and a study is a file\ntype: sotto run " +
                       (fs::path(path) / "study.toml").string());
  if (!fs::exists(path)) throw InvalidValue(message_for_absent(path, catalogue));
  if (is_table(path)) {
    throw InvalidValue(
        path + " is a file of data, and `run` takes a study about data\ntype: sotto data init " +
        path + ", then sotto study init NAME, then sotto run study.toml");
  }
  return read_file(path);
}

void require_folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  if (folder.empty() || fs::is_directory(folder)) return;
  throw InvalidValue("cannot write " + file + ": there is no folder " + folder.string() +
                     "\ntype: mkdir -p " + folder.string());
}

LedgerPlace ledger_place(const std::string& typed, const std::string& catalogue) {
  static const std::vector<std::string> endings{".csv",     ".tsv",  ".json", ".jsonl",
                                                ".parquet", ".toml", ".key"};
  const std::string ending = fs::path(typed).extension().string();
  if (fs::is_regular_file(typed) &&
      std::find(endings.begin(), endings.end(), ending) != endings.end()) {
    throw InvalidValue(typed +
                       " is not a ledger\ntype: the name of data as `sotto data list` shows it, or "
                       "a ledger's path, such as people.sotto");
  }
  const bool is_place =
      fs::is_regular_file(typed) || typed.find('/') != std::string::npos || !is_data_name(typed);
  if (is_place) return {.place = typed};
  const Catalogue known = catalogue_of(catalogue);
  const std::vector<std::string> names = known.names();
  if (std::find(names.begin(), names.end(), typed) == names.end()) {
    const std::string there =
        names.empty()
            ? "which is empty"
            : suggestion(typed.ends_with(".sotto") ? fs::path(typed).stem().string() : typed,
                         names);
    throw InvalidValue(
        "there is no ledger file " + typed + ", and no data of this name in the catalogue " +
        known.folder().string() + (names.empty() ? ", " : "; ") + there +
        "\ntype: the name of data as `sotto data list` shows it, or a ledger's path");
  }
  const DataFile data = known.find(typed);
  require_ledger(data);
  return {.place = data.ledger, .key = data.key.string(), .witness = data.witness};
}

void require_ledger(const DataFile& data) {
  if (data.is_public)
    throw InvalidValue("\"" + data.name + "\" are public data, which have no ledger and need none");
  if (data.ledger.find("://") != std::string::npos || fs::exists(data.ledger)) return;
  throw LedgerError("the ledger of \"" + data.name + "\" is not at " + data.ledger +
                    ": if it was moved, correct `ledger` in the data file; if these data never had "
                    "one, type: sotto data ledger " +
                    data.name + " --epsilon E --delta D");
}

}  // namespace sotto::cli
