"""The record of fits without a ledger in this process, which may not be repeated."""

from __future__ import annotations

import hashlib
import os

import numpy


class Family:
    """A family is an estimator with its clones, copies and pickles in this process.

    It counts their fits.
    """

    def __init__(self, name=None):
        self.name = os.urandom(16).hex() if name is None else name
        self.fits = 0
        families[self.name] = self


families: dict[str, Family] = {}  # by name


# Digests of the rows of all fits without a ledger in this process. They are keyed with a secret, so
# that a digest reveals nothing about the rows.
_digest_key = os.urandom(32)
_learned_from: set[bytes] = set()


def _digest(rows):
    sample = rows[:: max(1, len(rows) // 1024)]  # at least 1024 rows of a large table, which bounds the time
    return hashlib.blake2b(repr(rows.shape).encode() + numpy.ascontiguousarray(sample).tobytes(), key=_digest_key, digest_size=16).digest()


def were_learned_from(rows):
    """Returns whether an estimator was fitted to these rows without a ledger."""
    return _digest(rows) in _learned_from


def remember(rows):
    """Records that an estimator was fitted to these rows without a ledger."""
    _learned_from.add(_digest(rows))
