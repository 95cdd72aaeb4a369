"""diffprivlib's regressions on the tables that `bench_learning_accuracy encode FOLDER` wrote: learning_accuracy.py FOLDER

Prints lines of table, method, epsilon, mean and standard deviation of ten seeds. diffprivlib's guarantees are pure: delta is 0.
"""
import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression

EPSILONS = (0.1, 0.3, 1, 3)
SEEDS = 10


def read(folder, name):
    table = np.loadtxt(f"{folder}/{name}.csv", delimiter=",")
    return table[:, :-1], table[:, -1]


def adult(folder):
    x, y = read(folder, "adult_train")
    test_x, test_y = read(folder, "adult_test")
    norm = math.sqrt(6 / 3 + 8)  # six numbers, eight categories: what sotto shortens rows to; diffprivlib clips to it too

    def accuracy(epsilon, seed):
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed)
        model.fit(x, y)
        return 100 * np.mean(model.predict(test_x) == test_y)

    return "adult", "diffprivlib LogisticRegression", accuracy


def housing(folder):
    x, y = read(folder, "housing_train")
    test_x, test_y = read(folder, "housing_test")
    low = np.array([-1.0] * 8 + [0.0] * (x.shape[1] - 8))
    high = np.ones(x.shape[1])

    def error(epsilon, seed):
        model = LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=(0, 500_001), random_state=seed)
        model.fit(x, y)
        predicted = np.clip(model.predict(test_x), 0, 500_001)
        return math.sqrt(np.mean((predicted - test_y) ** 2))

    return "housing", "diffprivlib LinearRegression", error


def main():
    warnings.filterwarnings("ignore")
    for table, method, quality in (adult(sys.argv[1]), housing(sys.argv[1])):
        for epsilon in EPSILONS:
            values = [quality(epsilon, seed) for seed in range(SEEDS)]
            print(table, method, epsilon, np.mean(values), np.std(values, ddof=1), sep="\t", flush=True)


if __name__ == "__main__":
    main()
