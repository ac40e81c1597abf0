"""The environment: an agent sets the windows of flows between the steps of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import Problem, ScenarioError, installation
from anabranch.runs.learning.observation import FEATURES, Interval, observe
from anabranch.runs.stepping import HeldFlow, Simulation
from anabranch.scenario.quantity import Span
from anabranch.scenario.scenario import Scenario

try:
    import gymnasium
except ModuleNotFoundError as error:
    message = f"the environment needs gymnasium; install it with: {installation('learning')}"
    raise ModuleNotFoundError(message, name=error.name) from None

Vector = NDArray[np.float32]

_MOST_SEGMENTS = 2.0**40
"""Where windows end, which are doubled without end otherwise: the bound of the feature ``window``."""


class CongestionEnv(gymnasium.Env[Vector, Vector]):
    """Congestion control of one or more flows, a step of simulated time after the other.

    An action is a number from -1 to 1 for each flow: its window times two to this power. With ``pacing``
    there is a second one for each, behind all windows: the flow is paced at two to this power windows a
    smoothed round-trip time. An observation is :data:`~anabranch.runs.learning.FEATURES` of each flow over
    the step. The reward is the mean over the flows of

        delivered rate / ``rate_mbps``  -  ``delay_weight`` (srtt / smallest round-trip time - 1).

    An episode begins when all flows are open. It is terminated when one of them is complete or has failed,
    and truncated at the end of the run. Each has a seed of its own, drawn from that of the environment.
    """

    def __init__(
        self,
        scenario: Scenario | Path | str,
        *,
        flows: Sequence[str] = (),
        step: Span | str = "20 ms",
        pacing: bool = False,
        rate_mbps: float = 10.0,
        delay_weight: float = 0.5,
        vary: Mapping[str, Sequence[Any]] | None = None,
        trust: bool = False,
    ) -> None:
        """Reads the scenario, and runs nothing yet.

        Args:
            scenario: what is simulated, or its file.
            flows: names of the flows that the agent controls; all with ``held`` if left out.
            step: simulated time of a step.
            pacing: whether the agent sets pacing rates, too.
            rate_mbps: the rate that is worth 1 a step, in Mbps.
            delay_weight: what a queueing delay of one smallest round-trip time costs.
            vary: fields of the scenario with values; each episode draws one of each.
            trust: let code of somebody else's run, if the scenario names some.

        Raises:
            ScenarioError: if the scenario does not hold, a step is no time, or no flow can be controlled.
        """
        loaded = Scenario.load(scenario) if isinstance(scenario, (Path, str)) else scenario
        self._scenario = loaded.trusted() if trust else loaded
        self._step_ps = int(Span.validate(step))
        for name, value in (("step", self._step_ps), ("rate_mbps", rate_mbps)):
            if not value > 0:
                raise ScenarioError([Problem(name, f"{value} is not above zero")], "CongestionEnv")
        self._pacing, self._rate_mbps, self._delay_weight = pacing, rate_mbps, delay_weight
        self._vary = {field: list(values) for field, values in (vary or {}).items()}
        self._simulation: Simulation | None = None
        self._flows = list(flows) or self._held_flows()
        self._last: list[HeldFlow] = []
        self._windows: list[float] = []
        count = len(self._flows)
        bounds = np.array(list(FEATURES.values()) * count, dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(np.zeros_like(bounds), bounds, dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (count * (1 + pacing),), dtype=np.float32)

    def _held_flows(self) -> list[str]:
        """All flows that can be controlled.

        Raises:
            ScenarioError: if there is none.
        """
        simulation = Simulation(self._scenario)
        names = []
        for name in simulation.flows["name"]:
            try:
                simulation.held(name)
            except ValueError:
                continue
            names.append(name)
        if not names:
            message = 'no flow can be controlled; give a transport congestion_control = "held"'
            raise ScenarioError([Problem("transport", message)], self._scenario.origin)
        return names

    @property
    def flows(self) -> tuple[str, ...]:
        """The names of the flows that the agent controls, in the order of actions and observations."""
        return tuple(self._flows)

    @property
    def simulation(self) -> Simulation:
        """The run of this episode: to look at its tables, or to finish it.

        Raises:
            RuntimeError: before the first ``reset``.
        """
        if self._simulation is None:
            raise RuntimeError("there is no episode yet; call reset first")
        return self._simulation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: of this and all later episodes; the same one gives the same episodes.
            options: fields of the scenario with values for this episode alone; they come before ``vary``.

        Raises:
            ScenarioError: if the scenario does not hold with these values, or a flow never opens.
        """
        super().reset(seed=seed)
        changes: dict[str, Any] = {"run.seed": int(self.np_random.integers(2**31))}
        for field, values in self._vary.items():
            changes[field] = values[int(self.np_random.integers(len(values)))]
        changes |= options or {}
        self._simulation = simulation = Simulation(self._scenario.replace(changes))
        end = int(simulation.end)
        while True:
            self._last = [simulation.held(flow) for flow in self._flows]
            closed = [
                name for name, flow in zip(self._flows, self._last, strict=True) if flow.state != "open"
            ]
            if not closed:
                break
            if int(simulation.now) >= end:
                message = f"flow {closed[0]} does not open within the run, so that no agent can control it"
                raise ScenarioError([Problem("run.duration", message)], self._scenario.origin)
            simulation.advance(Span(self._step_ps))
        self._windows = [float(flow.cwnd_bytes) for flow in self._last]
        return self._observation(self._last), self._info(changes)

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Sets the windows, and goes on by a step.

        Raises:
            RuntimeError: before the first ``reset``.
            ValueError: if the action is no vector of numbers of this size.
        """
        simulation, count = self.simulation, len(self._flows)
        wanted = np.asarray(action, dtype=float)
        if wanted.shape != self.action_space.shape or np.isnan(wanted).any():
            raise ValueError(f"an action is {count * (1 + self._pacing)} numbers, not {action}")
        values = wanted.clip(-1, 1).tolist()
        for place, (name, flow) in enumerate(zip(self._flows, self._last, strict=True)):
            least = float(flow.mss_bytes)
            window = min(max(self._windows[place] * 2 ** values[place], least), least * _MOST_SEGMENTS)
            self._windows[place] = window
            rate = None
            if self._pacing and flow.srtt_s > 0:
                rate = 2 ** values[count + place] * window * 8 / flow.srtt_s
            if flow.state == "open":
                simulation.hold(name, window, rate)
        simulation.advance(Span(self._step_ps))
        now = [simulation.held(flow) for flow in self._flows]
        observation, reward = self._observation(now), self._reward(now)
        self._last = now
        terminated = any(flow.state != "open" for flow in now)
        truncated = not terminated and simulation.now >= simulation.end
        return observation, reward, terminated, truncated, self._info({})

    def _observation(self, now: Sequence[HeldFlow]) -> Vector:
        """What has happened to all flows since the last step."""
        features: list[float] = []
        for flow, before, window in zip(now, self._last, self._windows, strict=True):
            features += observe(
                Interval(
                    self._step_ps / 1e12,
                    flow.mss_bytes,
                    flow.delivered_bytes - before.delivered_bytes,
                    flow.lost_bytes - before.lost_bytes,
                    window,
                    flow.in_flight_bytes,
                    flow.srtt_s,
                    flow.min_rtt_s,
                )
            )
        return np.array(features, dtype=np.float32)

    def _reward(self, now: Sequence[HeldFlow]) -> float:
        """What the step was worth."""
        worth = 0.0
        for flow, before in zip(now, self._last, strict=True):
            rate_mbps = (flow.delivered_bytes - before.delivered_bytes) * 8e6 / self._step_ps
            queueing = flow.srtt_s / flow.min_rtt_s - 1 if flow.min_rtt_s > 0 else 0.0
            worth += rate_mbps / self._rate_mbps - self._delay_weight * queueing
        return worth / len(now)

    def _info(self, changes: dict[str, Any]) -> dict[str, Any]:
        """The time, and at the beginning of an episode what it has been given."""
        return {"time_s": int(self.simulation.now) / 1e12} | ({"changes": changes} if changes else {})
