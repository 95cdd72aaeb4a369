// A program of somebody who installed sotto.
#include <iostream>

#include "sotto/plan/text.hpp"

int main() { std::cout << sotto::print(sotto::parse("2 * gaussian(3)")) << '\n'; }
