// Collective operations of MPI, in pieces that its int counts can express.
#include "together.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace sotto {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 26U;  // MPI counts elements in an int

void require(int result) {
  if (result != MPI_SUCCESS)
    throw std::runtime_error("an MPI call failed: can the hosts of mpirun reach each other?");
}

template <class T, class Call>
void in_pieces(std::span<T> numbers, const Call& call) {
  for (std::size_t from = 0; from < numbers.size(); from += most_at_once) {
    const std::span<T> piece = numbers.subspan(from, std::min(most_at_once, numbers.size() - from));
    require(call(piece.data(), static_cast<int>(piece.size())));
  }
}

class MpiRanks final : public Together {
 public:
  MpiRanks() {
    require(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    require(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  // Sums of whole numbers are exact, so they do not depend on the order of the ranks.
  void sum(std::span<std::int64_t> numbers) override {
    in_pieces(numbers, [](void* at, int count) {
      return MPI_Allreduce(MPI_IN_PLACE, at, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    });
  }
  void share(std::span<std::uint64_t> numbers) override {
    in_pieces(numbers, [](void* at, int count) {
      return MPI_Bcast(at, count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    });
  }
  void share(std::span<double> numbers) override {
    in_pieces(numbers, [](void* at, int count) {
      return MPI_Bcast(at, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    });
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<Together> together_by_mpi() { return std::make_unique<MpiRanks>(); }

Mpi::Mpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    throw std::runtime_error("MPI cannot be initialised: was this program started by mpirun?");
  }
}
Mpi::~Mpi() { MPI_Finalize(); }
void Mpi::abort_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace sotto
