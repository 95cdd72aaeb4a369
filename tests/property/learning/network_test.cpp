// Random networks, rows, parameters and norms: no unit is longer than the norm, and none notices
// the others.
#include "sotto/learning/network.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../support/exact_norm.hpp"

namespace sotto {
namespace {

std::size_t draw(std::size_t low, std::size_t high) { return *rc::gen::inRange(low, high + 1); }

// Layers that fit, one after the other, from an image of up to 3 x 9 x 9.
Network drawn_network() {
  Network network{.input = {draw(1, 3), draw(1, 9), draw(1, 9)},
                  .layers = {},
                  .loss = {.kind = LossKind::softmax},
                  .classes = draw(2, 11)};
  ImageShape at = network.input;
  const std::size_t count = draw(0, 5);
  for (std::size_t l = 0; l < count; ++l) {
    const std::size_t side = std::min(at.height, at.width);
    const std::size_t size = draw(1, std::min<std::size_t>(side, 4));
    switch (draw(0, 6)) {
      case 0: network.layers.emplace_back(Dense{draw(1, 20)}); break;
      case 1:
        network.layers.emplace_back(Convolution{draw(1, 10), size, draw(1, 3), draw(0, size - 1)});
        break;
      case 2: network.layers.emplace_back(MaxPool{size, draw(1, 3)}); break;
      case 3: network.layers.emplace_back(AveragePool{size, draw(1, 3)}); break;
      case 4: network.layers.emplace_back(GroupNorm{draw(0, 1) == 0 ? 1 : at.channels}); break;
      case 5: network.layers.emplace_back(Tanh{}); break;
      default: network.layers.emplace_back(Relu{}); break;
    }
    at = shapes_of(network).back();
  }
  network.layers.emplace_back(Dense{network.classes});
  return network;
}

// Rows of any codes, small, large and 0.
Examples drawn_examples(const Network& network, std::size_t units, std::size_t most_rows) {
  Examples::Builder builder(network.input.size());
  const int shift = *rc::gen::inRange(0, 14);
  for (std::size_t u = 0; u < units; ++u) {
    if (most_rows > 1) builder.next_unit();
    const std::size_t rows = most_rows > 1 ? draw(1, most_rows) : 1;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto codes = builder.add(static_cast<std::int16_t>(draw(0, network.classes - 1)));
      std::uint64_t state = *rc::gen::arbitrary<std::uint64_t>();
      for (std::int16_t& code : codes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto wide =
            static_cast<std::int64_t>(state >> 33U) % (2 * feature_one + 1) - feature_one;
        code = static_cast<std::int16_t>(wide / (std::int64_t{1} << shift));
      }
    }
  }
  return std::move(builder).build();
}

std::vector<std::int64_t> added(const Model::Prepared& prepared, const Examples& examples,
                                const std::vector<std::uint32_t>& units, const Clipping& clipping,
                                std::size_t parameters) {
  ExactSum sum(parameters);
  prepared.add(examples, units, clipping, sum);
  const auto totals = sum.totals();
  return {totals.begin(), totals.end()};
}

RC_GTEST_PROP(RandomNetworks, NoUnitIsLongerThanTheNormAndNoneNoticesTheOthers, ()) {
  const Network network = drawn_network();
  RC_LOG() << print(network);
  const auto model = make_model(network);
  RC_ASSERT(parse_network(model->description()) == network);
  auto parameters = model->start(*rc::gen::arbitrary<std::uint64_t>());
  const double scale = std::ldexp(1.0, *rc::gen::inRange(-3, 7));
  for (double& p : parameters) p *= scale;
  const std::size_t most_rows = draw(1, 2) == 1 ? 1 : 5;
  const Examples examples = drawn_examples(network, draw(1, 40), most_rows);
  const auto kind =
      *rc::gen::element(ClippingKind::flat, ClippingKind::per_layer, ClippingKind::automatic);
  const double norm =
      std::ldexp(static_cast<double>(*rc::gen::inRange(1, 1 << 24)), *rc::gen::inRange(-44, 0));
  const Clipping clipping{.kind = kind,
                          .norm = std::clamp(norm, 0x1p-40, 0x1p40),
                          .stability = *rc::gen::element(1e-12, 0.01, 1.0)};
  const auto prepared = model->prepare(parameters);
  std::vector<std::uint32_t> units;
  std::vector<std::int64_t> sum(model->parameters());
  for (std::uint32_t unit = 0; unit < examples.units(); ++unit) {
    units.push_back(unit);
    const auto own = added(*prepared, examples, {unit}, clipping, sum.size());
    RC_ASSERT(is_within_norm(*model, own, clipping));
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += own[j];
  }
  std::rotate(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(draw(0, units.size() - 1)),
              units.end());
  RC_ASSERT(added(*prepared, examples, units, clipping, sum.size()) == sum);
  std::reverse(units.begin(), units.end());
  RC_ASSERT(added(*prepared, examples, units, clipping, sum.size()) == sum);
}

}  // namespace
}  // namespace sotto
