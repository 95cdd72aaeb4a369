// Reads a section [[train]] of a study.
#include "study/files/train_parse.hpp"

#include <cmath>

namespace sotto::study_detail {
namespace {

std::vector<std::int64_t> sizes(const Section& section, const std::string& key,
                                const std::string& what) {
  std::vector<std::int64_t> result;
  for (const double size : section.numbers(key)) {
    if (!(size >= 1 && size <= 65536 && size == std::floor(size)))
      throw StudyError(section.where() + "`" + key + "` " + what, section.line(key));
    result.push_back(static_cast<std::int64_t>(size));
  }
  return result;
}

}  // namespace

TrainingRequest parse_train(const toml::node& node, std::size_t number, std::int64_t rows) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw StudyError("models are sections: [[train]]", line_of(node));
  const Section section(
      *table, "train " + std::to_string(number),
      {"name",     "model",  "hidden",     "activation", "target",   "features", "where",
       "share",    "units",  "rows",       "test",       "evaluate", "method",   "accounting",
       "steps",    "batch",  "clip",       "step_size",  "l2",       "clipping", "optimiser",
       "channels", "kernel", "group_norm", "layers"});
  TrainingRequest ask;
  ask.line = line_of(node);
  ask.name = section.need_text("name", "\"income\"");
  ask.model = section.need_text("model", "\"logistic\"");
  ask.target = section.need_text("target", "\"income\", the column to predict");
  ask.hidden = sizes(section, "hidden", "are the sizes of hidden layers: hidden = [64, 32]");
  ask.channels = sizes(section, "channels",
                       "are the numbers of filters of the convolutions: channels = [16, 32]");
  ask.kernel =
      sizes(section, "kernel", "are the widths of the convolutions' filters: kernel = [8, 4]");
  ask.group_norm = section.whole("group_norm");
  ask.layers = section.texts("layers");
  ask.activation = section.text("activation").value_or("tanh");
  ask.features = section.texts("features");
  ask.where = section.text("where").value_or("");
  ask.share = section.positive("share").value_or(1);
  if (!(ask.share >= 1e-6 && ask.share <= 1e6))
    throw StudyError(section.where() + "`share` is from 1e-6 to 1e6", section.line("share"));
  ask.units = section.positive("units");
  ask.rows = section.whole("rows").value_or(rows);
  ask.chose_rows = section.find("rows") != nullptr;
  ask.test = section.number("test").value_or(0);
  if (!(ask.test >= 0 && ask.test <= 0.9))
    throw StudyError(
        section.where() + "`test`, the share of units for a private test, is from 0 to 0.9",
        section.line("test"));
  ask.evaluate = section.text("evaluate").value_or("");
  if (!ask.evaluate.empty() && !is_data_name(ask.evaluate)) {
    throw StudyError(
        section.where() +
            "`evaluate` is the name of public data, as `data` is a name, and never a path",
        section.line("evaluate"));
  }
  ask.method = section.text("method").value_or("");
  if (const auto accounting = section.text("accounting"); accounting) {
    if (*accounting != "uniform" && *accounting != "individual") {
      throw StudyError(section.where() + "`accounting` is \"uniform\" or \"individual\"",
                       section.line("accounting"));
    }
    ask.individual = *accounting == "individual";
  }
  ask.steps = section.whole("steps");
  ask.batch = section.positive("batch");
  ask.clip = section.positive("clip");
  ask.step_size = section.positive("step_size");
  ask.l2 = section.number("l2");
  ask.clipping = section.text("clipping").value_or("");
  ask.optimiser = section.text("optimiser").value_or("");
  return ask;
}

}  // namespace sotto::study_detail
