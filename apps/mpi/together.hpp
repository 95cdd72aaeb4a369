// Ranks over MPI.
#pragma once

#include <memory>

#include "sotto/learning/train.hpp"

namespace sotto {

/// The processes that mpirun has started. MPI has been set up by the caller (Mpi below), and one thread of each process calls it.
/// What a rank sends are sums of clipped gradients and the secret of the run: the network between the ranks is as trusted as their memory.
std::unique_ptr<Together> together_by_mpi();

/// From here to its end MPI can be used. A process that ends by an exception must call `give_up`, or the others wait for it.
class Mpi {
 public:
  Mpi();
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  /// Ends all ranks.
  [[noreturn]] static void give_up(int status = 1);
};

}  // namespace sotto
