// The insecure noise that the floating-point attack is about, applied to a value.
// error: 'textbook_release' is not a member of 'sotto'|no member named 'textbook_release' in namespace 'sotto'
#include "course/api/attack_floating_point.hpp"

double noisy(double value) { return sotto::textbook_release(value, 1.0); }
