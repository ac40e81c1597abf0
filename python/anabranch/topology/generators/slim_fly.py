"""A Slim Fly: switches of small degree, no two of which are more than two links apart."""

from collections.abc import Iterator
from itertools import product

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyNode

from .finite_field import FiniteField, prime_power
from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def slim_fly(
    fabric: LinkQuantities,
    host: LinkQuantities,
    *,
    q: int = 5,
    hosts_per_router: int | None = None,
) -> Topology:
    """2 q^2 switches of (3 q - d) / 2 links to others, any two of them at most two links apart.

    Besta, Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC 2014, section II-B: the
    graphs of McKay, Miller and Siran (J. Combinatorial Theory B 74, 1998; Hafner, Discrete Mathematics 276,
    2004) for a prime power q = 4 w + d with d = -1, 0 or 1: 3, 4, 5, 7, 8, 9, 11, 13, ... Switches are (0, x,
    y) and (1, m, c) over the field of q elements. Links join (0, x, y) and (1, m, c) where y = m x + c, (0,
    x, y) and (0, x, y') where y - y' is in one set of generators, and (1, m, c) and (1, m, c') where c - c'
    is in the other one. Each switch has `hosts_per_router` p hosts, by default half as many as links to
    others, rounded up, as the paper has it.
    Nodes: `router<half>.<x>.<y>` from 0 on, `host<half>.<x>.<y>.<n>`; links labelled "fabric" and "host".
    2 q^2 (1 + p) nodes, q^2 (3 q - d) / 2 + 2 q^2 p links.
    """
    check_count("q", q, low=3)
    power = prime_power(q)
    if power is None:
        raise TopologyError("q", f"{q} is no power of a prime", _nearest(q))
    delta = {0: 0, 1: 1, 3: -1}[q % 4]
    degree = (3 * q - delta) // 2
    each = (degree + 1) // 2 if hosts_per_router is None else hosts_per_router
    check_count("hosts_per_router", each, low=0)
    routers = 2 * q * q
    check_size(routers * (1 + each), routers * degree // 2 + routers * each)
    field = FiniteField(*power)
    names = [f"router{half}.{x}.{y}" for half, x, y in product((0, 1), range(q), range(q))]
    nodes = [TopologyNode(name, kind="switch") for name in names]
    links = [fabric.link(a, b, "fabric") for a, b in _pairs(field, q, delta)]
    for name in names:
        hosts = node_run(f"{name.replace('router', 'host')}.", each, "host")
        nodes += hosts
        links += [host.link(node.name, name, "host") for node in hosts]
    return generated(
        f"slim-fly(q={q}, hosts_per_router={each})",
        nodes,
        links,
        f"Generated: a Slim Fly of {routers} switches with {degree} links to others and {each} hosts each.",
    )


def _pairs(field: FiniteField, q: int, delta: int) -> Iterator[tuple[str, str]]:
    """The two switches of each link between switches."""
    for half, generators in enumerate(_generators(field, q, delta)):
        for x, y in product(range(q), repeat=2):
            for difference in generators:
                other = field.sum(y, difference)
                if y < other:
                    yield f"router{half}.{x}.{y}", f"router{half}.{x}.{other}"
    for x, m, c in product(range(q), repeat=3):
        y = field.sum(field.product(m, x), c)
        yield f"router0.{x}.{y}", f"router1.{m}.{c}"


def _generators(field: FiniteField, q: int, delta: int) -> tuple[set[int], set[int]]:
    """The two sets of generators, each closed under negation: powers of a primitive element (Hafner)."""
    w = (q - delta) // 4
    if delta == 1:
        exponents = [*range(0, q - 1, 2)], [*range(1, q - 1, 2)]
    elif delta == 0:
        exponents = [*range(0, q, 2)], [*range(1, q, 2)]
    else:
        exponents = (
            [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)],
            [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)],
        )
    first, second = ({field.power(exponent) for exponent in each} for each in exponents)
    return first, second


def _nearest(q: int) -> str:
    possible = [n for n in range(3, q + 9) if prime_power(n) is not None]
    near = sorted(sorted(possible, key=lambda n: abs(n - q))[:2])
    return f"nearest are {' and '.join(map(str, near))}"
