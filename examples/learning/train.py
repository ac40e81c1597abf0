"""Trains the policy of lossy.toml: episodes in the environment, weights by CMA-ES (package cma).

python examples/learning/train.py               # prints the weights; minutes on two cores
python examples/learning/train.py --save        # and writes them into lossy.toml
"""

import argparse
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cma
import numpy as np

from anabranch.runs.learning import FEATURES, CongestionEnv, LinearPolicy

FILE = Path(__file__).with_name("lossy.toml")
CAPACITY_MBPS, DELAY_WEIGHT = 20, 0.5
# What the policy has to do with: each episode draws one of each.
VARY = {
    "network.link[1].delay": ["5 ms", "10 ms", "20 ms", "30 ms", "40 ms", "60 ms"],
    "network.link[1].loss": [0.0, 0.001, 0.01, 0.02],
    "network.link[1].queue": ["50 packets", "200 packets"],
}
EPISODES, POPULATION, GENERATIONS, SEED = 12, 12, 50, 1


def environment() -> CongestionEnv:
    """The task: the share of the capacity, less half of the queueing delay in round-trip times."""
    return CongestionEnv(
        FILE,
        flows=["download.0"],
        rate_mbps=CAPACITY_MBPS,
        delay_weight=DELAY_WEIGHT,
        vary=VARY | {"traffic[0].transport": ["agent"]},
        # The policy beside this program is as much one's own as the program.
        trust=True,
    )


def mean_reward(weights: np.ndarray, seed: int, episodes: int = EPISODES) -> float:
    """What a step of these episodes is worth; the same seed gives all policies the same episodes."""
    env, policy = environment(), LinearPolicy(weights.tolist())
    total, steps = 0.0, 0
    for episode in range(episodes):
        features, _ = env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            features, reward, terminated, truncated, _ = env.step(np.array([policy.act(features.tolist())]))
            total, steps, over = total + reward, steps + 1, terminated or truncated
    return total / steps


def train(generations: int, workers: int) -> np.ndarray:
    """The best mean of CMA-ES; each generation has episodes of its own."""
    search = cma.CMAEvolutionStrategy(
        np.zeros(len(FEATURES) + 1), 0.5, {"seed": SEED, "popsize": POPULATION, "verbose": -9}
    )
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for generation in range(generations):
            candidates = search.ask()
            seeds = [SEED + generation] * len(candidates)
            rewards = list(pool.map(mean_reward, candidates, seeds))
            search.tell(candidates, [-reward for reward in rewards])
            print(f"generation {generation + 1}: {np.mean(rewards):.3f}, best {max(rewards):.3f}", flush=True)
    return search.result.xfavorite


def main() -> None:
    """Trains, and says what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="write the weights into lossy.toml")
    choice = parser.parse_args()
    weights = train(choice.generations, choice.workers)
    text = FILE.read_text(encoding="utf-8")
    for name, weight in zip((*FEATURES, "constant"), weights, strict=True):
        line = f"{name} = {weight:.3f}"
        print(line)
        text = re.sub(rf"^{name} = .*$", line, text, flags=re.MULTILINE)
    if choice.save:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
