// Answers the questions of bench/README.md with sotto, as lines of JSON, which bench/peers/table.py
// combines with the peers' answers. Each question runs in a child process, so that its peak memory
// can be measured; its time is that of the call in a loop.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/plan/text.hpp"

namespace {

using namespace sotto;

struct Asked {
  std::string name;
  double delta;
  std::function<double()> ask;
  const char* quantity = "epsilon";
};

double upper(const std::string& plan, double delta, Method by = Method::tight) {
  return epsilon(parse(plan), Delta(delta), {.by = by}).value.upper;
}

std::string ladder() {
  std::string plan;
  for (int i = 0; i < 100; ++i)
    plan += (i == 0 ? "gaussian(" : " + gaussian(") + std::to_string(10 + 0.5 * i) + ")";
  return plan;
}

std::string mixed_events() {
  std::ifstream file(SOTTO_SOURCE_DIR "/bench/peers/mixed_events.txt");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the shortest of several runs of a loop that takes a tenth of a second.
double seconds_of(const std::function<double()>& ask) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300;
  int times = 1;
  for (int run = 0; run < 6; ++run) {
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i) {
      const volatile double answer = ask();
      (void)answer;
    }
    const double each = std::chrono::duration<double>(Clock::now() - start).count() / times;
    best = std::min(best, each);
    times = std::max(1, static_cast<int>(0.1 / best));
  }
  return best;
}

void answer(const Asked& question) {
  const double value = question.ask();
  const double seconds = seconds_of(question.ask);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      R"({"question": "%s", "peer": "sotto", "delta": %g, "%s": %.17g, "seconds": %.6g, "peak_mb": %.1f})"
      "\n",
      question.name.c_str(), question.delta, question.quantity, value, seconds,
      static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace

int main() {
  const std::string training = "10000 * poisson(0.01, gaussian(1))";
  std::vector<Asked> questions;
  questions.push_back({"a", 1e-5, [=] { return upper(training, 1e-5, Method::rdp); }});
  for (const double delta : {1e-5, 1e-10, 1e-15, 1e-30})
    questions.push_back({"b", delta, [=] { return upper(training, delta); }});
  questions.push_back({"c", 1e-5, [] { return upper("1000 * laplace(10)", 1e-5); }});
  questions.push_back({"d", 1e-5,
                       [] {
                         return calibrate(parse("15000 * poisson(0.004, gaussian(?))"), Epsilon(1),
                                          Delta(1e-5))
                             .value;
                       },
                       "sigma"});
  questions.push_back({"e", 1e-5, [plan = ladder()] { return upper(plan, 1e-5); }});
  questions.push_back({"f", 1e-6, [] { return upper("1000000 * approx(0.001, 1e-12)", 1e-6); }});
  questions.push_back({"g", 1e-6, [plan = mixed_events()] { return upper(plan, 1e-6); }});
  questions.push_back({"h", 1e-5, [] {
                         return upper("1000 * without_replacement(600, 60000, gaussian(1))", 1e-5);
                       }});
  for (const Asked& question : questions) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      answer(question);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
      std::printf(R"({"question": "%s", "peer": "sotto", "delta": %g, "error": "failed"})"
                  "\n",
                  question.name.c_str(), question.delta);
    std::fflush(stdout);
  }
  return 0;
}
