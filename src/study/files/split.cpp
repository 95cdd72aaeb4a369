// Splits a study in the old form, which describes its data too, into a data file and a study. Works
// line by line, to keep comments.
#include <algorithm>
#include <regex>
#include <sstream>

#include "study/api/study.hpp"

namespace sotto {
namespace {

struct Block {
  std::string header;  // "" before the first section
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const std::string& text) {
  static const std::regex header(R"(\s*(\[\[?[^\[\]]+\]\]?)\s*(#.*)?)");
  std::vector<Block> blocks{{"", {}}};
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, header)) blocks.push_back({match[1], {}});
    blocks.back().lines.push_back(line);
  }
  return blocks;
}

// Returns the key that a line sets, or an empty text.
std::string key_of(const std::string& line) {
  static const std::regex setting(R"(\s*([A-Za-z_]+)\s*=.*)");
  std::smatch match;
  return std::regex_match(line, match, setting) ? match[1].str() : "";
}

bool sets(const Block& block, const std::string& key) {
  return std::any_of(block.lines.begin(), block.lines.end(),
                     [&](const std::string& line) { return key_of(line) == key; });
}

void add(std::string& text, const Block& block, const std::string& except = "") {
  for (const std::string& line : block.lines) {
    if (except.empty() || key_of(line) != except) text += line + "\n";
  }
}

std::string value_in(const std::string& line) {
  const std::size_t open = line.find('"');
  const std::size_t close = open == std::string::npos ? open : line.find('"', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

TwoFiles split_study(const std::string& text) {
  TwoFiles files;
  std::string name = "NAME";
  std::string described;  // the keys of [data], which move to the top of the data file
  std::string limits;     // limits in [data], which move to the study
  std::string ledger;
  std::string columns;
  std::string rest;
  bool has_unit = false;
  for (const Block& block : blocks_of(text)) {
    if (block.header == "[data]") {
      has_unit = sets(block, "unit");
      for (std::size_t i = 1; i < block.lines.size(); ++i) {
        const std::string key = key_of(block.lines[i]);
        if (key == "name") name = value_in(block.lines[i]);
        (key == "groups" || key == "rows" ? limits : described) += block.lines[i] + "\n";
      }
    } else if (block.header.rfind("[columns", 0) == 0 && !sets(block, "derive")) {
      add(columns, block);
    } else if (block.header == "[budget]") {
      for (const std::string& line : block.lines) {
        if (key_of(line) == "ledger") ledger = line + "\n";
      }
      add(rest, block, "ledger");
    } else if (block.header.empty()) {
      add(files.study, block);
    } else {
      add(rest, block);
    }
  }
  while (described.size() > 1 && described[described.size() - 2] == '\n') described.pop_back();
  files.data = described + (has_unit ? "" : "unit = \"row\"\n") +
               (ledger.empty() ? "ledger = \"" + name + ".sotto\"\n" : ledger) + "\n" + columns;
  files.study += "data = \"" + name + "\"\n" + limits + "\n" + rest;
  return files;
}

}  // namespace sotto
