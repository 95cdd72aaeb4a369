// Reads model descriptions, such as "linear(width=3, loss=logistic)".
#include "learning/api/describe.hpp"

#include <charconv>
#include <map>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/network.hpp"

namespace sotto {
namespace {

// A description split into its word and its settings.
struct Call {
  std::string word;
  std::map<std::string, std::string> settings;
};

Call call_in(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')')
    throw InvalidValue("\"" + text +
                       "\" is not a model description: write one such as linear(width=3, "
                       "loss=logistic, classes=2)");
  Call call{text.substr(0, open), {}};
  std::size_t at = open + 1;
  while (at < text.size() - 1) {
    const std::size_t end = std::min(text.find(", ", at), text.size() - 1);
    const std::size_t equals = text.find('=', at);
    if (equals == std::string::npos || equals > end)
      throw InvalidValue("\"" + text +
                         "\" is not a model description: write one such as linear(width=3, "
                         "loss=logistic, classes=2)");
    call.settings[text.substr(at, equals - at)] = text.substr(equals + 1, end - equals - 1);
    at = end + 2;
  }
  return call;
}

std::size_t whole(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > (std::size_t{1} << 24U))
    throw InvalidValue("\"" + text + "\" is not a number that a model description can have");
  return number;
}

bool is_network(const std::string& description) { return description.starts_with("network("); }

LinearModel linear_in(const std::string& description) {
  const Call call = call_in(description);
  if (call.word != "linear")
    throw InvalidValue("there is no model \"" + call.word + "\": write linear or network");
  LinearModel model{};
  for (const auto& [key, value] : call.settings) {
    if (key == "width") {
      model.width = whole(value);
    } else if (key == "loss") {
      model.loss.kind = parse_loss(value);
    } else if (key == "bend") {
      model.loss.bend = read_number(value);
    } else if (key == "classes") {
      model.classes = whole(value);
    } else if (key == "intercept") {
      model.intercept = value != "no";
    } else {
      throw InvalidValue("a linear model has no setting \"" + key + "\"");
    }
  }
  return model;
}

}  // namespace

std::unique_ptr<Model> model_of(const std::string& description) {
  auto model = is_network(description) ? make_model(parse_network(description))
                                       : make_model(linear_in(description));
  if (model->description() != description) {
    throw InvalidValue("\"" + description + "\" must be written \"" + model->description() + "\"");
  }
  return model;
}

std::size_t width_of_model(const std::string& description) {
  return is_network(description) ? parse_network(description).input.size()
                                 : linear_in(description).width;
}

}  // namespace sotto
