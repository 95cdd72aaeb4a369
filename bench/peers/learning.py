"""Seconds a step of private training by Opacus and by NumPy: learning.py FOLDER THREADS

FOLDER holds adult.features (float32), adult.targets (int32) and the same of mnist, as bench_learning export writes them. Each line is
"name<tab>seconds<tab>seconds of processor time": whole steps with sampling, clipping, noise and update, the best of several runs of several
steps.
"""
import os
import sys
import time
import warnings

FOLDER, THREADS = sys.argv[1], int(sys.argv[2])
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402  after the number of threads is set

BATCH = 2048


def load(name, width):
    return (np.fromfile(f"{FOLDER}/{name}.features", np.float32).reshape(-1, width), np.fromfile(f"{FOLDER}/{name}.targets", np.int32))


def say(name, times):
    print(f"{name}\t{times[0]:.9f}\t{times[1]:.9f}", flush=True)


def best(run, steps, least_time=3.0, least_runs=5):
    """run() takes `steps` steps."""
    run()
    wall, processor, spent, runs = float("inf"), float("inf"), 0.0, 0
    while runs < least_runs or spent < least_time:
        start, processor_start = time.perf_counter(), time.process_time()
        run()
        took = time.perf_counter() - start
        processor = min(processor, (time.process_time() - processor_start) / steps)
        wall, spent, runs = min(wall, took / steps), spent + took, runs + 1
    return wall, processor


def numpy_logistic(x, y):
    """What does not change is computed once: the intercept's column, the rows' norms. A gradient is slope · row: its norm is a product."""
    n = len(x)
    x = np.ascontiguousarray(np.hstack([x, np.ones((n, 1), np.float32)]))
    y = y.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", x, x))
    rng = np.random.Generator(np.random.SFC64())
    rate = np.float32(BATCH / n)
    weights = np.zeros(x.shape[1], np.float32)

    def run():
        nonlocal weights
        for _ in range(20):
            chosen = np.flatnonzero(rng.random(n, dtype=np.float32) < rate)
            rows = x[chosen]
            slope = 1 / (1 + np.exp(-(rows @ weights))) - y[chosen]
            slope *= np.minimum(1, 1 / (np.abs(slope) * norms[chosen] + np.float32(1e-12)))
            total = slope @ rows + rng.standard_normal(len(weights), dtype=np.float32)
            weights = weights - np.float32(0.5 / BATCH) * total

    return best(run, 20)


def opacus_steps(module, loss, x, y, size, mode):
    """One epoch of make_private's loader a run."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(THREADS)
    optimiser = torch.optim.SGD(module.parameters(), lr=size)
    loader = DataLoader(TensorDataset(torch.from_numpy(x), y), batch_size=BATCH)
    made = PrivacyEngine().make_private(module=module, optimizer=optimiser, data_loader=loader, criterion=loss, noise_multiplier=1.0,
                                        max_grad_norm=1.0, poisson_sampling=True, grad_sample_mode=mode)
    if mode == "ghost":
        module, optimiser, loss, loader = made
    else:
        module, optimiser, loader = made

    def run():
        for rows, targets in loader:
            optimiser.zero_grad()
            loss(module(rows), targets).backward()
            optimiser.step()

    return best(run, len(loader))


def main():
    warnings.filterwarnings("ignore")
    x, y = load("adult", 108)
    say("adult numpy", numpy_logistic(x, y))
    try:
        import opacus
        import torch
    except ImportError as error:
        print(f"Opacus is not measured: {error}", file=sys.stderr)
        return
    print(f"opacus {opacus.__version__}, torch {torch.__version__}, numpy {np.__version__}", file=sys.stderr)

    class Logistic(torch.nn.Linear):
        def forward(self, rows):
            return super().forward(rows).squeeze(-1)

    labels = torch.from_numpy(y.astype(np.float32))
    say("adult opacus", opacus_steps(Logistic(108, 1), torch.nn.BCEWithLogitsLoss(), x, labels, 0.5, "hooks"))
    for name, width, hidden, classes in (("adult opacus ghost", 108, (), 2), ("mlp opacus ghost", 784, (128, 64), 10)):
        features, targets = load(name.split()[0] if width == 108 else "mnist", width)
        sizes = (width, *hidden, classes)
        layers = []
        for before, after in zip(sizes, sizes[1:]):
            layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
        say(name, opacus_steps(torch.nn.Sequential(*layers[:-1]), torch.nn.CrossEntropyLoss(), features, torch.from_numpy(targets.astype(np.int64)), 0.1,
                               "ghost"))


if __name__ == "__main__":
    main()
