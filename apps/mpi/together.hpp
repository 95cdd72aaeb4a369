// The ranks of a training that exchange sums over MPI.
#pragma once

#include <memory>

#include "sotto/learning/train.hpp"

namespace sotto {

/// Returns the processes that mpirun started. An object of class Mpi must exist, and one thread
/// alone of each process may use the result.
///
/// Ranks exchange sums of clipped gradients and the secret of the run in the clear, so the network
/// between them must be as trusted as their memory.
std::unique_ptr<Together> together_by_mpi();

/// Initialises MPI for as long as it lives. A process that ends by an exception must call
/// abort_all(), or the other ranks wait for it for ever.
class Mpi {
 public:
  Mpi();
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  /// Ends all ranks with this exit code.
  [[noreturn]] static void abort_all(int status = 1);
};

}  // namespace sotto
