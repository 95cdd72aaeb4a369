// Networks as values: printing, parsing, and the check that layers fit together.
#include "sotto/learning/network.hpp"

#include <charconv>
#include <limits>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr std::size_t most_numbers =
    std::size_t{1} << 22U;  // limit on the numbers of a row in all layers together

template <class... Cases>
struct Either : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Either(Cases...) -> Either<Cases...>;

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = text.find(separator, from);
    parts.push_back(text.substr(from, at == std::string::npos ? at : at - from));
    if (at == std::string::npos) return parts;
    from = at + separator.size();
  }
}

std::size_t whole_number(const std::string& text, const std::string& of) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > most_numbers) {
    throw InvalidValue("\"" + text + "\" in \"" + of + "\" is not a whole number up to 2^22");
  }
  return number;
}

[[noreturn]] void not_a_layer(const std::string& text) {
  throw InvalidValue("\"" + text +
                     "\" is not a layer: write dense 32, conv 16 size 8 stride 2 padding 3, "
                     "max-pool 2 stride 1, average-pool 2, group-norm 4, tanh or "
                     "relu");
}

std::size_t over(std::size_t length, std::size_t size, std::size_t stride,
                 const std::string& layer) {
  if (size == 0 || stride == 0) throw InvalidValue(layer + ": size and stride must be at least 1");
  if (size > length)
    throw InvalidValue(layer + ": the window is larger than the image of " +
                       std::to_string(length));
  return (length - size) / stride + 1;
}

std::string print(const ImageShape& shape) {
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.width);
}

ImageShape parse_shape(const std::string& text) {
  const auto sides = split(text, "x");
  if (sides.size() != 3)
    throw InvalidValue("\"" + text +
                       "\" is not a shape: write channels x height x width, such as 1x28x28");
  return {whole_number(sides[0], text), whole_number(sides[1], text), whole_number(sides[2], text)};
}

void require_small(const ImageShape& shape, const std::string& what) {
  for (const std::size_t side : {shape.channels, shape.height, shape.width}) {
    if (side == 0 || side > most_numbers)
      throw InvalidValue(what + ": each side must be between 1 and 2^22");
  }
  if (shape.channels * shape.height > most_numbers || shape.size() > most_numbers)
    throw InvalidValue(what + " has more than 2^22 numbers");
}

}  // namespace

std::string print(const NetworkLayer& layer) {
  const auto number = [](std::size_t n) { return " " + std::to_string(n); };
  return std::visit(Either{[&](const Dense& l) { return "dense" + number(l.outputs); },
                           [&](const Convolution& l) {
                             return "conv" + number(l.filters) + " size" + number(l.size) +
                                    " stride" + number(l.stride) + " padding" + number(l.padding);
                           },
                           [&](const MaxPool& l) {
                             return "max-pool" + number(l.size) + " stride" + number(l.stride);
                           },
                           [&](const AveragePool& l) {
                             return "average-pool" + number(l.size) + " stride" + number(l.stride);
                           },
                           [&](const GroupNorm& l) { return "group-norm" + number(l.groups); },
                           [](const Tanh&) { return std::string("tanh"); },
                           [](const Relu&) { return std::string("relu"); }},
                    layer);
}

NetworkLayer parse_layer(const std::string& text) {
  const auto words = split(text, " ");
  const std::string& kind = words[0];
  if (words.size() == 1) {
    if (kind == "tanh") return Tanh{};
    if (kind == "relu") return Relu{};
    not_a_layer(text);
  }
  if (words.size() % 2 != 0) not_a_layer(text);
  const std::size_t first = whole_number(words[1], text);
  std::size_t size = 0;
  std::size_t stride = 0;
  std::size_t padding = 0;
  const bool pools = kind == "max-pool" || kind == "average-pool";
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const std::size_t value = whole_number(words[i + 1], text);
    if (words[i] == "stride" && (pools || kind == "conv") && value > 0) {
      stride = value;
    } else if (words[i] == "size" && kind == "conv") {
      size = value;
    } else if (words[i] == "padding" && kind == "conv") {
      padding = value;
    } else {
      not_a_layer(text);
    }
  }
  if (kind == "dense") return Dense{first};
  if (kind == "conv" && size > 0)
    return Convolution{first, size, stride == 0 ? 1 : stride, padding};
  if (kind == "max-pool") return MaxPool{first, stride == 0 ? first : stride};
  if (kind == "average-pool") return AveragePool{first, stride == 0 ? first : stride};
  if (kind == "group-norm") return GroupNorm{first};
  not_a_layer(text);
}

std::vector<ImageShape> shapes_of(const Network& network) {
  require_small(network.input, "a row");
  std::vector<ImageShape> shapes;
  ImageShape at = network.input;
  std::size_t all = at.size();
  for (const NetworkLayer& layer : network.layers) {
    const std::string text = print(layer);
    const auto window = [&](std::size_t channels, std::size_t size, std::size_t stride,
                            std::size_t padding) {
      if (padding >= size && size > 0)
        throw InvalidValue(text + ": the padding must be smaller than the filter");
      return ImageShape{channels, over(at.height + 2 * padding, size, stride, text),
                        over(at.width + 2 * padding, size, stride, text)};
    };
    at = std::visit(
        Either{[](const Dense& l) {
                 return ImageShape{1, 1, l.outputs};
               },
               [&](const Convolution& l) { return window(l.filters, l.size, l.stride, l.padding); },
               [&](const MaxPool& l) { return window(at.channels, l.size, l.stride, 0); },
               [&](const AveragePool& l) { return window(at.channels, l.size, l.stride, 0); },
               [&](const GroupNorm& l) {
                 if (l.groups == 0 || at.channels % l.groups != 0) {
                   throw InvalidValue(text + ": " + std::to_string(at.channels) +
                                      " channels cannot be split into equal groups of this number: "
                                      "choose a divisor of the channels");
                 }
                 return at;
               },
               [&](const Tanh&) { return at; }, [&](const Relu&) { return at; }},
        layer);
    require_small(at, text);
    all += at.size();
    if (all > most_numbers)
      throw InvalidValue("a row has more than 2^22 numbers in all layers together");
    shapes.push_back(at);
  }
  return shapes;
}

std::string print(const Network& network) {
  std::string layers;
  for (const NetworkLayer& layer : network.layers)
    layers += (layers.empty() ? "" : ", ") + print(layer);
  return "network(input=" + print(network.input) + ", loss=" + name_of(network.loss.kind) +
         (network.loss.kind == LossKind::huber ? ", bend=" + shortest(network.loss.bend) : "") +
         (network.loss.is_of_classes() ? ", classes=" + std::to_string(network.classes) : "") +
         ", layers=[" + layers + "])";
}

Network parse_network(const std::string& text) {
  const std::string start = "network(";
  const std::string middle = ", layers=[";
  const std::string end = "])";
  const std::size_t at = text.find(middle);
  if (!text.starts_with(start) || !text.ends_with(end) || at == std::string::npos ||
      at + middle.size() + end.size() > text.size()) {
    throw InvalidValue("\"" + text +
                       "\" is not a network: write network(input=1x28x28, loss=softmax, "
                       "classes=10, layers=[dense 32, tanh, dense 10])");
  }
  Network network{.input = {0, 0, 0}, .layers = {}, .loss = {}, .classes = 2};
  for (const std::string& item : split(text.substr(start.size(), at - start.size()), ", ")) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (name == "input") {
      network.input = parse_shape(value);
    } else if (name == "loss") {
      network.loss.kind = parse_loss(value);
    } else if (name == "classes") {
      network.classes = whole_number(value, item);
    } else if (name == "bend") {
      const auto [stop, error] =
          std::from_chars(value.data(), value.data() + value.size(), network.loss.bend);
      if (error != std::errc{} || stop != value.data() + value.size() ||
          !(network.loss.bend > 0 && network.loss.bend <= 1e150)) {
        throw InvalidValue(
            "bend, where the huber loss becomes linear, must be a number above 0, not \"" + value +
            "\"");
      }
    } else {
      throw InvalidValue("a network has no setting \"" + name +
                         "\": write input, loss, bend, classes or layers");
    }
  }
  const std::size_t from = at + middle.size();
  for (const std::string& layer : split(text.substr(from, text.size() - from - end.size()), ", "))
    network.layers.push_back(parse_layer(layer));
  (void)shapes_of(network);
  return network;
}

Network multilayer_perceptron(std::size_t width, const std::vector<std::size_t>& hidden,
                              const NetworkLayer& activation, const LossFunction& loss,
                              std::size_t classes) {
  Network network{.input = {1, 1, width}, .layers = {}, .loss = loss, .classes = classes};
  for (const std::size_t size : hidden) {
    network.layers.emplace_back(Dense{size});
    network.layers.push_back(activation);
  }
  network.layers.emplace_back(Dense{loss.outputs(classes)});
  return network;
}

Network tanh_convolutional_net(const ImageShape& image, std::size_t classes) {
  return {.input = image,
          .layers = {Convolution{16, 8, 2, 3}, Tanh{}, MaxPool{2, 1}, Convolution{32, 4, 2, 0},
                     Tanh{}, MaxPool{2, 1}, Dense{32}, Tanh{}, Dense{classes}},
          .loss = {.kind = LossKind::softmax},
          .classes = classes};
}

}  // namespace sotto
