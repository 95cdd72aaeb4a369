// Membership: published allele frequencies tell whether somebody's genome was in the pool [Homer2008].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct MembershipSettings {
  std::int64_t sites = 2000;  ///< places in the genome (SNPs), each with one allele or the other
  std::int64_t people = 100;  ///< in the pool
  std::int64_t runs = 20;     ///< pools; sites times people times runs up to 10^8
  double epsilon = 1;         ///< of the private release of all frequencies
  double delta = 1e-6;
};

/// The true-positive rates at one false-positive rate.
struct MembershipPoint {
  double fpr;
  double exact;    ///< on exact frequencies, as measured
  double noisy;    ///< on the private release, as measured
  double margin;   ///< two standard deviations of the latter: what chance does in measuring
  double ceiling;  ///< what no attacker on the private release exceeds
};

struct MembershipAttack {
  MembershipSettings settings;
  double noise = 0;                       ///< σ of the noise on each frequency
  double sensitivity = 0;                 ///< L2, of all frequencies together when one person is replaced
  std::int64_t members = 0;               ///< people tested, all pools together; as many others are
  std::vector<MembershipPoint> points{};  ///< at round rates
  std::vector<MembershipPoint> curve{};   ///< from one person in `members` to 1
};

/// Made-up genomes. The attacker knows a person's alleles y, the population's frequencies p and the released ones m, and computes
/// Homer's distance |y-p| - |y-m|, summed over the sites; less its mean over the population and halved that is Σ(y-p)(m-p).
/// InvalidValue for settings out of range.
MembershipAttack membership_attack(const MembershipSettings& settings = {});

}  // namespace sotto
