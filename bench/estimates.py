"""Means with intervals of 95 %, by Student's t."""

import math


def quantile(degrees):
    """Of 97.5 %, expanded around the normal law: right to 0.01 from 8 degrees on."""
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def moments(values):
    """The mean, and the variance of the mean. Of two values or more."""
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values)


def interval(mean, variance, degrees):
    """[low, high]; none from fewer than three values."""
    if degrees < 2:
        return None
    half = quantile(degrees) * math.sqrt(variance)
    return [mean - half, mean + half]
