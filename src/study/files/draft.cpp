// Writes first drafts of data files and studies for people to edit.
#include "study/api/draft.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "accounting/api/currencies.hpp"
#include "data/api/inspect.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

std::string quoted_text(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      all += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      std::array<char, 8> code{};
      (void)std::snprintf(code.data(), code.size(), "\\u%04X",
                          static_cast<unsigned>(static_cast<unsigned char>(c)));
      all += code.data();
    } else {
      all += c;
    }
  }
  return all + "\"";
}

// Returns a name as a TOML key, in quotes if needed.
std::string key(const std::string& name) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), bare) ? name : quoted_text(name);
}

std::string number(double x) { return shortest(x); }

std::string constant(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return number(*real);
  return quoted_text(std::get<std::string>(value));
}

bool is_number(const StudyColumn& column) {
  return column.type == Type::integer || column.type == Type::real;
}

void setting(std::string& text, const std::string& name, const std::string& value,
             const std::string& why = "") {
  std::string line = name + " = " + value;
  if (!why.empty()) {
    line.resize(std::max<std::size_t>(line.size() + 1, 30), ' ');
    line += "# " + why;
  }
  text += line + "\n";
}

void add_column(std::string& text, const StudyColumn& column, bool is_unit) {
  text += "\n[columns." + key(column.name) + "]\n";
  setting(text, "type", quoted_text(name_of(column.type)));
  setting(text, "null",
          column.if_null ? "{ value = " + constant(*column.if_null) + " }" : "\"drop\"");
  if (is_unit) return;
  if (column.lower) {
    setting(text, "bounds", "[" + number(*column.lower) + ", " + number(*column.upper) + "]");
  } else if (is_number(column)) {
    setting(text, "# bounds", "[0, 100]",
            "from public knowledge, never from the data; sums, means and histograms need it");
  }
  if (column.type == Type::boolean) return;
  if (!column.values.empty()) {
    std::string list;
    for (const Value& value : column.values) list += (list.empty() ? "" : ", ") + constant(value);
    setting(text, "values", "[" + list + "]");
  } else if (column.type == Type::text) {
    setting(text, "# values", "[\"one\", \"two\"]",
            "if they are public; else a study uses keys = \"private\"");
  }
}

std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + quoted_text(word);
  return "[" + list + "]";
}

struct QueryDraft {
  std::string name, ask, of, by;
  bool private_keys = false;
};

std::string query(const QueryDraft& q) {
  std::string text = "\n[[query]]\n";
  setting(text, "name", quoted_text(q.name));
  setting(text, "ask", quoted_text(q.ask));
  if (!q.of.empty()) setting(text, "of", quoted_text(q.of));
  if (!q.by.empty()) setting(text, "by", "[" + quoted_text(q.by) + "]");
  if (q.private_keys)
    setting(text, "keys", "\"private\"", "which keys exist is secret, too: rare keys stay hidden");
  return text;
}

std::string commented(const std::string& text) {
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    all += line.empty() ? "\n" : "# " + line + "\n";
  return all;
}

// Returns the first column except the unit's for which `fits` holds; null if there is none.
template <class Predicate>
const StudyColumn* first(const DataFile& data, Predicate fits) {
  const auto it = std::find_if(data.columns.begin(), data.columns.end(), [&](const StudyColumn& c) {
    return c.name != data.unit && fits(c);
  });
  return it == data.columns.end() ? nullptr : &*it;
}

// Returns a tenth of x, rounded down to two digits.
std::string tenth(double x) { return rounded(x / 10, 2, Side::lower); }

// Writes the limits of a unit. A limit that `chosen` lacks is commented out: the study is refused
// until a person chooses it.
void add_limits(std::string& text, const std::string& unit, const UnitLimit& chosen) {
  if (!chosen.groups || !chosen.rows) {
    text += "\n# Choose how much of each " + unit +
            " counts, from public knowledge, and remove the #. Rows and groups above\n"
            "# the limit are left out; a higher limit needs more noise.\n";
  }
  const auto add = [&text](const std::string& name, const std::optional<std::int64_t>& number,
                           const std::string& why) {
    setting(text, number ? name : "# " + name, number ? std::to_string(*number) : "1", why);
  };
  add("groups", chosen.groups, "each " + unit + " counts in at most so many groups of a query,");
  add("rows", chosen.rows, "and with at most so many rows in each");
}

// Writes the budget, a tenth of the ledger's. Returns the ledger's δ, which private keys need.
double add_budget(std::string& text, const Budget& budget) {
  text += "\n[budget]\n";
  if (const auto* b = std::get_if<ApproximateBudget>(&budget)) {
    setting(text, "epsilon", tenth(b->epsilon), "a tenth of the ledger's");
    if (b->delta > 0) setting(text, "delta", tenth(b->delta));
    return b->delta;
  }
  if (const auto* b = std::get_if<ZcdpBudget>(&budget)) {
    setting(text, "rho", tenth(b->rho), "a tenth of the ledger's");
    if (b->delta > 0) setting(text, "delta", tenth(b->delta));
    return b->delta;
  }
  if (const auto* b = std::get_if<GdpBudget>(&budget); b != nullptr && b->mu > 0) {
    const Delta delta = promised_delta(budget);
    const std::string promise =
        "the budget, which promises ε = " +
        rounded(promise_of(budget, Relation::as_stated).epsilon * (1 - 1e-12), 4, Side::upper);
    const double epsilon =
        epsilon_of(gaussian_profile(b->mu / std::sqrt(10.0)), delta.value(), Side::lower);
    setting(text, "epsilon", rounded(epsilon, 2, Side::lower),
            "with this delta about 10 % of " + promise);
    setting(text, "delta", shortest(delta.value()));
    return b->delta;
  }
  setting(text, "epsilon", "0.1");
  setting(text, "delta", "1e-7");
  return 0;
}

}  // namespace

std::string draft_data_file(const DataFile& data) {
  std::string text =
      "# The curator's description of these data. A study refers to it by its name only.\n";
  setting(text, "name", quoted_text(data.name));
  setting(text, "version", quoted_text(data.version),
          "change it when the data change: a new version is charged anew");
  if (const auto* file = std::get_if<FileSource>(&data.source)) {
    setting(text, "source", quoted_text(file->path.string()));
    if (!file->format.empty()) setting(text, "format", quoted_text(file->format));
    if (!file->records.empty()) {
      setting(text, "records", quoted_text(file->records),
              file->records == "lines" ? "each line is a record"
                                       : "a field in quotes may hold line ends");
    }
    if (!file->delimiter.empty()) setting(text, "delimiter", quoted_text(file->delimiter));
    if (!file->names.empty())
      setting(text, "names", list_of(file->names),
              "the file has no header: all its columns, in their order");
    if (!file->null_text.empty())
      setting(text, "null_text", list_of(file->null_text), "texts that stand for a missing value");
  } else if (const auto* table = std::get_if<PostgresSource>(&data.source)) {
    setting(text, "postgresql", quoted_text(table->connection));
    setting(text, "table", quoted_text(table->table));
  } else if (const auto* spark = std::get_if<SparkSource>(&data.source)) {
    setting(text, "spark", quoted_text(spark->connection));
    if (!spark->table.empty()) setting(text, "table", quoted_text(spark->table));
    if (!spark->path.empty()) setting(text, "path", quoted_text(spark->path));
    if (!spark->format.empty()) setting(text, "format", quoted_text(spark->format));
    if (!spark->token.empty())
      setting(text, "token", quoted_text(spark->token.string()),
              "a file that only its owner can read");
    if (!spark->authority.empty())
      setting(text, "authority", quoted_text(spark->authority.string()), "vouches for the server");
  } else {
    const auto& images = std::get<IdxSource>(data.source);
    setting(text, "images", quoted_text(images.images.string()));
    setting(text, "labels", quoted_text(images.labels.string()));
    setting(text, "size",
            "[" + std::to_string(images.height) + ", " + std::to_string(images.width) + "]");
  }
  if (trims(data.source)) setting(text, "trim", "true", "blanks at the ends of texts are left out");
  setting(text, "unit", quoted_text(data.unit),
          data.unit == "row" ? "each row is protected by itself"
                             : "all rows of one are protected together");
  if (data.unit_label != data.unit && !data.unit_label.empty())
    setting(text, "unit_label", quoted_text(data.unit_label));
  if (!data.publisher.empty())
    setting(text, "publisher", quoted_text(data.publisher), "who publishes reports");
  if (data.public_rows) setting(text, "public_rows", number(*data.public_rows));
  setting(text, "ledger", quoted_text(data.ledger));
  if (!data.key.empty())
    setting(text, "key", quoted_text(data.key.string()),
            "signs what is charged; keep it where the ledger's readers do not come");
  if (!data.witness.empty()) setting(text, "witness", quoted_text(data.witness));
  for (const StudyColumn& column : data.columns) add_column(text, column, column.name == data.unit);
  return text;
}

std::string draft_study(const DataFile& data, const Budget& budget, const UnitLimit& chosen) {
  std::string text = "# An analyst's study: queries, and the budget to spend on them.\n";
  setting(text, "title", quoted_text("A first look at " + data.name));
  setting(text, "data", quoted_text(data.name));
  if (data.unit != "row") {
    add_limits(text, data.unit_label, chosen);
  }
  const double delta = add_budget(text, budget);

  text += query({"rows", "count", "", ""});
  if (data.unit != "row") text += query({"distinct " + data.unit_label, "distinct", "", ""});
  const StudyColumn* listed =
      first(data, [](const StudyColumn& c) { return !c.values.empty() && c.type != Type::real; });
  if (listed != nullptr) text += query({"rows by " + listed->name, "count", "", listed->name});
  const StudyColumn* unlisted =
      first(data, [](const StudyColumn& c) { return c.values.empty() && c.type == Type::text; });
  if (unlisted != nullptr) {
    const std::string by_private =
        query({"rows by " + unlisted->name, "count", "", unlisted->name, true});
    text += delta > 0
                ? by_private
                : "\n# Private keys need a delta, in the ledger and here." + commented(by_private);
  }
  const StudyColumn* bounded =
      first(data, [](const StudyColumn& c) { return c.lower.has_value(); });
  const StudyColumn* numeric = bounded != nullptr ? bounded : first(data, is_number);
  if (numeric != nullptr) {
    const std::string& of = numeric->name;
    std::string about;
    if (bounded == nullptr)
      about = "\n[columns." + key(of) + "]\n" +
              "bounds = [0, 100]             # what is publicly known; values outside are moved to "
              "the nearest\n";
    about += query({"mean " + of, "mean", of, ""}) + query({"sum of " + of, "sum", of, ""}) +
             query({"spread of " + of, "deviation", of, ""}) +
             query({"histogram of " + of, "histogram", of, ""}) +
             query({"quartiles of " + of, "quantiles", of, ""}) + "quantiles = [0.25, 0.5, 0.75]\n";
    text += bounded != nullptr
                ? about
                : "\n# With bounds, the data file's or these, remove the # before:\n" +
                      commented(about);
  }
  return text;
}

}  // namespace sotto
