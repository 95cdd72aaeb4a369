// sotto predict: applies a trained model to rows.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <memory>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "core/api/file.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "data/api/inspect.hpp"
#include "report/api/csv.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/model_file.hpp"

namespace sotto::cli {
namespace {

struct Arguments : OutputArguments {
  std::string model, data, labels, records, duckdb, signer;
  std::vector<std::string> show;
  bool test = false, any_duckdb = false;
};

// Says how good the predictions are, if the data have the true values.
std::string score(const std::vector<Prediction>& predictions, bool classes) {
  double known = 0;
  double right = 0;
  double square = 0;
  for (const Prediction& p : predictions) {
    if (p.right) {
      ++known;
      right += *p.right ? 1 : 0;
    }
    if (p.off) {
      ++known;
      square += *p.off * *p.off;
    }
  }
  if (known == 0) return "no row has both a prediction and a true value";
  if (classes)
    return "right in " + rounded(100 * right / known, 4, Side::lower) + " % of " + shortest(known) +
           " rows";
  return "the root of the mean squared error is " +
         rounded(std::sqrt(square / known), 4, Side::upper) + ", over " + shortest(known) + " rows";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(cells[i]);
  return line + "\n";
}

std::string as_csv(const std::vector<Column>& columns, const std::vector<Prediction>& predictions,
                   const ModelFile& file) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  names.push_back("predicted_" + file.model.target);
  names.emplace_back("probability");
  std::string text = csv_row(names);
  for (const Prediction& p : predictions) {
    std::vector<std::string> cells = p.inputs;
    cells.push_back(p.value);
    cells.push_back(p.probability ? rounded(*p.probability, 6, Side::lower) : "");
    text += csv_row(cells);
  }
  return text;
}

std::string as_json(const std::vector<Column>& columns, const std::vector<Prediction>& predictions,
                    const ModelFile& file, bool test) {
  Json json;
  json["schema"] = "sotto.predict/1";
  json["target"] = file.model.target;
  json["privacy"] = file.statement;
  json["signer"] = file.signer;
  if (test) json["score"] = score(predictions, is_of_classes(file));
  json["rows"] = Json::array();
  for (const Prediction& p : predictions) {
    Json row;
    for (std::size_t c = 0; c < columns.size(); ++c) row[columns[c].name] = p.inputs[c];
    row["prediction"] = p.value;
    if (p.probability) row["probability"] = *p.probability;
    json["rows"].push_back(std::move(row));
  }
  return json.dump() + "\n";
}

// Requires the key of --signer, if it was typed: a valid signature alone does not say who trained
// the model.
void require_signer(const ModelFile& file, const std::string& typed) {
  if (typed.empty()) return;
  std::string key = typed;
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (key.size() != 64 || key.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw InvalidValue("--signer " + typed +
                       " is not a key: type its 64 hexadecimal digits; a ledger's keys are in the "
                       "first line of `sotto ledger export`");
  }
  if (key != file.signer)
    throw InvalidValue("the model was signed by " + file.signer +
                       ", not by the key of --signer: do not trust it, or type that key");
}

ModelFile read_model(const std::string& path) {
  try {
    return read_model_file(read_file(path, max_generated_file_size));
  } catch (const InvalidValue& error) {
    throw InvalidValue(path + ": " + error.what() +
                       "\ntype: sotto predict MODEL DATA, where MODEL is a file that `sotto run "
                       "STUDY --models FOLDER` wrote");
  }
}

void run_predict(const Arguments& arguments) {
  const ModelFile file = read_model(arguments.model);
  require_signer(file, arguments.signer);
  Source source = FileSource{.path = arguments.data, .format = {}, .records = arguments.records};
  if (file.model.image) {
    if (arguments.test && arguments.labels.empty())
      throw InvalidValue("--test compares with the labels: type --labels FILE");
    source = IdxSource{.images = arguments.data,
                       .labels = arguments.labels,
                       .height = file.model.image->height,
                       .width = file.model.image->width};
  } else if (!arguments.labels.empty()) {
    throw InvalidValue("--labels goes with images, and this model reads tables: leave it out");
  }
  ToPredict what{arguments.test, {}};
  if (!arguments.show.empty()) {
    if (file.model.image)
      throw InvalidValue(
          "--show goes with tables, and this model reads images, which have no columns: leave it "
          "out");
    const auto present = infer_columns(source);
    for (const std::string& name : arguments.show) {
      const auto it = std::find_if(present.begin(), present.end(),
                                   [&](const auto& column) { return column.name == name; });
      if (it == present.end())
        throw InvalidValue("--show: " + arguments.data + " has no column \"" + name + "\"");
      what.display.push_back({it->name, it->type});
    }
  }
  const auto columns = columns_to_predict(file, what);
  Limits limits;
  limits.duckdb = arguments.duckdb;
  limits.any_duckdb = arguments.any_duckdb;
  const auto engine = open_engine(source, columns, limits);
  const auto predictions = predict(file, *engine, what);
  if (format_of(arguments) == Format::json) {
    std::cout << as_json(columns, predictions, file, arguments.test) << std::flush;
  } else {
    std::cout << as_csv(columns, predictions, file) << std::flush;
  }
  if (arguments.quiet) return;
  if (arguments.test) say(score(predictions, is_of_classes(file)));
  say("the model has " + file.statement);
  say("signed by " + file.signer +
      (arguments.signer.empty() ? "; --signer KEY refuses models of any other key"
                                : ", the key of --signer"));
}

}  // namespace

void add_predict(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("predict", "Apply a trained model to the rows of a file",
                         "Examples:\n"
                         "  sotto predict income.model.json people.csv\n"
                         "  sotto predict income.model.json public.csv --test\n"
                         "  sotto predict income.model.json people.csv --signer "
                         "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c\n"
                         "  sotto predict digits.model.json t10k-images-idx3-ubyte.gz --labels "
                         "t10k-labels-idx1-ubyte.gz --test\n"
                         "\n"
                         "Applies a model that `sotto run --models` wrote to the rows of a file. "
                         "Checks the model's signature, prints for each row the columns\n"
                         "that the model reads and the prediction, in no particular order, and "
                         "says what the model cost. A signature shows that the file is\n"
                         "unchanged, not who trained it: anyone can sign with a new key. --signer "
                         "names the key that you trust. Nothing is charged: predictions\n"
                         "for private rows are as private as the rows, and are not differentially "
                         "private by themselves.");
  command
      ->add_option("MODEL", arguments->model,
                   "the model's file, which `sotto run STUDY --models FOLDER` writes")
      ->required();
  command
      ->add_option("DATA", arguments->data,
                   "a file of rows: .csv, .tsv, .json, .parquet; of images: IDX, gzipped or not")
      ->required();
  command->add_option("--labels", arguments->labels,
                      "with --test, for images: the IDX file of their labels");
  command->add_flag("--test", arguments->test,
                    "the rows have the target and are public: says how often the model is right");
  command->add_option("--show", arguments->show,
                      "also prints this column, such as an id; may be repeated");
  command->add_option("--signer", arguments->signer,
                      "refuses the model unless this key signed it; a ledger's keys are in the "
                      "first line of `sotto ledger export`");
  command->add_option("--records", arguments->records,
                      "how records of a text file end: lines or quoted");
  command->add_option("--duckdb", arguments->duckdb, "the path of libduckdb.so");
  command->add_flag("--any-duckdb", arguments->any_duckdb,
                    "loads it even if its SHA-256 is not one that sotto knows");
  command->add_option("--format", arguments->format, "csv (the default) or json")
      ->capture_default_str();
  command->add_flag("--quiet", arguments->quiet, "print predictions and errors only");
  command->callback([arguments] { run_predict(*arguments); });
}

}  // namespace sotto::cli
