// sotto-run-mpi: runs a study whose models are trained on several processes, as in `mpirun -n 4
// sotto-run-mpi study.toml`, with the options of `sotto run`.
//
// Rank 0 does what `sotto run` does, and is the only rank that opens the ledger, its key and the
// data. The other ranks wait for their shards. If a rank fails or is killed, all ranks end; the
// same command then continues from the last checkpoint, under the same charge.
#include <exception>

#include "cli/command.hpp"
#include "sotto/random/random.hpp"
#include "study/api/ranks.hpp"
#include "together.hpp"

namespace {

int run_study(sotto::Together& together, int argc, char** argv) {
  sotto::Ranks ranks(together);
  sotto::cli::Command app(
      "Examples:\n"
      "  mpirun -n 4 sotto-run-mpi study.toml\n"
      "\n"
      "Runs a study as `sotto run` does, and trains its models on all ranks that mpirun started.",
      "sotto-run-mpi", "sotto-run-mpi " SOTTO_VERSION);
  sotto::cli::make_run_command(app, &ranks);
  const int status = sotto::cli::run_program(app, argc, argv);
  if (!ranks.are_waiting())
    sotto::Mpi::abort_all(status);  // they are within a step, and would wait for ever
  ranks.dismiss();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  (void)sotto::Random::here()
      .word();  // keys the generator before MPI, which may read random bytes of the system, too
  const sotto::Mpi mpi;
  try {
    const auto together = sotto::together_by_mpi();
    if (together->rank() == 0) return run_study(*together, argc, argv);
    sotto::run_worker_rank(*together);
    return 0;
  } catch (const std::exception& error) {
    sotto::cli::say(error.what());
    sotto::Mpi::abort_all();
  }
}
