// A study whose models are trained on several processes: `mpirun -n 4 sotto-run-mpi study.toml`, with the options of `sotto run`.
//
// Rank 0 does what `sotto run` does, and is the only one that opens the ledger, its key and the data. The others wait for their shards. If one of
// them fails or is killed, all end, and the same command goes on from the last checkpoint, under the same charge.
#include <exception>

#include "cli/command.hpp"
#include "sotto/random/random.hpp"
#include "study/api/ranks.hpp"
#include "together.hpp"

namespace {

int run_study(sotto::Together& together, int argc, char** argv) {
  sotto::Ranks ranks(together);
  sotto::cli::Typed typed;
  sotto::cli::Command app(
      "Examples:\n"
      "  mpirun -n 4 sotto-run-mpi study.toml\n"
      "\n"
      "Runs a study as `sotto run` does, and trains its models on all ranks that mpirun has started.",
      "sotto-run-mpi", "sotto-run-mpi " SOTTO_VERSION);
  sotto::cli::fill_run(app, typed, &ranks);
  const int status = sotto::cli::run_program(app, typed, argc, argv);
  if (!ranks.are_waiting()) sotto::Mpi::give_up(status);  // they are in the middle of a step, and would wait for ever
  ranks.dismiss();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  (void)sotto::Random::here().word();  // before MPI, which may ask the system for random bytes of its own
  const sotto::Mpi mpi;
  try {
    const auto together = sotto::together_by_mpi();
    if (together->rank() == 0) return run_study(*together, argc, argv);
    sotto::serve(*together);
    return 0;
  } catch (const std::exception& error) {
    sotto::cli::say(error.what());
    sotto::Mpi::give_up();
  }
}
