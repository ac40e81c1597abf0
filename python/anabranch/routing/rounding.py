"""Shares as whole numbers of buckets, as switches and routers take them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def rounded_weights(shares: Sequence[float], buckets: int) -> list[int]:
    """How many of so many buckets each share gets.

    By largest remainders (Hamilton's method): each share gets the whole part of its quota, and the buckets
    that are left go to the largest remainders, the first of equals first. No other way to hand them out has a
    smaller sum of differences from the quotas. A share of less than a bucket may get none.

    Args:
        shares: at least zero each, with a sum above zero.
        buckets: how many there are, at least one.

    Returns:
        Whole numbers whose sum is ``buckets``, in the order of the shares.

    Raises:
        ValueError: if there is no bucket, or the shares are none.
    """
    total = math.fsum(shares)
    if buckets < 1 or not 0 < total < math.inf or min(shares) < 0:
        raise ValueError("shares are at least zero, not all of them zero, and there is at least one bucket")
    quotas = [share / total * buckets for share in shares]
    # A quota that misses a whole number by less than the error of doubles is that number.
    weights = [math.floor(quota + 1e-9) for quota in quotas]
    remainders = sorted(range(len(quotas)), key=lambda place: (weights[place] - quotas[place], place))
    for place in remainders[: buckets - sum(weights)]:
        weights[place] += 1
    return weights


def fewest_weights(shares: Sequence[float], most: int) -> list[int]:
    """The whole weights with a sum of at most ``most`` whose largest error of a share is least.

    Of several sums that miss the shares by as much, the smallest: a device then keeps few buckets (the
    reduction of tables in weighted-cost multipathing, Zhou et al. 2014).

    Args:
        shares: as for :func:`rounded_weights`.
        most: most buckets, at least one.

    Raises:
        ValueError: as :func:`rounded_weights`.
    """
    total = math.fsum(shares)
    best, least = rounded_weights(shares, 1), math.inf
    for buckets in range(1, most + 1):
        weights = rounded_weights(shares, buckets)
        error = max(
            abs(weight / buckets - share / total) for weight, share in zip(weights, shares, strict=True)
        )
        if error < least - 1e-12:
            best, least = weights, error
        if least < 1e-12:
            break
    return best


def reduced(weights: Sequence[int]) -> list[int]:
    """The weights without their common divisor."""
    divisor = math.gcd(*weights) or 1
    return [weight // divisor for weight in weights]
