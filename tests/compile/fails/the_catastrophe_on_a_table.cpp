// The mechanism that reveals everything with probability delta, applied to somebody's table.
#include "sotto/audit/attack_catastrophe.hpp"

auto revealed(const std::vector<std::uint8_t>& table) { return sotto::catastrophe_attack({.delta = 0.01}, table); }
