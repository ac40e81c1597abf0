"""Distances on the Earth, taken as a sphere."""

import math
from typing import Final

MEAN_EARTH_RADIUS_KM: Final = 6371.0088
"""Mean radius R1 of the WGS 84 ellipsoid in km (IUGG; Moritz, Geodetic Reference System 1980)."""


def great_circle_km(latitude_a: float, longitude_a: float, latitude_b: float, longitude_b: float) -> float:
    """The great-circle distance in km between two points given in degrees.

    Haversine formula (Sinnott, "Virtues of the Haversine", Sky and Telescope 68, 1984), which stays exact for
    points close together. Latitudes lie within -90..90; longitudes may be given modulo 360.
    """
    phi_a = math.radians(latitude_a)
    phi_b = math.radians(latitude_b)
    half_d_phi = (phi_b - phi_a) / 2
    half_d_lambda = math.radians(longitude_b - longitude_a) / 2
    h = math.sin(half_d_phi) ** 2 + math.cos(phi_a) * math.cos(phi_b) * math.sin(half_d_lambda) ** 2
    # Rounding can lift h above 1 for antipodes, where asin has no value.
    return 2 * MEAN_EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))
