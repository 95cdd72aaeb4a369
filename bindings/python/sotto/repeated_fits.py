"""What was fitted in this process without a ledger: by an estimator and its copies, and from which rows."""

from __future__ import annotations

import hashlib
import os

import numpy


class Family:
    """An estimator, its clones, its copies and its pickles in this process: how often they were fitted."""

    def __init__(self, name=None):
        self.name = os.urandom(16).hex() if name is None else name
        self.fits = 0
        families[self.name] = self


families: dict[str, Family] = {}


# Digests of the rows that were learned from without a ledger in this process, under a key that nobody else has.
_digest_key = os.urandom(32)
_learned_from: set[bytes] = set()


def _digest(rows):
    some = rows[:: max(1, len(rows) // 1024)]
    return hashlib.blake2b(repr(rows.shape).encode() + numpy.ascontiguousarray(some).tobytes(), key=_digest_key, digest_size=16).digest()


def were_learned_from(rows):
    return _digest(rows) in _learned_from


def remember(rows):
    _learned_from.add(_digest(rows))
