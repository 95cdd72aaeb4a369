#include <iostream>

#include "sotto/core/decimal.hpp"

int main() { std::cout << sotto::shortest(0.1) << "\n"; }
