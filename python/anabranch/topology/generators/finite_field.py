"""Finite fields of a few hundred elements, as far as the generator of Slim Flies needs them."""

from collections.abc import Iterable
from itertools import product


def prime_power(q: int) -> tuple[int, int] | None:
    """The prime p and the exponent n with q = p^n; None where there are none."""
    p = next((divisor for divisor in range(2, q + 1) if q % divisor == 0), None)
    if p is None:
        return None
    n, rest = 0, q
    while rest % p == 0:
        n, rest = n + 1, rest // p
    return (p, n) if rest == 1 else None


class FiniteField:
    """The field of p^n elements: polynomials over the integers modulo p, modulo one of degree n.

    An element is the number whose digits to the base p are the coefficients, lowest first: 0 and 1 are the
    neutral elements. The modulus is the first for which the polynomial x is primitive, so that its powers
    are all elements but 0.
    """

    def __init__(self, p: int, n: int) -> None:
        self._p = p
        self._digits = [tuple(value // p**i % p for i in range(n)) for value in range(p**n)]
        self._powers = next(
            powers
            for modulus in product(range(p), repeat=n)
            if len(powers := self._powers_of_x(modulus)) == p**n - 1
        )
        self._logarithms = {value: i for i, value in enumerate(self._powers)}

    def sum(self, a: int, b: int) -> int:
        """A + b."""
        return self._number((x + y) % self._p for x, y in zip(self._digits[a], self._digits[b], strict=True))

    def product(self, a: int, b: int) -> int:
        """A b."""
        if not a or not b:
            return 0
        return self.power(self._logarithms[a] + self._logarithms[b])

    def power(self, exponent: int) -> int:
        """The primitive element to the power of an exponent."""
        return self._powers[exponent % len(self._powers)]

    def _powers_of_x(self, modulus: tuple[int, ...]) -> list[int]:
        """The powers of x from 1 on until one repeats, where x^n is the polynomial `modulus`."""
        powers: list[int] = []
        seen: set[int] = set()
        value = 1
        while value and value not in seen:
            powers.append(value)
            seen.add(value)
            digits = self._digits[value]
            raised = (0, *digits[:-1])
            value = self._number(
                (low + digits[-1] * m) % self._p for low, m in zip(raised, modulus, strict=True)
            )
        return powers if value == 1 else []

    def _number(self, digits: Iterable[int]) -> int:
        return sum(digit * self._p**i for i, digit in enumerate(digits))
