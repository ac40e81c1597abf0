"""What a class of the user's own must be, and the parameters that a scenario gives to it."""

from __future__ import annotations

import dataclasses
import inspect
import random
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from anabranch._core import ControlledLinks, Orders
from anabranch.own.balancer import LoadBalancer, PathChoice
from anabranch.own.congestion import CongestionControl
from anabranch.own.controller import ControllerApplication
from anabranch.own.failure import place_of_mistake
from anabranch.own.load import LoadError
from anabranch.own.routing import RoutingScheme
from anabranch.own.scheduler import SubflowScheduler
from anabranch.scenario.quantity import quoted
from anabranch.suggest import suggest


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A class with the parameters of a scenario."""

    cls: type[Any]
    parameters: tuple[tuple[str, Any], ...]

    def make(self) -> Any:
        """An object of it."""
        return self.cls(**dict(self.parameters))


class SchedulerMaker(Chosen):
    """Makes the scheduler of each connection."""

    def __call__(self) -> SubflowScheduler:
        """The scheduler at the start of a connection."""
        scheduler: SubflowScheduler = self.make()
        scheduler.start()
        return scheduler


@dataclasses.dataclass(frozen=True)
class BalancerMaker(Chosen):
    """Makes the balancer of each pair of nodes."""

    delays_s: tuple[float, ...]
    """Of every link."""
    capacities_bps: tuple[float, ...]

    def __call__(self, weights: list[float], links: list[list[int]], seed: int) -> LoadBalancer:
        """The balancer over choices of these weights and links."""
        balancer: LoadBalancer = self.make()
        balancer.paths = tuple(
            PathChoice(
                weight,
                tuple(path),
                sum(self.delays_s[link] for link in path),
                min(self.capacities_bps[link] for link in path),
            )
            for weight, path in zip(weights, links, strict=True)
        )
        balancer.random = random.Random(seed)  # noqa: S311 - a simulation
        balancer.start()
        return balancer


class ApplicationMaker(Chosen):
    """Makes the application of a controller."""

    def __call__(
        self,
        nodes: list[str],
        ends: list[tuple[int, int]],
        links: ControlledLinks,
        switches: list[int],
        orders: Orders,
        seed: int,
    ) -> ControllerApplication:
        """The application at the start of a run."""
        application: ControllerApplication = self.make()
        application.random = random.Random(seed)  # noqa: S311 - a simulation
        application._begin(nodes, ends, links, switches, orders)
        return application


class Maker(Chosen):
    """Makes the congestion control of each connection."""

    def __call__(self, mss_bytes: int, initial_window_bytes: int, seed: int) -> CongestionControl:
        """The control at the start of a connection."""
        control: CongestionControl = self.make()
        control.mss_bytes = mss_bytes
        control.cwnd_bytes = control.initial_window_bytes = initial_window_bytes
        control.ssthresh_bytes = float("inf")
        control.pacing_bps = None
        control.random = random.Random(seed)  # noqa: S311 - a simulation
        control.start()
        interval_s = control.report_interval_s
        if interval_s is not None and not interval_s > 0:
            raise ValueError(f"has set report_interval_s to {interval_s!r}; it must be None, or above 0")
        return control


def _arguments(cls: type, others: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What each method of a class gets, without some."""
    return {
        name: tuple(inspect.signature(hook).parameters)[1:]
        for name, hook in vars(cls).items()
        if inspect.isfunction(hook) and name not in others
    }


_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "on_ack": ("ack",),
    "on_report": ("report",),
    **_arguments(CongestionControl, ["reduce"]),
}
"""What each hook of a congestion control gets."""
_ORDERS = ("_begin", "_follow", "add_entries", "add_path", "remove_entries", "send", "probe")
_EVENTS = _arguments(ControllerApplication, _ORDERS)
"""What each hook of a controller application gets."""


def as_control(cls: type) -> type[CongestionControl]:
    """The class, which is a congestion control.

    Raises:
        LoadError: if it lacks a hook, or a hook takes other arguments.
    """
    name = cls.__name__
    if not issubclass(cls, CongestionControl):
        raise LoadError(
            f"{name} is no congestion control; write class {name}(anabranch.own.CongestionControl)"
        )
    if (cls.on_ack is None) == (cls.on_report is None):
        raise LoadError(f"{name} must have either on_ack(ack) or on_report(report)")
    if cls.on_loss is CongestionControl.on_loss:
        raise LoadError(f"{name} lacks on_loss(episode), which reduces the window")
    _check_hooks(cls, _ARGUMENTS)
    return cls


def as_scheme(cls: type) -> type[RoutingScheme]:
    """The class, which is a routing scheme.

    Raises:
        LoadError: if it answers for no pair.
    """
    name = cls.__name__
    if not issubclass(cls, RoutingScheme):
        raise LoadError(f"{name} is no routing scheme; write class {name}(anabranch.own.RoutingScheme)")
    if cls.paths is RoutingScheme.paths and cls.routes is RoutingScheme.routes:
        raise LoadError(f"{name} must have paths(network, source, target) or routes(network)")
    if not _takes(cls.paths, 4):
        raise LoadError(f"{name}.paths must take network, source and target")
    if not _takes(cls.routes, 2):
        raise LoadError(f"{name}.routes must take network")
    return cls


def as_scheduler(cls: type) -> type[SubflowScheduler]:
    """The class, which is a scheduler of Multipath TCP.

    Raises:
        LoadError: if it picks no subflow.
    """
    name = cls.__name__
    if not issubclass(cls, SubflowScheduler):
        raise LoadError(f"{name} is no scheduler; write class {name}(anabranch.own.SubflowScheduler)")
    if cls.pick is SubflowScheduler.pick:
        raise LoadError(f"{name} lacks pick(data, ready), which says which subflow takes the next segment")
    if not _takes(cls.pick, 3):
        raise LoadError(f"{name}.pick must take data and ready")
    return cls


def as_balancer(cls: type) -> type[LoadBalancer]:
    """The class, which is a load balancer.

    Raises:
        LoadError: if it chooses no path.
    """
    name = cls.__name__
    if not issubclass(cls, LoadBalancer):
        raise LoadError(f"{name} is no load balancer; write class {name}(anabranch.own.LoadBalancer)")
    if cls.choose is LoadBalancer.choose:
        raise LoadError(f"{name} lacks choose(now_s, flow), which says which path a packet takes")
    if not _takes(cls.choose, 3):
        raise LoadError(f"{name}.choose must take now_s and flow")
    return cls


def as_application(cls: type) -> type[ControllerApplication]:
    """The class, which is a controller application.

    Raises:
        LoadError: if it does nothing with packets, or a hook takes other arguments.
    """
    name = cls.__name__
    if not issubclass(cls, ControllerApplication):
        raise LoadError(
            f"{name} is no controller application; write class {name}(anabranch.own.ControllerApplication)"
        )
    if cls.on_packet is ControllerApplication.on_packet:
        raise LoadError(f"{name} lacks on_packet(packet), which says where a packet without an entry goes")
    _check_hooks(cls, _EVENTS)
    return cls


def _check_hooks(cls: type, arguments: Mapping[str, tuple[str, ...]]) -> None:
    """Refuses a hook that there is not, and one that takes other arguments."""
    name = cls.__name__
    for hook in filter(_is_hook, dir(cls)):
        if hook not in arguments:
            raise LoadError(f"{name}.{hook} is no hook; {_nearest(hook, list(arguments))}")
    for hook, names in arguments.items():
        method = getattr(cls, hook)
        if method is not None and not _takes(method, 1 + len(names)):
            raise LoadError(f"{name}.{hook} must take {' and '.join(names) or 'no arguments'}")


def _is_hook(name: str) -> bool:
    return name.startswith("on_")


def _nearest(name: str, known: list[str]) -> str:
    near = suggest(name, known)
    return f"nearest: {quoted(near)}" if near else f"there are {', '.join(known)}"


def _takes(method: Any, count: int) -> bool:
    try:
        inspect.signature(method).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def parameters_of(cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a scenario gives to a class, checked against the fields of its dataclass.

    Raises:
        LoadError: with the first that it does not have, or that does not hold.
    """
    fields = _fields(cls)
    for name in given:
        if name not in fields:
            hint = _nearest(name, list(fields)) if fields else "parameters are the fields of a dataclass"
            raise LoadError(f"{cls.__name__} has no parameter {quoted(name)}; {hint}")
    missing = [name for name, field in fields.items() if _is_required(field) and name not in given]
    if missing:
        raise LoadError(f"{cls.__name__} needs {' and '.join(missing)}")
    types = typing.get_type_hints(cls, include_extras=True)
    checked = {name: _checked(cls, name, types[name], value) for name, value in given.items()}
    try:
        cls(**checked)
    except ValueError as error:
        raise LoadError(f"{cls.__name__}: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever the user's code raises
        raise LoadError(place_of_mistake(error, f"{cls.__name__} cannot be made")) from None
    return checked


def _fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    # Not those of a base alone: without the decorator, the class's own would be missing.
    if "__dataclass_fields__" not in vars(cls):
        return {}
    return {field.name: field for field in dataclasses.fields(cls) if field.init}


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _checked(cls: type, name: str, kind: Any, value: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        wanted = getattr(kind, "__name__", str(kind))
        why = error.errors()[0]["msg"]
        raise LoadError(f"{cls.__name__}.{name} = {value!r}: {why[:1].lower()}{why[1:]} ({wanted})") from None
