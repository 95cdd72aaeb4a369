"""ns for each number of a vector to which opendp adds noise, in batch: noise.py"""
import time

import opendp.prelude as dp

dp.enable_features("contrib")


def nanoseconds(mechanism, values):
    mechanism(values[:100])
    start = time.process_time()
    mechanism(values)
    return (time.process_time() - start) / len(values) * 1e9


def main():
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    values = [0.25] * 20_000
    laplace = dp.m.make_laplace(space, dp.l1_distance(T=float), scale=1.5)
    gaussian = dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=1.5)
    for name, mechanism in (("Gaussian", gaussian), ("Laplace", laplace)):
        print(f"opendp: {name}, vector of 20,000\t{nanoseconds(mechanism, values):.0f}")


if __name__ == "__main__":
    main()
