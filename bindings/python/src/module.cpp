// The extension module binds the library's functions and computes nothing itself. The package
// around it is bindings/python/sotto.
#include "bindings.hpp"

NB_MODULE(_sotto, m) {
  using namespace sotto::python;
  m.attr("__version__") = SOTTO_VERSION;
  bind_errors(m);
  bind_plans(m);
  bind_charts(m);
  bind_accounting(m);
  bind_attacker(m);
  bind_mechanisms(m);
  bind_ledger(m);
  bind_study(m);
  bind_learning(m);
  bind_federated(m);
  bind_simulations(m);
}
