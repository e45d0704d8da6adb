#!/usr/bin/env python3
"""Writes tests/optim/data: what torch.optim and torch.optim.lr_scheduler compute, in float64.

    python3 scripts/reference/make_optimizer_series.py            write
    python3 scripts/reference/make_optimizer_series.py --check    compare with the files; exit status 1 if any differs

Made with PyTorch 1.13.1. Optimisers: twelve steps on five numbers, of which weight decay applies to the second, third and fourth; the
gradient of step t is 0.5 p + sin(t + k) of element k. Schedules: sixty epochs, warm-up by LinearLR before the schedule.
"""

import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.optim import lr_scheduler

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "optim" / "data"
STEPS, EPOCHS, RATE = 12, 60, 0.1
START = [1.0, -2.0, 0.5, 0.25, -0.125]
DECAYED = slice(1, 4)

OPTIMIZERS = {
    "adam": lambda groups: torch.optim.Adam(groups, lr=0.05, betas=(0.8, 0.98), eps=1e-6),
    "adamw": lambda groups: torch.optim.AdamW(groups, lr=0.05, betas=(0.8, 0.98), eps=1e-6),
    "sgd": lambda groups: torch.optim.SGD(groups, lr=0.05),
    "momentum": lambda groups: torch.optim.SGD(groups, lr=0.05, momentum=0.9),
    "nesterov": lambda groups: torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True),
}


def optimizer_series(make):
    """[STEPS, 5]: the parameters after each step; from step 7 on at half the learning rate."""
    start = torch.tensor(START, dtype=torch.float64)
    plain = [start[:1].clone().requires_grad_(), start[4:].clone().requires_grad_()]
    decayed = start[DECAYED].clone().requires_grad_()
    optimizer = make([{"params": plain, "weight_decay": 0.0}, {"params": [decayed], "weight_decay": 0.1}])
    rows = []
    for step in range(1, STEPS + 1):
        if step == 7:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        for tensor, first in ((plain[0], 0), (decayed, 1), (plain[1], 4)):
            noise = torch.tensor([np.sin(step + first + k) for k in range(len(tensor))], dtype=torch.float64)
            tensor.grad = 0.5 * tensor.detach() + noise
        optimizer.step()
        rows.append(torch.cat([plain[0], decayed, plain[1]]).detach().numpy().copy())
    return np.array(rows)


def warmed_up(optimizer, warmup, schedule):
    """Epoch e of the warm-up runs at e / warmup; the schedule takes its first value in epoch warmup + 1."""
    if warmup == 0:
        return schedule
    linear = lr_scheduler.LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
    return lr_scheduler.SequentialLR(optimizer, [linear, schedule], milestones=[warmup])


def schedule_series(make, warmup):
    """[EPOCHS]: the learning rate of each epoch."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    scheduler = warmed_up(optimizer, warmup, make(optimizer, warmup))
    rates = []
    for _ in range(EPOCHS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return np.array(rates)


SCHEDULES = {
    "step": lambda optimizer, warmup: lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.6),
    "cosine": lambda optimizer, warmup: lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS - warmup, eta_min=0.001),
}


def plateau_series():
    """Losses that fall, stay, creep down by less than the threshold, and jump; the learning rate of each epoch."""
    fall = 1 / np.arange(1, 16)
    creep = fall[-1] * (1 - 2e-6) ** np.arange(1, 26)
    losses = np.concatenate([fall, creep, [np.nan, np.inf], np.linspace(0.04, 0.03, 6), np.full(12, 0.5)])
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=3, factor=0.3, min_lr=1e-4)
    rates = []
    for loss in losses:
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step(loss)
    return losses, np.array(rates)


def all_arrays():
    arrays = {f"optimizer_{name}": optimizer_series(make) for name, make in OPTIMIZERS.items()}
    for name, make in SCHEDULES.items():
        for warmup in (0, 5):
            arrays[f"schedule_{name}_{warmup}"] = schedule_series(make, warmup)
    arrays["plateau_losses"], arrays["schedule_plateau"] = plateau_series()
    return arrays


def main():
    warnings.filterwarnings("ignore", category=UserWarning)  # of SequentialLR's first step
    different = False
    for name, array in all_arrays().items():
        path = FOLDER / f"{name}.npy"
        if "--check" not in sys.argv:
            np.save(path, array)
        elif not np.allclose(np.load(path), array, rtol=1e-12, atol=1e-15, equal_nan=True):
            print(f"{path} differs")
            different = True
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
