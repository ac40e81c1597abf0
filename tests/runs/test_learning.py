"""The environment of anabranch.runs.learning, windows that are held, and the policy of examples/learning."""

import runpy
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from anabranch import Scenario, ScenarioError, Study
from anabranch.runs.learning import FEATURES, CongestionEnv, Interval, LinearPolicy, observe
from anabranch.runs.stepping import Simulation

FOLDER = Path(__file__).parents[2] / "examples" / "learning"
AGENT = {"preset": "linux-reno", "congestion_control": "held"}
MSS = 1448


def dumbbell(hosts: int = 1, **run: Any) -> Scenario:
    names = [[f"{side}{host + 1}" for host in range(hosts)] for side in ("left", "right")]
    return Scenario.from_data(
        {
            "network": {
                "topology": "dumbbell",
                "parameters": {"hosts": hosts, "bottleneck_capacity": "20 Mbps", "bottleneck_delay": "10 ms"},
                "links": {"capacity": "1 Gbps", "delay": "1 ms", "queue": "200 packets"},
            },
            "transport": {"agent": AGENT},
            "traffic": [
                {"name": "agent", "from": names[0], "to": names[1], "pairs": "in-order", "transport": "agent"}
            ],
            "run": {"duration": "3 s"} | run,
        }
    )


def opened(scenario: Scenario) -> Simulation:
    return scenario.start().advance("200 ms")


def rate_mbps(simulation: Simulation, span: str = "500 ms") -> float:
    """Payload that the sender of the first flow learns to be delivered, over this span."""
    before, began = simulation.held("agent.0").delivered_bytes, simulation.now.seconds
    simulation.advance(span)
    return (simulation.held("agent.0").delivered_bytes - before) * 8e-6 / (simulation.now.seconds - began)


def test_a_held_window_is_a_window_in_each_round_trip() -> None:
    simulation = opened(dumbbell())
    simulation.hold("agent.0", 20 * MSS)
    simulation.advance("100 ms")
    mbps = rate_mbps(simulation)
    flow = simulation.held("agent.0")
    assert flow.cwnd_bytes == 20 * MSS
    assert mbps == pytest.approx(20 * MSS * 8e-6 / flow.rtt_s, rel=0.05)
    # Twice the window is twice the rate, as long as the path is not full.
    simulation.hold("agent.0", 30 * MSS)
    simulation.advance("100 ms")
    assert rate_mbps(simulation) == pytest.approx(1.5 * mbps, rel=0.1)


def test_a_pacing_rate_is_kept_and_given_back() -> None:
    simulation = opened(dumbbell())
    simulation.hold("agent.0", 100 * MSS, 5e6)
    simulation.advance("200 ms")
    assert rate_mbps(simulation) == pytest.approx(5, rel=0.02)
    simulation.hold("agent.0", 100 * MSS)
    simulation.advance("100 ms")
    assert rate_mbps(simulation) > 18


def test_losses_leave_a_held_window_as_it_is() -> None:
    lossy = dumbbell().replace({"network.links.loss": 0.01})
    simulation = opened(lossy)
    simulation.hold("agent.0", 20 * MSS)
    simulation.advance("1 s")
    flow = simulation.held("agent.0")
    assert flow.lost_bytes > 0
    assert flow.cwnd_bytes == 20 * MSS
    assert simulation.finish().flows["retransmissions"][0] * MSS >= flow.lost_bytes


def test_what_cannot_be_held_is_refused() -> None:
    data = dumbbell(2).data()
    data["traffic"] += [{"name": "other", "from": "left1", "to": "right1", "transport": "cubic"}]
    simulation = Scenario.from_data(data).start()
    for flow, numbers, message in (
        ("agent.0", (1e5,), "its connection is not open now"),
        ("other.0", (1e5,), "does not take a window"),
        ("agnt.0", (1e5,), 'no flow "agnt.0"; nearest: "agent.0"'),
        ("agent.0", (-1,), "cwnd_bytes is -1"),
        ("agent.0", (float("nan"),), "cwnd_bytes is nan"),
        ("agent.0", (1e5, float("inf")), "pacing_bps is inf"),
    ):
        with pytest.raises(ValueError, match=message):
            simulation.hold(flow, *numbers)
    with pytest.raises(ValueError, match="does not take a window"):
        simulation.held("other.0")


def test_the_environment_is_one_of_gymnasium() -> None:
    for pacing in (False, True):
        env = CongestionEnv(dumbbell(2), pacing=pacing)
        check_env(env, skip_render_check=True)
        assert env.flows == ("agent.0", "agent.1")
        assert env.action_space.shape == (4 if pacing else 2,)
        assert env.observation_space.shape == (2 * len(FEATURES),)


def episode(env: CongestionEnv, seed: int | None, **options: Any) -> tuple[list[list[float]], list[float]]:
    observations, rewards, over = [env.reset(seed=seed, options=options or None)[0].tolist()], [], False
    draw = np.random.default_rng(1)
    while not over:
        seen, reward, terminated, truncated, _ = env.step(draw.uniform(-0.5, 0.5, env.action_space.shape))
        observations.append(seen.tolist())
        rewards.append(reward)
        over = terminated or truncated
    return observations, rewards


def test_the_same_seed_gives_the_same_episodes() -> None:
    make = partial(
        CongestionEnv,
        dumbbell().replace({"network.links.loss": 0.01}),
        vary={"network.parameters.bottleneck_delay": ["5 ms", "10 ms", "20 ms"]},
    )
    one, other = make(), make()
    assert episode(one, 3) == episode(other, 3)
    assert (second := episode(one, None)) == episode(other, None), "the episodes after it, too"
    assert second != episode(one, 3)
    assert len(episode(one, 4)[1]) == pytest.approx(150, abs=5), "3 s of 20 ms, less the handshake"


def test_processes_have_the_episodes_that_one_process_has() -> None:
    make = partial(CongestionEnv, dumbbell(), step="50 ms")
    many = AsyncVectorEnv([make, make], context="spawn")
    try:
        actions = np.array([[0.3], [-0.3]], dtype=np.float32)
        first, _ = many.reset(seed=[1, 2])
        answers = [first] + [many.step(actions)[0] for _ in range(10)]
    finally:
        many.close()
    for place, seed in enumerate((1, 2)):
        env = make()
        alone = [env.reset(seed=seed)[0]] + [env.step(actions[place])[0] for _ in range(10)]
        assert [seen[place].tolist() for seen in answers] == [seen.tolist() for seen in alone]


def test_the_reward_is_rate_less_delay() -> None:
    env = CongestionEnv(dumbbell(), rate_mbps=20, delay_weight=0.5)
    env.reset(seed=1)
    short = [env.step(np.zeros(1))[1] for _ in range(40)][-20:]
    flow = env.simulation.held("agent.0")

    def worth(rate_mbps: float) -> float:
        return rate_mbps / 20 - 0.5 * (flow.srtt_s / flow.min_rtt_s - 1)

    # The initial window in each round trip, which the last ACK of a window makes up to a tenth longer.
    assert np.mean(short) == pytest.approx(worth(10 * MSS * 8e-6 / flow.srtt_s), abs=0.025)
    for _ in range(4):
        env.step(np.ones(1))
    crowded = [env.step(np.zeros(1))[1] for _ in range(30)][-5:]
    flow = env.simulation.held("agent.0")
    assert flow.lost_bytes == 0
    assert flow.srtt_s > 3 * flow.min_rtt_s, "a window of 160 segments is a queue"
    # 20 Mbps less headers of 52 bytes in 1500.
    assert np.mean(crowded) == pytest.approx(worth(20 * MSS / 1500), abs=0.05)


def test_an_episode_ends_with_its_flow() -> None:
    env = CongestionEnv(dumbbell().replace({"traffic[0].size": "300 kB"}))
    env.reset(seed=1)
    ends = [env.step(np.zeros(1))[2:4] for _ in range(60)]
    assert (True, False) in ends
    assert ends.index((True, False)) < 40


def test_mistakes_are_told() -> None:
    for given, message in (
        ({"scenario": dumbbell().replace({"traffic[0].transport": "cubic"})}, "no flow can be controlled"),
        ({"step": "0 s"}, "step: 0 is not above zero"),
        ({"rate_mbps": -1}, "rate_mbps: -1 is not above zero"),
    ):
        with pytest.raises(ScenarioError, match=message):
            CongestionEnv(**{"scenario": dumbbell()} | given)  # type: ignore[arg-type]
    late = CongestionEnv(dumbbell().replace({"traffic[0].start": "2 s"}))
    with pytest.raises(ScenarioError, match="does not open within the run"):
        late.reset(seed=1, options={"run.duration": "1 s"})
    with pytest.raises(ScenarioError, match="no such key"):
        late.reset(options={"network.lanes": 1})
    env = CongestionEnv(dumbbell())
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step(np.zeros(1))
    env.reset(seed=1)
    for action in (np.zeros(2), np.array([np.nan]), 0.0):
        with pytest.raises(ValueError, match="an action is 1 numbers"):
            env.step(action)  # type: ignore[arg-type]


def test_without_gymnasium_the_environment_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from anabranch.runs.learning import LinearPolicy\n"
        "try:\n    from anabranch.runs.learning import CongestionEnv\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert 'install it with: pip install "cma>=' in answer.stdout


def test_features_by_hand() -> None:
    seen = observe(Interval(0.02, 1000, 15_000, 5_000, 32_000, 16_000, 0.05, 0.04))
    # 15 kB in 20 ms are 30 kB in 40 ms.
    assert seen == pytest.approx([0.25, 30 / 32, 0.25, 0.5, 0.5])
    assert observe(Interval(0.02, 1000, 0, 0, 0, 0, 0, 0)) == [0, 0, 0, 0, 0], "before the first sample"


def test_a_policy_has_a_weight_for_each_feature() -> None:
    assert LinearPolicy([1, 0, 0, 0, 2, 0.5]).act([0.1, 9, 9, 9, 0.2]) == pytest.approx(np.tanh(1.0))
    for weights in ([1, 2], [0, 0, 0, 0, 0, float("nan")]):
        with pytest.raises(ValueError, match="6 finite numbers"):
            LinearPolicy(weights)


def test_ten_thousand_steps_take_a_second() -> None:
    """Of processor time; the bound leaves room for machines of half the speed."""
    env = CongestionEnv(dumbbell(), rate_mbps=20)
    env.reset(seed=1)
    began, steps = time.process_time(), 0
    action = np.zeros(1, dtype=np.float32)
    while steps < 3000:
        _, _, terminated, truncated, _ = env.step(action)
        steps += 1
        if terminated or truncated:
            env.reset()
    assert steps / (time.process_time() - began) > 5000


def score(run: dict[str, Any]) -> float:
    """The task: share of 20 Mbps, less half of the queueing delay in round-trip times."""
    return float(run["goodput_mbps"] / 20 - 0.5 * (run["rtt_mean_ms"] / run["rtt_min_ms"] - 1))


@pytest.mark.parametrize("delay", ["15 ms", "35 ms"])
@pytest.mark.parametrize("loss", [0.0, 0.005, 0.015])
def test_the_trained_policy_beats_newreno(loss: float, delay: str) -> None:
    """At losses and delays that it has not been trained with."""
    trained_with = runpy.run_path(str(FOLDER / "train.py"))["VARY"]
    assert delay not in trained_with["network.link[1].delay"]

    def scored(transport: str) -> float:
        changes = {
            "traffic[0].transport": transport, "network.link[1].loss": loss, "network.link[1].delay": delay,
        }  # fmt: skip
        return score(Scenario.load(FOLDER / "lossy.toml", changes).run(trust=True).flows.row(0, named=True))

    assert scored("learned") > scored("newreno") + 0.2


def test_the_policy_does_in_a_sender_what_it_does_in_the_environment() -> None:
    training = runpy.run_path(str(FOLDER / "train.py"))
    weights = Scenario.load(FOLDER / "lossy.toml").data()["transport"]["learned"]["congestion_control"]
    policy = LinearPolicy([weights[name] for name in (*FEATURES, "constant")])
    env, over = training["environment"](), False
    changes = {"network.link[1].delay": "20 ms", "network.link[1].loss": 0.005}
    features, _ = env.reset(seed=1, options=changes)
    while not over:
        features, _, terminated, truncated, _ = env.step(np.array([policy.act(features.tolist())]))
        over = terminated or truncated
    inside = env.simulation.finish().flows.row(0, named=True)
    row = Scenario.load(FOLDER / "lossy.toml", changes).run(trust=True).flows.row(0, named=True)
    assert score(row) == pytest.approx(score(inside), abs=0.1)


def test_the_study_of_the_example_runs(tmp_path: Path) -> None:
    runs = Study.load(FOLDER / "study.toml").run(trust=True, out=tmp_path / "study", jobs=2).runs
    assert runs["status"].unique().to_list() == ["ok"]
    means = runs.filter(pl.col("loss") > 0).group_by("congestion_control").agg(pl.col("goodput_mbps").mean())
    rates = dict(means.rows())
    assert rates["learned"] > 2 * rates["newreno"]


def test_a_training_improves() -> None:
    """A short one; the whole one is `make train`."""
    training = runpy.run_path(str(FOLDER / "train.py"))
    mean_reward = training["mean_reward"]
    weights = Scenario.load(FOLDER / "lossy.toml").data()["transport"]["learned"]["congestion_control"]
    trained = np.array([weights[name] for name in (*FEATURES, "constant")])
    assert mean_reward(trained, 99, 4) > mean_reward(np.zeros_like(trained), 99, 4) + 0.2
    assert mean_reward(trained, 99, 2) == mean_reward(trained, 99, 2)
