// Membership: published allele frequencies reveal whether a person's genome was in the pool
// [Homer2008].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct MembershipSettings {
  std::int64_t sites = 2000;  ///< positions in the genome (SNPs), each with one of two alleles
  std::int64_t people = 100;  ///< in the pool
  std::int64_t runs = 20;  ///< the number of pools; sites times people times runs is at most 10^8
  double epsilon = 1;      ///< of the private release of all frequencies
  double delta = 1e-6;
};

/// The true-positive rates at one false-positive rate.
struct MembershipPoint {
  double fpr;
  double exact;    ///< on exact frequencies, as measured
  double noisy;    ///< on the private release, as measured
  double margin;   ///< two standard deviations of `noisy`, from measuring finitely many people
  double ceiling;  ///< upper bound for any attacker on the private release
};

struct MembershipAttack {
  MembershipSettings settings;
  double noise = 0;  ///< σ of the noise on each frequency
  double sensitivity =
      0;  ///< L2 sensitivity of all frequencies together when one person is replaced
  std::int64_t members =
      0;  ///< people in all pools together; equally many people outside them are tested
  std::vector<MembershipPoint> points{};  ///< at round false-positive rates
  std::vector<MembershipPoint> curve{};   ///< at rates from 1/members to 1
};

/// Uses made-up genomes. The attacker knows a person's alleles y, the frequencies p of the
/// population and the released ones m, and computes Homer's distance |y-p| - |y-m|, summed over the
/// sites. Its mean over the population subtracted and halved, that is Σ(y-p)(m-p). Throws
/// InvalidValue for settings out of range.
MembershipAttack membership_attack(const MembershipSettings& settings = {});

}  // namespace sotto
