// Measures the worst cost of a command: runs random plans of every family and of every leaf through
// every command that costs a plan, each in a process whose processor time and peak memory are
// measured. `bench_limits [COUNT [SEED [JOBS [SOTTO]]]]` lists the most expensive ones with the
// command to repeat them.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <map>

#include "plan/fields.hpp"
#include "random_plans.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"

namespace {

using bench::Draw;
using bench::text;

// Covers what the families of bench_widths lack: many kinds, groups, parallel parts, and several
// distributions on one sample without replacement.
std::vector<bench::Family> more_families() {
  return {
      {"many-laplaces", 1e-6,
       [](Draw& draw) {
         std::string plan;
         const long kinds = 2 + draw.count(300);
         for (long i = 0; i < kinds; ++i)
           plan += text("%slaplace(%.3g)", i == 0 ? "" : " + ", draw.between(1, 1000));
         return plan;
       }},
      {"schedule", 1e-6,
       [](Draw& draw) {
         std::string plan;
         const long phases = 2 + draw.count(1000);
         const double q = draw.between(1e-5, 0.1);
         const double sigma = draw.between(0.5, 5);
         for (long i = 0; i < phases; ++i) {
           const long k = draw.count(50);
           const double rate = q * draw.between(1, 2);
           plan += text("%s%ld * poisson(%.4g, gaussian(%.4g))", i == 0 ? "" : " + ", k, rate,
                        sigma * draw.between(1, 1.1));
         }
         return plan;
       }},
      {"group", 1e-6,
       [](Draw& draw) {
         const long k = 1 + draw.count(20);
         const std::string inside = bench::sampled_gaussian(draw, 1e5);
         return text(
             "group(%ld, %s)", k,
             (draw.coin() ? inside : inside + " + " + bench::sampled_gaussian(draw, 1e5)).c_str());
       }},
      {"parallel", 1e-6,
       [](Draw& draw) {
         const std::string one = bench::laplaces(draw);
         return text("parallel(%s, %s)", one.c_str(), bench::gaussians(draw).c_str());
       }},
      {"much-noise", 1e-9, [](Draw& draw) { return bench::sampled_gaussian(draw, 1e5, 30, 1e4); }},
      {"without-replacement-both", 1e-6,
       [](Draw& draw) {
         const std::string plan = bench::without_replacement(draw, 1e4);
         return plan + text("gaussian(%.3g) + laplace(%.3g))", draw.between(0.3, 30),
                            draw.between(0.5, 30));
       }},
  };
}

std::string drawn(Draw& draw, const sotto::plan_detail::Field& field) {
  using sotto::plan_detail::Range;
  switch (field.range) {
    case Range::positive: return text("%.3g", draw.between(1e-3, 1e6));
    case Range::non_negative: return text("%.3g", draw.between(1e-3, 50));
    case Range::rate:
    case Range::open_unit:
    case Range::probability_below_one: return text("%.3g", draw.between(1e-9, 0.99));
    case Range::above_one: return text("%.3g", draw.between(1.01, 1e3));
    case Range::count: return text("%ld", draw.count(1e9));
    case Range::count_from_two: return text("%ld", 1 + draw.count(1e9));
  }
  return "1";
}

// Draws a leaf of a kind, each parameter over its own range. Draws again if no theorem covers it.
template <class T>
std::string drawn_leaf(Draw& draw) {
  std::string plan;
  for (int attempt = 0; attempt < 200; ++attempt) {
    plan = sotto::plan_detail::name_of<T>;
    T node{};
    std::string before = "(";
    sotto::plan_detail::each_field(
        node, [&](const auto& /*parameter*/, const sotto::plan_detail::Field& field) {
          plan += before + drawn(draw, field);
          before = ", ";
        });
    plan += ")";
    try {
      (void)sotto::epsilon(sotto::parse(plan), sotto::Delta(0.5), {.by = sotto::Method::basic});
      return plan;
    } catch (const std::exception&) {
      // the numbers of users and colluders, or a theorem's conditions, contradict each other
    }
  }
  return plan;
}

// Returns the leaf by itself, or within another plan.
std::string around(Draw& draw, const std::string& leaf) {
  const long k = draw.count(1e4);
  switch (draw.count(7.4) - 1) {
    case 0: return text("%ld * %s", k, leaf.c_str());
    case 1: return text("group(%ld, %s)", 1 + draw.count(100), leaf.c_str());
    case 2: return text("poisson(%.3g, %s)", draw.between(1e-4, 0.5), leaf.c_str());
    case 3: return text("%ld * poisson(%.3g, %s)", k, draw.between(1e-4, 0.5), leaf.c_str());
    case 4: return text("parallel(%s, gaussian(%.3g))", leaf.c_str(), draw.between(0.5, 50));
    case 5:
      return text("%ld * %s + %ld * gaussian(%.3g)", k, leaf.c_str(), draw.count(100),
                  draw.between(0.5, 50));
    default: return leaf;
  }
}

// Returns a family for each leaf of the plan language.
std::vector<bench::Family> leaf_families() {
  std::vector<bench::Family> all;
  sotto::plan_detail::any_kind_of_leaf(
      [&]<class T>(const T& /*node*/) {
        all.push_back({sotto::plan_detail::name_of<T>.data(), 1e-6,
                       [](Draw& draw) { return around(draw, drawn_leaf<T>(draw)); }});
        return false;
      },
      static_cast<const sotto::Node*>(nullptr));
  return all;
}

// Returns the position of the first parameter of a leaf that occurs once in the plan; npos if there
// is none.
std::size_t first_parameter(const std::string& plan) {
  std::size_t position = std::string::npos;
  sotto::plan_detail::any_kind_of_leaf(
      [&]<class T>(const T& /*node*/) {
        const std::string opening = std::string(sotto::plan_detail::name_of<T>) + "(";
        const std::size_t at = plan.find(opening);
        const bool whole = at == 0 || (at != std::string::npos && plan[at - 1] != '_' &&
                                       std::isalpha(static_cast<unsigned char>(plan[at - 1])) == 0);
        if (!whole || plan.find(opening, at + 1) != std::string::npos) return false;
        position = at + opening.size();
        return true;
      },
      static_cast<const sotto::Node*>(nullptr));
  return position;
}

struct Run {
  std::vector<std::string> words;
  double seconds = 0;
  double megabytes = 0;
};

std::vector<std::string> command(Draw& draw, const std::string& plan, long n) {
  const std::string delta = text("%.3g", draw.between(1e-12, 1e-3));
  const std::string epsilon = text("%.3g", draw.between(0.05, 8));
  switch (n % 9) {
    case 1: return {"delta", plan, "--epsilon", epsilon};
    case 2: return {"compare", plan, "--delta", delta};
    case 3: return {"explain", plan, "--delta", delta};
    case 4: return {"tradeoff", plan};
    case 5: return {"divergence", plan, "--curve"};
    case 6:
      if (const std::size_t hole = first_parameter(plan); hole != std::string::npos) {
        return {
            "calibrate", plan.substr(0, hole) + "?" + plan.substr(plan.find_first_of(",)", hole)),
            "--epsilon", epsilon,
            "--delta",   delta};
      }
      return {"epsilon", plan, "--delta", delta};
    case 7: return {"epsilon", plan, "--delta", delta, "--over-steps", "9"};
    default: return {"epsilon", plan, "--delta", delta};
  }
}

pid_t start(const char* sotto, const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, 1);
  dup2(nothing, 2);
  std::vector<char*> argv{const_cast<char*>(sotto)};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(sotto, argv.data());
  _exit(127);
}

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

void list(std::vector<Run> runs, const char* what, double Run::*by) {
  std::sort(runs.begin(), runs.end(), [by](const Run& a, const Run& b) { return a.*by > b.*by; });
  std::printf("the most %s:\n", what);
  for (std::size_t i = 0; i < std::min<std::size_t>(10, runs.size()); ++i) {
    std::printf("  %6.2f s %5.0f MB  sotto", runs[i].seconds, runs[i].megabytes);
    for (const std::string& word : runs[i].words)
      std::printf(" '%s'",
                  word.size() > 300 ? (word.substr(0, 300) + "...").c_str() : word.c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long plans = argc > 1 ? std::atol(argv[1]) : 2000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::size_t jobs = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
  const char* sotto = argc > 4 ? argv[4] : SOTTO_COMMAND_PATH;
  if (plans < 1 || jobs < 1) {
    std::fprintf(stderr,
                 "usage: bench_limits [COUNT [SEED [JOBS [SOTTO]]]]: COUNT plans, at least 1, JOBS "
                 "at a time, and the path SOTTO of the command\n");
    return 2;
  }
  std::vector<bench::Family> all = bench::families();
  for (const bench::Family& family : more_families()) all.push_back(family);
  for (const bench::Family& family : leaf_families()) all.push_back(family);
  Draw draw(seed);
  std::vector<Run> done;
  std::map<pid_t, Run> running;
  const auto reap = [&] {
    int status = 0;
    rusage used{};
    const pid_t child = wait4(-1, &status, 0, &used);
    Run& run = running[child];
    run.seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    run.megabytes = static_cast<double>(used.ru_maxrss) / 1024;
    done.push_back(run);
    running.erase(child);
  };
  for (long n = 0; n < plans; ++n) {
    const std::string plan = all[static_cast<std::size_t>(n) % all.size()].plan(draw);
    Run run{command(draw, plan, n / static_cast<long>(all.size()))};
    while (running.size() >= jobs) reap();
    running.emplace(start(sotto, run.words), run);
  }
  while (!running.empty()) reap();
  std::vector<double> seconds;
  for (const Run& run : done) seconds.push_back(run.seconds);
  std::sort(seconds.begin(), seconds.end());
  const auto share = [&](double part) {
    return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
  };
  std::printf("%ld plans: processor time median %.3f s, 90%% %.3f s, 99%% %.3f s, worst %.3f s\n",
              plans, share(0.5), share(0.9), share(0.99), share(1));
  list(done, "time", &Run::seconds);
  list(done, "memory", &Run::megabytes);
}
