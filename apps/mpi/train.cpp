// sotto-train-mpi: trains on several processes with made-up people, as in `mpirun -n 4
// sotto-train-mpi [poisson|fixed|full] [UNITS] [STEPS] [THREADS]`.
//
// Each rank makes its own shard, as it would read it from its own disk. Rank 0 prints the privacy
// cost, the accuracy, and a hash of the parameters, which does not depend on the number of ranks if
// the random bytes are fixed (as in tests/system/mpi).
#include "sotto/learning/train.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "together.hpp"

namespace {

using namespace sotto;
constexpr std::size_t width = 30;

// SplitMix64's finaliser, which makes up a person's numbers from an index.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

Examples people(const Shard& shard) {
  Examples::Builder builder(width);
  for (std::size_t unit = shard.first; unit < shard.end; ++unit) {
    const bool yes = mixed(unit * 31 + 1) % 2 == 0;
    std::uint64_t j = 0;
    for (std::int16_t& code : builder.add(yes ? 1 : 0)) {
      const auto at = static_cast<int>(mixed(unit * 31 + 2 + j) % 8193) - 4096;
      code = static_cast<std::int16_t>(at + ((yes ? 1 : -1) * (j % 2 == 0 ? 1 : -1) * 1000));
      ++j;
    }
  }
  return std::move(builder).build();
}

Training training_of(const std::string& sampling, std::size_t units, std::int64_t steps) {
  const double n = static_cast<double>(units);
  Training training{.steps = steps, .noise = 2, .batch = n / 10, .optimiser = {.size = 4}};
  if (sampling == "poisson") {
    training.sampling = PoissonSampling{0.1};
  } else if (sampling == "fixed") {
    training.sampling =
        FixedSizeSampling{static_cast<std::int64_t>(units / 10), static_cast<std::int64_t>(units)};
    training.relation = Relation::replace_one;
  } else {
    training.sampling = FullBatch{};
    training.noise = 20;
    training.batch = n;
  }
  return training;
}

void run(int count, char** words) {
  const std::string sampling = count > 1 ? words[1] : "poisson";
  const std::size_t units = count > 2 ? std::stoul(words[2]) : 100000;
  const std::int64_t steps = count > 3 ? std::stol(words[3]) : 50;
  const auto together = together_by_mpi();
  const Shard shard = shard_of(units, together->rank(), together->size());
  const Examples examples = people(shard);
  const std::shared_ptr<const Model> model = make_model(LinearModel{width, {LossKind::logistic}});
  const Training training = training_of(sampling, units, steps);
  const Iterate end = train(model, examples, training,
                            {.threads = count > 4 ? std::stoi(words[4]) : 1,
                             .together = together.get(),
                             .first_block = shard.first_block()});
  std::vector<double> z(examples.rows());
  model->prepare(end.parameters)->outputs(examples, 0, z);
  std::vector<std::int64_t> right{0};
  for (std::size_t i = 0; i < z.size(); ++i)
    right[0] += (z[i] > 0) == (examples.target(i) == 1) ? 1 : 0;
  together->sum(right);
  if (together->rank() != 0) return;
  std::uint64_t bits = 0;
  for (const double p : end.parameters) bits = mixed(bits ^ std::bit_cast<std::uint64_t>(p));
  const Plan plan = plan_of(training);
  std::printf(
      "%d ranks, %zu made-up people\n%s\nepsilon %.4g at delta 1e-6, relation %s\naccuracy "
      "%.4f\nbits %016llx\n",
      together->size(), units, print(plan).c_str(),
      epsilon(plan, Delta(1e-6), {.relation = training.relation}).value.upper,
      std::string(name(training.relation)).c_str(),
      static_cast<double>(right[0]) / static_cast<double>(units),
      static_cast<unsigned long long>(bits));
}

}  // namespace

int main(int count, char** words) {
  (void)Random::here()
      .word();  // keys the generator before MPI, which may read random bytes of the system, too
  const Mpi mpi;
  try {
    run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sotto-train-mpi: %s\n", error.what());
    Mpi::abort_all();
  }
}
