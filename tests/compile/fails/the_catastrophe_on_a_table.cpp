// The mechanism that reveals everything with probability delta, applied to somebody's table.
// error: too many arguments to function ('sotto::CatastropheAttack sotto::catastrophe_attack|call, expected at most single argument 'settings')
#include "course/api/attack_catastrophe.hpp"

auto revealed(const std::vector<std::uint8_t>& table) { return sotto::catastrophe_attack({.delta = 0.01}, table); }
