"""The rules for a class of the user's own, and the parameters that a scenario gives to it."""

from __future__ import annotations

import dataclasses
import inspect
import random
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anabranch._core import ControlledLinks, Orders
from anabranch.own.balancer import LoadBalancer, PathChoice
from anabranch.own.congestion import CongestionControl
from anabranch.own.controller import ControllerApplication
from anabranch.own.failure import place_of_mistake, words_of
from anabranch.own.load import LoadError
from anabranch.own.path_selector import PathSelector
from anabranch.own.routing import RoutingScheme
from anabranch.own.scheduler import SubflowScheduler
from anabranch.own.value_message import value_message
from anabranch.scenario.quantity import quoted
from anabranch.text.suggest import nearest_remedy


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A class with the parameters of a scenario."""

    cls: type[Any]
    parameters: tuple[tuple[str, Any], ...]

    def make(self) -> Any:
        """An object of it."""
        return self.cls(**dict(self.parameters))

    def abilities(self) -> dict[str, bool]:
        """The properties of the class that the core must know beside its code."""
        return {}


class SchedulerMaker(Chosen):
    """Makes the scheduler of each connection."""

    def __call__(self) -> SubflowScheduler:
        """The scheduler at the start of a connection."""
        scheduler: SubflowScheduler = self.make()
        scheduler.start()
        return scheduler


class SelectorMaker(Chosen):
    """Makes the path selector of each flow."""

    def __call__(self, planes: int, seed: int) -> PathSelector:
        """The selector of a flow whose host has so many planes."""
        selector: PathSelector = self.make()
        selector.planes = planes
        selector.random = random.Random(seed)  # noqa: S311 - a simulation
        selector.start()
        return selector


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

    def abilities(self) -> dict[str, bool]:
        """Whether it hears of probes."""
        return {"probes_links": self.cls.on_probe is not ControllerApplication.on_probe}

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

    def abilities(self) -> dict[str, bool]:
        """The costly hooks that the class has."""
        cls: type[CongestionControl] = self.cls
        return {
            "measures_rate": cls.measures_rate,
            "judges_losses": cls.on_segment_lost is not CongestionControl.on_segment_lost,
            "counts_marks": cls.on_ecn_feedback is not CongestionControl.on_ecn_feedback,
        }

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


def _arguments(cls: type, others: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """What each method of a class gets, without some."""
    return {
        name: tuple(inspect.signature(hook).parameters)[1:]
        for name, hook in vars(cls).items()
        if inspect.isfunction(hook) and name not in others
    }


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of algorithms that may be the user's own."""

    base: type
    """What its classes derive from."""
    name: str
    maker: type[Chosen]
    methods: Mapping[str, tuple[str, ...]]
    """What each method gets that a class may define."""
    needed: tuple[str, str] | None = None
    """The method without which a class does nothing, and what it does."""
    one_of: tuple[str, ...] = ()
    """Methods of which a class has one."""
    either: bool = False
    """Whether it has no more than one of them."""

    def check(self, cls: type) -> None:
        """Makes sure that a class is of this kind.

        Raises:
            LoadError: if it lacks a method, has a hook that there is not, or one takes other arguments.
        """
        name = cls.__name__
        if not issubclass(cls, self.base):
            whose = f"anabranch.own.{self.base.__name__}"
            raise LoadError(f"{name} is no {self.name}; write class {name}({whose})")
        defined = [method for method in self.one_of if self._has(cls, method)]
        if self.one_of and (not defined or (self.either and len(defined) > 1)):
            choice = " or ".join(map(self._called, self.one_of))
            raise LoadError(f"{name} must have {'either ' if self.either else ''}{choice}")
        if self.needed is not None and not self._has(cls, self.needed[0]):
            raise LoadError(f"{name} lacks {self._called(self.needed[0])}, which {self.needed[1]}")
        for hook in dir(cls):
            if hook.startswith("on_") and hook not in self.methods:
                hint = nearest_remedy(hook, self.methods, f"there are {', '.join(self.methods)}")
                raise LoadError(f"{name}.{hook} is no hook; {hint}")
        for method, names in self.methods.items():
            function = getattr(cls, method)
            if function is not None and not _takes(function, 1 + len(names)):
                raise LoadError(f"{name}.{method} must take {_listed(names)}")

    def _has(self, cls: type, method: str) -> bool:
        return getattr(cls, method) is not getattr(self.base, method)

    def _called(self, method: str) -> str:
        return f"{method}({', '.join(self.methods[method])})"


_ORDERS = ("_begin", "_follow", "add_entries", "add_path", "remove_entries", "send", "probe")
CONGESTION_CONTROL = Kind(
    CongestionControl,
    "congestion control",
    Maker,
    {"on_ack": ("ack",), "on_report": ("report",), **_arguments(CongestionControl, ["reduce"])},
    ("on_loss", "reduces the window"),
    ("on_ack", "on_report"),
    either=True,
)
ROUTING_SCHEME = Kind(
    RoutingScheme, "routing scheme", Chosen, _arguments(RoutingScheme), one_of=("paths", "routes")
)
SCHEDULER = Kind(
    SubflowScheduler,
    "scheduler",
    SchedulerMaker,
    _arguments(SubflowScheduler),
    ("pick", "says which subflow takes the next segment"),
)
PATH_SELECTOR = Kind(
    PathSelector,
    "path selector",
    SelectorMaker,
    _arguments(PathSelector),
    ("next", "says which entropy value a packet takes"),
)
LOAD_BALANCER = Kind(
    LoadBalancer,
    "load balancer",
    Chosen,
    _arguments(LoadBalancer),
    ("choose", "says which path a packet takes"),
)
CONTROLLER_APPLICATION = Kind(
    ControllerApplication,
    "controller application",
    ApplicationMaker,
    _arguments(ControllerApplication, _ORDERS),
    ("on_packet", "says where a packet without an entry goes"),
)


def chosen(kind: Kind, cls: type, parameters: Mapping[str, Any]) -> Chosen:
    """A class with its parameters, which has been looked at as a run will.

    Raises:
        LoadError: if it is not of this kind, has no such parameters, or fails when it is looked at: its
            annotations, descriptors and metaclass are the user's code, too.
    """
    try:
        kind.check(cls)
        maker = kind.maker(cls, tuple(parameters_of(cls, parameters).items()))
        _check_abilities(maker)
        hash(maker)
    except (LoadError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        where = f"{type.__repr__(cls)} cannot be used"
        raise LoadError(place_of_mistake(error, where)) from None
    return maker


def _check_abilities(maker: Chosen) -> None:
    for ability, has_it in maker.abilities().items():
        if not isinstance(has_it, bool):
            raise LoadError(f"{maker.cls.__name__}.{ability} must be True or False")


def _listed(names: Sequence[str]) -> str:
    *first, last = names or ("no arguments",)
    return f"{', '.join(first)} and {last}" if first else last


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
            choices = (
                f"there are {', '.join(fields)}" if fields else "parameters are the fields of a dataclass"
            )
            hint = nearest_remedy(name, fields, choices)
            raise LoadError(f"{cls.__name__} has no parameter {quoted(name)}; {hint}")
    missing = [name for name, field in fields.items() if _is_required(field) and name not in given]
    if missing:
        raise LoadError(f"{cls.__name__} needs {' and '.join(missing)}")
    types = _types(cls, fields) if given else {}
    checked = {name: _checked(cls, name, types[name], value) for name, value in given.items()}
    try:
        cls(**checked)
    except ValueError as error:
        raise LoadError(f"{cls.__name__}: {words_of(error)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        raise LoadError(place_of_mistake(error, f"{cls.__name__} cannot be made")) from None
    return checked


def _fields(cls: type) -> dict[str, dataclasses.Field[Any]]:
    # Not those of a base alone: without the decorator, the class's own would be missing.
    if "__dataclass_fields__" not in vars(cls):
        return {}
    return {field.name: field for field in dataclasses.fields(cls) if field.init}


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _types(cls: type, fields: Iterable[str]) -> dict[str, Any]:
    """The types of the fields.

    Raises:
        LoadError: if an annotation is no type.
    """
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception as error:  # noqa: BLE001 - an annotation is an expression of the user's
        names = f"{cls.__name__}: the types of {_listed(list(fields))} cannot be read"
        raise LoadError(f"{names}: {type(error).__name__}: {words_of(error)}") from None


def _checked(cls: type, name: str, kind: Any, value: Any) -> Any:
    from pydantic import PydanticUserError, TypeAdapter, ValidationError  # noqa: PLC0415 - few have own code

    try:
        return TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        wanted = getattr(kind, "__name__", str(kind))
        raise LoadError(f"{cls.__name__}.{name}: {value_message(error)} ({wanted})") from None
    except PydanticUserError as error:
        why = error.message.splitlines()[0]
        wanted = f"its type {kind!r} is none that can be checked"
        raise LoadError(f"{cls.__name__}.{name}: {wanted}: {why}") from None
