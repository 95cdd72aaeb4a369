// The results of the attacks as text and as charts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "course/api/attack_averaging.hpp"
#include "course/api/attack_catastrophe.hpp"
#include "course/api/attack_differencing.hpp"
#include "course/api/attack_floating_point.hpp"
#include "course/api/attack_gradient_inversion.hpp"
#include "course/api/attack_membership.hpp"
#include "course/api/attack_overfitting.hpp"
#include "course/api/attack_reconstruction.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// The common form of all attack results.
struct AttackReport {
  struct Column {
    std::string name{};     ///< in JSON and CSV
    std::string heading{};  ///< in a table
    std::vector<double> values{};
  };

  std::string attack{};  ///< "averaging", …
  std::vector<std::pair<std::string, double>>
      settings{};                 ///< the settings and the values derived from them, by name
  std::vector<Column> columns{};  ///< of equal length
  std::string learnt{};           ///< what the attacker knows in the end, in a sentence or two
  std::string stopped_by{};       ///< the budget that would have stopped it
  Chart chart{};
};

AttackReport report_of(const AveragingAttack& attack);
AttackReport report_of(const ReconstructionAttack& attack);
AttackReport report_of(const MembershipAttack& attack);
AttackReport report_of(const FloatingPointAttack& attack);
AttackReport report_of(const DifferencingAttack& attack);
AttackReport report_of(const CatastropheAttack& attack);
AttackReport report_of(const OverfittingAttack& attack);
AttackReport report_of(const GradientInversionAttack& attack);

/// Returns the rows, what the attacker learnt, and what would have stopped the attack;
/// sotto.attack/1.
std::string attack_text(const AttackReport& report, Format format);

}  // namespace sotto
