// Compares private training with other libraries, with plain floats and with the speed of memory:
// `./dev bench learning`.
//
//   bench_learning export FOLDER     the data as raw numbers, for the peers
//   bench_learning FOLDER [THREADS]  everything; reads the peers' times from FOLDER/peers.txt,
//   writes pictures there bench_learning draw FOLDER [THREADS]  the pictures alone bench_learning
//   pass FOLDER [THREADS]  the pass over all rows alone
//
// Each figure is the best of several runs, because other work on the machine makes everything
// slower, never faster. Each ratio is printed twice: of wall time, and of processor time, which an
// idle machine would show, too, apart from threads that wait for each other.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "learning/models/network_plain.hpp"
#include "learning_data.hpp"
#include "report/api/chart.hpp"
#include "report/api/svg.hpp"
#include "sotto/learning/network.hpp"
#include "sotto/learning/optimiser.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/random/stream.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

namespace {

using namespace sotto;
namespace fs = std::filesystem;
constexpr double adult_batch = 2048;
constexpr double network_batch = 2048;

fs::path data_folder() {
  const char* named = std::getenv("SOTTO_BENCH_DATA");
  return named != nullptr ? fs::path(named)
                          : fs::path(SOTTO_SOURCE_DIR).parent_path() / "shared/data";
}

struct Times {
  double wall = INFINITY;
  double processor = INFINITY;  // of all threads together
};
Times least(const Times& a, const Times& b) {
  return {std::min(a.wall, b.wall), std::min(a.processor, b.processor)};
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Times time_of(const std::function<void()>& work, int repeats = 1) {
  const auto from = std::chrono::steady_clock::now();
  const double processor_from = processor_seconds();
  for (int i = 0; i < repeats; ++i) work();
  const double processor = processor_seconds() - processor_from;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count() / repeats,
          processor / repeats};
}

// Returns the best of many runs that are long enough to measure. Stops after at least five runs and
// 1.5 seconds.
Times best(const std::function<void()>& work) {
  work();
  Times best = time_of(work);
  const int repeats = std::max(1, static_cast<int>(0.002 / std::max(best.wall, 1e-9)));
  double spent = 0;
  for (int round = 0; round < 5 || (spent < 1.5 && round < 400); ++round) {
    const Times took = time_of(work, repeats);
    spent += took.wall * repeats;
    best = least(best, took);
  }
  return best;
}

// Returns the best of two or more works in turns, so that other load on the machine affects all of
// them.
std::vector<Times> best_in_turns(const std::vector<std::function<void()>>& works, int rounds) {
  std::vector<Times> best(works.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) best[i] = least(best[i], time_of(works[i]));
  }
  return best;
}

void in_parallel(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> crew;
  for (int t = 1; t < threads; ++t) crew.emplace_back(work, t);
  work(0);
  for (std::thread& thread : crew) thread.join();
}

// Times a step of a whole training: sampling, clipped sum, noise, update.
Times step_time(const std::shared_ptr<const Model>& model, const Examples& examples,
                Training training, int threads) {
  training.steps = std::int64_t{1} << 40U;
  Trainer trainer(model, examples, training, {.threads = threads});
  return best([&] { trainer.step(); });
}

Examples random_rows(std::size_t rows, std::size_t width) {
  std::mt19937 engine(1);
  Examples::Builder builder(width);
  for (std::size_t i = 0; i < rows; ++i) {
    auto word = static_cast<std::uint32_t>(engine());
    for (std::int16_t& code : builder.add(static_cast<std::int16_t>(word % 2))) {
      word = word * 1664525U + 1013904223U;
      code = static_cast<std::int16_t>(static_cast<int>(word >> 17U) - feature_one);
    }
  }
  return std::move(builder).build();
}

Training poisson_training(double batch, std::size_t units) {
  return {.sampling = PoissonSampling{batch / static_cast<double>(units)},
          .noise = 1,
          .batch = batch,
          .optimiser = {.size = 0.5}};
}

// --- the table ---

struct Line {
  std::string what;
  double ratio, by_processor, goal;
  std::string measured;
};
std::vector<Line> table;

void say(const std::string& what, const Times& other, const Times& own, double goal,
         const std::string& measured) {
  table.push_back({what, other.wall / own.wall, other.processor / own.processor, goal, measured});
}

std::string of_time(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, seconds < 1e-3 ? "%.0f µs" : "%.2f ms",
                seconds < 1e-3 ? seconds * 1e6 : seconds * 1e3);
  return text;
}

using Peers = std::map<std::string, Times>;

Peers peers_in(const fs::path& path) {
  Peers peers;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const auto tab = line.find('\t');
    Times times;
    if (tab != std::string::npos &&
        std::sscanf(line.c_str() + tab, "%lf %lf", &times.wall, &times.processor) == 2)
      peers[line.substr(0, tab)] = times;
  }
  return peers;
}

void against_peer(const Peers& peers, const std::string& peer, const std::string& what,
                  const Times& own, double goal) {
  const auto it = peers.find(peer);
  if (it == peers.end()) {
    std::printf("NOT MEASURED: %s: the file of peers has no time of %s\n", what.c_str(),
                peer.c_str());
    return;
  }
  say(what, it->second, own, goal,
      "sotto " + of_time(own.wall) + ", peer " + of_time(it->second.wall) + " a step");
}

// --- the measurements ---

void measure_adult(const Peers& peers, int threads) {
  const Examples examples = bench::adult(data_folder()).train;
  const std::shared_ptr<const Model> model =
      make_model(LinearModel{examples.width(), {LossKind::logistic}});
  const Times own =
      step_time(model, examples, poisson_training(adult_batch, examples.units()), threads);
  against_peer(peers, "adult opacus", "logistic regression, Adult: Opacus / sotto", own, 100);
  against_peer(peers, "adult opacus ghost", "  the same, Opacus' ghost clipping / sotto", own, 100);
  against_peer(peers, "adult numpy", "  the same, careful NumPy / sotto", own, 5);
}

using Words [[gnu::vector_size(64)]] = std::uint64_t;

FOR_EACH_PROCESSOR
std::uint64_t sum_of(const char* from, std::size_t bytes) {
  Words a{};
  Words b{};
  Words c{};
  Words d{};
  for (std::size_t i = 0; i + 256 <= bytes; i += 256) {
    Words w[4];
    std::memcpy(w, from + i, 256);
    a += w[0];
    b += w[1];
    c += w[2];
    d += w[3];
  }
  a += b + c + d;
  std::uint64_t all = 0;
  for (int i = 0; i < 8; ++i) all += a[i];
  return all;
}

void measure_pass(int threads) {
  constexpr std::size_t rows = 400000;
  constexpr std::size_t width = 256;
  const Examples examples = random_rows(rows, width);
  const std::size_t bytes = rows * examples.stride() * sizeof(std::int16_t);
  const char* start = reinterpret_cast<const char*>(examples.row(0));
  std::atomic<std::uint64_t> total{0};
  const auto read = [&] {
    in_parallel(threads, [&](int t) {
      const std::size_t from =
          bytes / 256 * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads) * 256;
      const std::size_t to =
          bytes / 256 * static_cast<std::size_t>(t + 1) / static_cast<std::size_t>(threads) * 256;
      total += sum_of(start + from, to - from);
    });
  };
  Training training{.sampling = FullBatch{},
                    .steps = std::int64_t{1} << 40U,
                    .noise = 1,
                    .batch = rows,
                    .optimiser = {.size = 0.5}};
  Trainer trainer(make_model(LinearModel{width, {LossKind::logistic}}), examples, training,
                  {.threads = threads});
  const auto times = best_in_turns({read, [&] { trainer.step(); }}, 40);
  char text[120];
  std::snprintf(text, sizeof text, "sotto %.1f, plain sum %.1f GB/s",
                static_cast<double>(bytes) / times[1].wall / 1e9,
                static_cast<double>(bytes) / times[0].wall / 1e9);
  say("one pass over 400,000 x 256: speed of sotto / of memory", times[0], times[1], 0.7, text);
}

// Times a training step in plain floats, with the same sampler and rows, but no clipping, rounding
// or noise.
class PlainTrainer {
 public:
  PlainTrainer(const Model& model, const Examples& examples, double batch, int threads)
      : model_(model),
        examples_(examples),
        batch_(batch),
        threads_(threads),
        sampler_(PoissonSampling{batch / static_cast<double>(examples.units())}, examples.units()) {
    iterate_.parameters = model.start(0);
    const Secret secret;
    for (int t = 0; t < threads; ++t) streams_.emplace_back(secret);
  }
  void step() {
    const auto prepared = model_.prepare(iterate_.parameters);
    std::vector<std::vector<double>> gradients(static_cast<std::size_t>(threads_));
    in_parallel(threads_, [&](int t) {
      const auto w = static_cast<std::size_t>(t);
      std::vector<std::uint32_t> batch;
      for (std::size_t block = w * sampler_.blocks() / gradients.size();
           block < (w + 1) * sampler_.blocks() / gradients.size(); ++block) {
        sampler_.draw(static_cast<std::uint64_t>(iterate_.step), block, {}, streams_[w], batch);
      }
      gradients[w] = learning_detail::plain_gradient(*prepared, examples_, batch);
    });
    for (std::size_t j = 0; j < gradients[0].size(); ++j) {
      for (std::size_t w = 1; w < gradients.size(); ++w) gradients[0][j] += gradients[w][j];
      gradients[0][j] /= batch_;
    }
    advance(iterate_, {.size = 0.1}, std::int64_t{1} << 40U, gradients[0]);
  }

 private:
  const Model& model_;
  const Examples& examples_;
  double batch_;
  int threads_;
  Sampler sampler_;
  std::vector<Stream> streams_;
  Iterate iterate_;
};

void measure_network(const std::string& name, const Network& network, const Examples& examples,
                     const Peers& peers, const std::string& peer, double goal, int threads) {
  const std::shared_ptr<const Model> model = make_model(network);
  const auto prepared = model->prepare(model->start(1));
  std::vector<std::vector<std::uint32_t>> parts(static_cast<std::size_t>(threads));
  const auto batch = static_cast<std::size_t>(network_batch);
  for (std::size_t i = 0; i < batch; ++i)
    parts[i * parts.size() / batch].push_back(
        static_cast<std::uint32_t>((i * 7919) % examples.rows()));
  std::vector<ExactSum> sums(parts.size(), ExactSum(model->parameters()));
  const Clipping clipping{.norm = 1};
  const auto plain_sum = [&] {
    in_parallel(threads, [&](int t) {
      (void)learning_detail::plain_gradient(*prepared, examples,
                                            parts[static_cast<std::size_t>(t)]);
    });
  };
  const auto exact_sum = [&] {
    in_parallel(threads, [&](int t) {
      ExactSum& sum = sums[static_cast<std::size_t>(t)];
      sum.clear();
      prepared->add(examples, parts[static_cast<std::size_t>(t)], clipping, sum);
      (void)sum.totals();
    });
  };
  Training training = poisson_training(network_batch, examples.units());
  training.steps = std::int64_t{1} << 40U;
  training.optimiser.size = 0.1;
  Trainer trainer(model, examples, training, {.threads = threads});
  PlainTrainer plain(*model, examples, network_batch, threads);
  const auto times =
      best_in_turns({plain_sum, exact_sum, [&] { plain.step(); }, [&] { trainer.step(); }}, 40);
  say(name + ": private and exact sum / plain", times[0], times[1], goal,
      "private " + of_time(times[1].wall) + ", plain " + of_time(times[0].wall));
  say("  whole step with sampling and noise / plain", times[2], times[3], goal,
      "private " + of_time(times[3].wall) + ", plain " + of_time(times[2].wall));
  if (!peer.empty())
    against_peer(peers, peer, "  whole step: Opacus' ghost clipping / sotto", times[3], 2);
}

// --- time per step against n, d and batch ---

void draw_scaling(const fs::path& folder, int threads) {
  const auto draw = [&](const char* id, const char* title, const char* label,
                        const std::vector<std::size_t>& values,
                        const std::function<Times(std::size_t)>& times) {
    Chart chart{.id = id,
                .title = title,
                .caption = "",
                .x_label = label,
                .y_label = "processor time a step, µs",
                .log_x = true,
                .log_y = true};
    Series series{.name = "sotto"};
    std::printf("%s\n ", title);
    for (const std::size_t value : values) {
      series.x.push_back(static_cast<double>(value));
      series.y.push_back(times(value).processor * 1e6);
      std::printf(" %zu: %.0f µs ", value, series.y.back());
      std::fflush(stdout);
    }
    std::printf("\n");
    chart.caption = "Logistic regression, processor time of all threads, best of several, " +
                    std::to_string(threads) + (threads == 1 ? " thread." : " threads.");
    chart.series.push_back(series);
    const fs::path path = folder / (std::string(id) + ".svg");
    std::ofstream(path) << svg(chart);
    std::printf("  %s\n", path.c_str());
  };
  const auto logistic = [](std::size_t width) {
    return std::shared_ptr<const Model>(make_model(LinearModel{width, {LossKind::logistic}}));
  };
  const Examples most = random_rows(1U << 20U, 64);
  draw("step-by-units", "Time a step against the units n (d = 64, Poisson batch 2048)", "units",
       {1U << 12U, 1U << 14U, 1U << 16U, 1U << 18U, 1U << 20U}, [&](std::size_t n) {
         const Examples some = n == most.units() ? most : random_rows(n, 64);
         return step_time(logistic(64), some, poisson_training(2048, n), threads);
       });
  draw("step-by-width", "Time a step against the columns d (n = 65,536, Poisson batch 2048)",
       "columns", {16, 64, 256, 1024}, [&](std::size_t d) {
         return step_time(logistic(d), random_rows(1U << 16U, d), poisson_training(2048, 1U << 16U),
                          threads);
       });
  draw("step-by-batch",
       "Time a step against the batch (n = 1,048,576, d = 64; the last is every unit)", "batch",
       {64, 512, 4096, 32768, 262144, 1U << 20U}, [&](std::size_t batch) {
         Training training = poisson_training(static_cast<double>(batch), most.units());
         if (batch == most.units()) training.sampling = FullBatch{};
         return step_time(logistic(64), most, training, threads);
       });
}

void export_data(const fs::path& folder) {
  const auto write = [&](const std::string& name, const Examples& examples) {
    std::ofstream rows(folder / (name + ".features"), std::ios::binary);
    std::ofstream targets(folder / (name + ".targets"), std::ios::binary);
    std::vector<float> row(examples.width());
    for (std::size_t i = 0; i < examples.rows(); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = static_cast<float>(examples.row(i)[j]) / feature_one;
      rows.write(reinterpret_cast<const char*>(row.data()),
                 static_cast<std::streamsize>(row.size() * sizeof(float)));
      const std::int32_t target = examples.target(i);
      targets.write(reinterpret_cast<const char*>(&target), sizeof target);
    }
  };
  write("adult", bench::adult(data_folder()).train);
  write("mnist", bench::mnist(data_folder()).train);
}

bool has_data() {
  if (fs::exists(data_folder() / "adult/adult.data") &&
      fs::exists(data_folder() / "mnist/train-images-idx3-ubyte.gz"))
    return true;
  std::printf(
      "NO DATA in %s (SOTTO_BENCH_DATA names another folder): Adult and MNIST are left out\n",
      data_folder().c_str());
  return false;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string(words[1]) == "export") {
    if (!has_data()) return 1;
    export_data(words[2]);
    return 0;
  }
  const std::string part =
      count > 1 && (std::string(words[1]) == "draw" || std::string(words[1]) == "pass") ? words[1]
                                                                                        : "";
  const int first = part.empty() ? 1 : 2;
  const fs::path folder = count > first ? words[first] : ".";
  const int threads = count > first + 1
                          ? std::atoi(words[first + 1])
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (part == "draw") {
    draw_scaling(folder, threads);
    return 0;
  }
  const auto peers = peers_in(folder / "peers.txt");
  double load[1] = {0};
  (void)getloadavg(load, 1);
  std::printf("%d thread%s for all; the machine's load was %.1f%s\n", threads,
              threads == 1 ? "" : "s", load[0],
              load[0] > 0.5 * threads
                  ? ": it was busy with other work, and figures are worse than on a quiet one"
                  : "");
  measure_pass(threads);
  if (part.empty() && has_data()) {
    measure_adult(peers, threads);
    const Examples digits = bench::mnist(data_folder()).train;
    measure_network("MLP 784-128-64-10",
                    multilayer_perceptron(784, {128, 64}, Relu{}, {.kind = LossKind::softmax}, 10),
                    digits, peers, "mlp opacus ghost", 0.55, threads);
    measure_network("CNN, 26,010 weights", tanh_convolutional_net({1, 28, 28}, 10), digits, peers,
                    "", 0.5, threads);
  }
  std::printf("\n%-58s %9s %10s %6s  %s\n", "ratio of", "wall time", "processor", "goal",
              "measured by wall time");
  for (const Line& line : table) {
    std::printf("%-58s %9.2f %10.2f %6g  %s%s\n", line.what.c_str(), line.ratio, line.by_processor,
                line.goal, line.measured.c_str(),
                line.ratio >= line.goal ? "" : " (LESS than the goal)");
  }
  std::printf("\n");
  if (part.empty()) draw_scaling(folder, threads);
}
