// Draws random plans with a hole, and targets for them: every kind of hole, in plans of every
// family.
#pragma once

#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "random_plans.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace bench {

struct HoledPlan {
  std::string plan;
  double epsilon = 1;
  double delta = 1e-5;
};

// Covers what the other families lack: groups, parallel parts, leaves that sample themselves, and
// few steps at a low rate.
inline std::vector<Family> families_beside() {
  return {
      {"rarely-sampled", 0,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double q = draw.between(1e-5, 1e-2);
         return text("%ld * poisson(%.3g, gaussian(%.3g, %.3g))", k, q, draw.between(0.3, 30),
                     draw.between(0.1, 10));
       }},
      {"rarely-sampled-and-released", 0,
       [](Draw& draw) {
         const long k = draw.count(300);
         const double q = draw.between(1e-4, 1e-2);
         const double sigma = draw.between(0.5, 5);
         return text("%ld * poisson(%.3g, gaussian(%.3g)) + laplace(%.3g)", k, q, sigma,
                     draw.between(2, 50));
       }},
      {"group", 0,
       [](Draw& draw) {
         const long k = 1 + draw.count(5);
         return text("group(%ld, %s)", k,
                     draw.coin() ? gaussians(draw).c_str() : laplaces(draw).c_str());
       }},
      {"sampled-group", 0,
       [](Draw& draw) {
         return text("group(%ld, %s)", 1 + draw.count(3), sampled_gaussian(draw, 1e3).c_str());
       }},
      {"parallel", 0,
       [](Draw& draw) {
         const std::string one = laplaces(draw);
         return text("parallel(%s, %s)", one.c_str(), gaussians(draw).c_str());
       }},
      {"few-without-replacement", 0,
       [](Draw& draw) {
         return without_replacement(draw, 300) + text("gaussian(%.3g))", draw.between(0.3, 30));
       }},
      {"shuffle", 0,
       [](Draw& draw) {
         const long n = 10 + draw.count(1e5);
         return text("%ld * shuffle(%.3g, %ld)", draw.count(20), draw.between(0.1, 5), n);
       }},
      {"ring", 0,
       [](Draw& draw) {
         const double gamma = draw.between(0.01, 0.9);
         return text("ring_histogram(%.3g, %ld, %ld)", gamma, 1 + draw.count(20),
                     100 + draw.count(1e4));
       }},
      {"walk", 0,
       [](Draw& draw) {
         return text("%ld * walk_sgd(%.3g, %ld)", draw.count(300), draw.between(0.5, 30),
                     10 + draw.count(1e4));
       }},
      {"staircase", 0,
       [](Draw& draw) {
         return text("%ld * staircase(%.3g)", draw.count(100), draw.between(1e-3, 3));
       }},
      {"response", 0,
       [](Draw& draw) {
         return text("%ld * randomized_response(%.3g) + gaussian(%.3g)", draw.count(20),
                     draw.between(0.1, 0.9), draw.between(1, 30));
       }},
  };
}

// Returns the positions of the numbers in a plan's text.
inline std::vector<std::pair<std::size_t, std::size_t>> numbers_of(const std::string& plan) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  const auto digit = [&](std::size_t i) {
    return i < plan.size() && std::isdigit(static_cast<unsigned char>(plan[i])) != 0;
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!digit(i)) continue;
    std::size_t end = i;
    while (digit(end) || plan[end] == '.' || plan[end] == 'e' ||
           ((plan[end] == '-' || plan[end] == '+') && plan[end - 1] == 'e'))
      ++end;
    places.emplace_back(i, end - i);
    i = end;
  }
  return places;
}

// Replaces one number by a hole, or scales all noise of one kind by it. Returns nothing if
// calibration cannot order the values of the hole.
inline std::string with_a_hole(const std::string& plan, Draw& draw) {
  std::string holed = plan;
  const auto places = numbers_of(plan);
  const auto chosen = places[static_cast<std::size_t>(draw.count(1e6)) % places.size()];
  const std::size_t noise = plan.find("gaussian(");
  if (noise != std::string::npos && draw.coin()) {  // most people calibrate noise
    std::vector<std::pair<std::size_t, std::size_t>> scales;
    for (const auto& place : places) {
      if (place.first >= 9 && plan.compare(place.first - 9, 9, "gaussian(") == 0)
        scales.push_back(place);
    }
    if (draw.coin()) scales.resize(1);
    for (auto place = scales.rbegin(); place != scales.rend(); ++place)
      holed.replace(place->first, place->second,
                    scales.size() == 1 ? "?" : holed.substr(place->first, place->second) + "*?");
  } else {
    holed.replace(chosen.first, chosen.second, "?");
  }
  try {
    for (const sotto::HolePlace& place : sotto::holes_of(sotto::parse(holed))) {
      if (place.effect == sotto::Effect::unclear) return "";
    }
    return holed;
  } catch (const sotto::ParseError&) {
  } catch (const sotto::InvalidValue&) {
  }
  return "";
}

// Draws a family, and a plan of it.
inline HoledPlan holed_plan(Draw& draw) {
  static const std::vector<Family> all = [] {
    std::vector<Family> both = families();
    for (Family& family : families_beside()) both.push_back(std::move(family));
    return both;
  }();
  for (;;) {
    const Family& family = all[static_cast<std::size_t>(draw.count(1e6)) % all.size()];
    const std::string plan = with_a_hole(family.plan(draw), draw);
    const double epsilon = std::stod(text("%.3g", draw.between(0.1, 10)));
    const double delta = std::stod(text("%.3g", draw.between(1e-12, 1e-4)));
    if (!plan.empty()) return {plan, epsilon, delta};
  }
}

}  // namespace bench
