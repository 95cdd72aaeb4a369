// Attacks take settings, and make their data up.
#include "course/api/attack_catastrophe.hpp"
#include "course/api/attack_floating_point.hpp"

auto revealed() { return sotto::catastrophe_attack({.delta = 0.01}); }
auto told() { return sotto::floating_point_attack({.value = 3}); }
