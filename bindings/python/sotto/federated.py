"""A member of a session of several parties: its numbers, or its part of a study, under its own ledger, through a coordinator that nobody trusts.

The library does all of it: the protocol, the noise, the charge. Here a connection is carried by gRPC (`pip install grpcio`), over TLS that both ends prove
themselves by. Keys and sessions are made here or by `sotto federate`; the others may be `sotto party`, the coordinator is `sotto coordinator`.

>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> north, east, south, relay = (enroll(name, folder) for name in ("north", "east", "south", "relay"))
>>> session = Session.of_sums([north.card, east.card, south.card], relay.card, "127.0.0.1:27110", title="influenza", most=1000, epsilon=1, delta=1e-6)
>>> session
<Session influenza: north, east, south; 1 numbers, gaussian(4.22...) + approx(0, ...)>
>>> print(approve(session, north.key))
session     influenza
members     north   ... (you)
            east   ...
            south   ...
collude     up to 1 of 3, with the coordinator
threshold   3 members open a sum; the noise of 2 of them hides each of you
...
epsilon     <= 1   at delta = 1e-06, add-remove
coordinator 127.0.0.1:27110
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy

from . import _sotto, accounting, spark
from ._sotto import Bound, Plan, Sum
from .errors import InvalidValue, names_arguments
from .ledger import Ledger
from .session import Answers
from .session import Session as Catalogue

__all__ = ["Enrolled", "Mean", "Party", "Session", "Sum", "Sums", "approve", "enroll"]


@dataclasses.dataclass(frozen=True)
class Enrolled:
    """A member's files: `key` is secret and stays where it is, `card` is for whoever makes the session; `words` are the key, to be read aloud to them."""

    key: Path
    card: Path
    words: str


@names_arguments
def enroll(name: str, folder: str | os.PathLike = ".") -> Enrolled:
    """Makes a member's key, or the coordinator's, and its card, where it will be used. A key that is there is never overwritten."""
    return Enrolled(*_sotto.enroll(name, folder))


class Session:
    """Who sums what together, under which noise, and what it costs each member's units: what all members agree to, byte by byte."""

    def __init__(self, session: _sotto.FederatedSession):
        self._session = session

    @classmethod
    @names_arguments
    def load(cls, file: str | os.PathLike) -> Session:
        """The session of a file, as `sotto federate init` or `save` wrote it."""
        return cls.parse(_sotto.read_text_file(Path(file)))

    @classmethod
    @names_arguments
    def parse(cls, text: str) -> Session:
        return cls(_sotto.FederatedSession.parse(text))

    @classmethod
    @names_arguments
    def of_sums(
        cls,
        members: Sequence[str | os.PathLike],
        coordinator: str | os.PathLike,
        address: str,
        *,
        most: float,
        size: int = 1,
        sensitivity: float = 1,
        epsilon: float | None = None,
        delta: float | None = None,
        sigma: float | None = None,
        rounds: int = 1,
        relation: str = "add-remove",
        **terms,
    ) -> Session:
        """A session that sums `size` numbers of each member, none larger than `most`; one unit moves them by `sensitivity` at most, in L2. All rounds cost at
        most (epsilon, delta), or the noise in a sum has standard deviation `sigma`.

        `members` and `coordinator` are files of cards, `address` is where members reach the coordinator, HOST:PORT. `terms`: title, colluding, threshold,
        spare, deadline, bits, by_authority, as for `sotto federate init`.
        """
        base = _begin(members, coordinator, address, **terms)
        return cls(base.of_sums(size, most, sensitivity, rounds, relation, sigma, epsilon, delta))

    @classmethod
    @names_arguments
    def of_mean(
        cls,
        members: Sequence[str | os.PathLike],
        coordinator: str | os.PathLike,
        address: str,
        *,
        bounds: tuple[float, float],
        most: int,
        epsilon: float | None = None,
        delta: float | None = None,
        sigma: float | None = None,
        rounds: int = 1,
        relation: str = "add-remove",
        **terms,
    ) -> Session:
        """A session for the mean of one value of each unit, and for how many units there are. `bounds` are public: a value outside of them counts as the
        nearer one. No member has more than `most` units. All rounds cost at most (epsilon, delta), or the noise in the count has a standard deviation of
        `sigma` times the square root of 2.

        Members add up how far each value is from both bounds, as shares of their distance. The two shares of a value sum to 1, so one unit moves the two
        sums by 1 at most together, and both get the noise for that: the sum's noise is not put on the count. `terms` as for of_sums.
        """
        lower, upper = _bounds(bounds)
        base = _begin(members, coordinator, address, **terms)
        return cls(base.of_mean((lower, upper), most, rounds, relation, sigma, epsilon, delta))

    @classmethod
    @names_arguments
    def of_study(
        cls, members: Sequence[str | os.PathLike], coordinator: str | os.PathLike, address: str, study: str, catalogue: str | os.PathLike, **terms
    ) -> Session:
        """A session of a study, its text: each member runs it on its own data. The catalogue is that of whoever makes the session; every member checks the
        session against its own. `terms` as for of_sums."""
        return cls(_begin(members, coordinator, address, **terms).of_study(study, catalogue))

    @property
    def title(self) -> str:
        return self._session.title

    @property
    def members(self) -> dict[str, str]:
        """By name the words of each member's key, to be compared with what that member reads aloud."""
        return dict(self._session.members)

    @property
    def colluding(self) -> int:
        """So many members may pool what they see, with the coordinator."""
        return self._session.colluding

    @property
    def threshold(self) -> int:
        """So many members open a sum."""
        return self._session.threshold

    @property
    def honest(self) -> int:
        """So many noises are sure to be in a sum and unknown to those who collude."""
        return self._session.honest

    @property
    def rounds(self) -> int:
        return self._session.rounds

    @property
    def spare(self) -> int:
        """So many more rounds are paid for, for those that fail."""
        return self._session.spare

    @property
    def sums(self) -> list[dict]:
        """What is summed: name, size, most, sensitivity, noise and rounds of each."""
        return self._session.sums

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Of a session of a mean: the public bounds of its values."""
        return self.sums[0].get("bounds")

    @property
    def plan(self) -> Plan:
        """What it costs each member's units."""
        return self._session.plan

    @property
    def relation(self) -> str:
        return self._session.relation

    @property
    def study(self) -> str:
        """The text of the study that is run; empty where numbers are summed."""
        return self._session.study

    @property
    def coordinator(self) -> str:
        """Where members reach it."""
        return self._session.coordinator

    def cost(self, delta: float = 1e-6) -> Bound:
        """The epsilon of the session, for each member's units."""
        return accounting.epsilon(self.plan, delta, relation=self.relation)

    @names_arguments
    def describe(self, key: str | os.PathLike | None = None, *, delta: float = 1e-6) -> str:
        """What a member agrees to, for whoever reads it; `key`: the reader's."""
        return self._session.describe(key, delta)

    def text(self) -> str:
        """What is signed."""
        return self._session.text()

    def save(self, file: str | os.PathLike) -> None:
        Path(file).write_text(self.text())

    def __str__(self) -> str:
        return self.describe().rstrip("\n")

    def __repr__(self) -> str:
        size = sum(one["size"] for one in self.sums)
        return f"<Session {self.title}: {', '.join(self.members)}; {size} numbers, {self.plan}>"


def _bounds(bounds) -> tuple[float, float]:
    try:
        lower, upper = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise InvalidValue("bounds= is a pair of numbers, the lower and the upper bound of the values, such as bounds=(0, 100)") from None
    return lower, upper


def _begin(members, coordinator, address, *, title="", colluding=1, threshold=None, spare=0, deadline=60, bits=64, by_authority=False):
    cards = [_sotto.read_text_file(Path(card)) for card in members]
    return _sotto.FederatedSession.begin(
        cards, _sotto.read_text_file(Path(coordinator)), address, title, colluding, threshold, bits, spare, deadline, by_authority
    )


@names_arguments
def approve(session: Session, key: str | os.PathLike, *, delta: float = 1e-6) -> str:
    """Agrees to a session with this member's key, and says to what: print it, and ask each of the others whether their words are the ones in it."""
    words = session._session.describe(key, delta)
    session._session.approve(key)
    return words.rstrip("\n")


class Sums:
    """The sums of a session: public, and the same for all of its members, to the last bit."""

    def __init__(self, session: Session, run: _sotto.SumsRun):
        self.session = session
        self._run = run

    @property
    def sums(self) -> list[Sum]:
        """One for each round: numbers, the members whose numbers are in it, those who are missing, and the noise."""
        return self._run.sums

    @property
    def values(self) -> numpy.ndarray:
        """Of the last round, a number for each coordinate."""
        return numpy.array(self._run.sums[-1].numbers)

    @property
    def repeated(self) -> bool:
        """The sums had been kept: nothing was charged."""
        return self._run.repeated

    def cost(self, delta: float = 1e-6) -> Bound:
        """What all of it cost each member's units."""
        return self.session.cost(delta)

    def to_dict(self) -> dict:
        return json.loads(self.text("json"))

    def to_pandas(self):
        """A row for each coordinate of each round."""
        import pandas

        rows = [(i + 1, one.name, j + 1, len(one.members), number, one.noise) for i, one in enumerate(self.sums) for j, number in enumerate(one.numbers)]
        return pandas.DataFrame(rows, columns=["round", "name", "coordinate", "members", "sum", "noise"])

    def text(self, format: str = "table") -> str:
        return self._run.text(self.session._session, format)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        last = self.sums[-1]
        return f"<{len(self.sums)} sums of {', '.join(last.members)}, noise {last.noise:.4g}{', answered before' if self.repeated else ''}>"


class Mean(Sums):
    """The mean of a session, how many units it is of, and what both cost: public, and the same for all of its members, to the last bit."""

    def _of_round(self, round: int) -> tuple[float, float, float, float, float, float]:
        return self._run.mean(self.session._session, round % len(self.sums))

    @property
    def mean(self) -> float:
        """Of the last round."""
        return self._of_round(-1)[0]

    @property
    def interval(self) -> tuple[float, float]:
        """The true mean of the values within their bounds lies in it with a probability of 95 %, by the exact law of the noise."""
        return self._of_round(-1)[1:3]

    @property
    def count(self) -> float:
        """How many units the mean is of, with noise."""
        return self._of_round(-1)[3]

    @property
    def count_interval(self) -> tuple[float, float]:
        """The true count lies in it with a probability of 95 %."""
        return self._of_round(-1)[4:6]

    def to_pandas(self):
        """A row for each round."""
        import pandas

        rows = [(i + 1, len(one.members), *self._of_round(i)) for i, one in enumerate(self.sums)]
        return pandas.DataFrame(rows, columns=["round", "members", "mean", "mean_low", "mean_high", "count", "count_low", "count_high"])

    def __repr__(self) -> str:
        low, high = self.interval
        again = ", answered before" if self.repeated else ""
        return f"<mean {self.mean:.6g} ({low:.6g} to {high:.6g}) of {self.count:.6g} units of {', '.join(self.sums[-1].members)}{again}>"


class Party:
    """This process as a member of a session that it has agreed to.

    `address`: where the coordinator is, if not where the session says; `patience`: seconds without a word from it before LinkLost. `authority`, `certificate`
    and `private_key`: files in PEM, where the session lists no certificates of its own. A party that is stopped, or killed, goes on where it was when the
    same is asked again, under its one charge and with the same bytes.
    """

    @names_arguments
    def __init__(
        self,
        session: Session,
        key: str | os.PathLike,
        *,
        address: str = "",
        patience: float = 600,
        authority: str | os.PathLike = "",
        certificate: str | os.PathLike = "",
        private_key: str | os.PathLike = "",
    ):
        _grpc()  # before anything is charged
        self.session = session
        self._party = _sotto.FederatedParty(session._session, key, address, patience, authority, certificate, private_key)

    @property
    def name(self) -> str:
        return self._party.name

    @names_arguments
    def sum(
        self,
        values: float | Sequence[float] | numpy.ndarray,
        ledger: Ledger | str | os.PathLike,
        *,
        progress: Callable[[str, float], None] | None = None,
        checkpoints: str | os.PathLike | None = None,
    ) -> Sums:
        """Charges the ledger, adds this member's numbers with its noise, and gives the sums of all. The same again is free.

        `progress(what, share)` is told how it goes. `checkpoints`: the folder of what must survive a restart, else the ledger's own.
        """
        if self.session.bounds is not None:
            raise InvalidValue("the session is of a mean: call mean(values, ledger) with the value of each unit")
        return Sums(self.session, self._sum(values, ledger, progress, checkpoints))

    @names_arguments
    def mean(
        self,
        values: float | Sequence[float] | numpy.ndarray,
        ledger: Ledger | str | os.PathLike,
        *,
        progress: Callable[[str, float], None] | None = None,
        checkpoints: str | os.PathLike | None = None,
    ) -> Mean:
        """Charges the ledger, takes part with `values`, one of each of this member's units, and gives the mean over all members. Otherwise as sum()."""
        if self.session.bounds is None:
            raise InvalidValue("the session sums numbers: call sum(values, ledger), or make it by Session.of_mean")
        return Mean(self.session, self._sum(values, ledger, progress, checkpoints))

    def _sum(self, values, ledger, progress, checkpoints) -> _sotto.SumsRun:
        numbers = numpy.ascontiguousarray(values, dtype=numpy.float64).reshape(-1)
        place, options = (ledger._place, {"key": ledger._key, "witness": ledger._witness}) if isinstance(ledger, Ledger) else (os.fspath(ledger), {})
        own = Ledger(place, **options)  # for this call alone: other threads may use theirs
        folder = Path(checkpoints) if checkpoints is not None else _checkpoints(place)
        return self._party.sum(numbers, own._ledger, folder, progress, _Connection)

    @names_arguments
    def cost(self, catalogue: Catalogue | str | os.PathLike, format: str = "table") -> str:
        """What a session of a study costs this member's ledger, and how far answers will be off. Touches no data and charges nothing."""
        return self._party.cost(_catalogue(catalogue).catalogue, format)

    @names_arguments
    def run(
        self,
        catalogue: Catalogue | str | os.PathLike,
        *,
        progress: Callable[[str, float], None] | None = None,
        table=None,
        checkpoints: str | os.PathLike | None = None,
    ) -> Answers:
        """Runs the session's study on this member's data: a catalogue's folder, or a sotto.Session on one. Charged to the ledger that the data file names.

        `table`: the rows in memory, as for Study.run.
        """
        where = _catalogue(catalogue)

        def folder(ledger):
            return Path(checkpoints) if checkpoints is not None else _checkpoints(ledger)

        with spark.frame(table) as rows:
            done = self._party.run(where.catalogue, folder, *where._work.values(), *where._limits.values(), progress, rows, _Connection)
        return Answers(done)

    def __repr__(self) -> str:
        return f"<{self.name} in {self.session!r}>"


def _catalogue(catalogue) -> Catalogue:
    return catalogue if isinstance(catalogue, Catalogue) else Catalogue(catalogue)


def _checkpoints(ledger: str) -> Path:
    """Beside a ledger's file; of one in a database in the user's state folder."""
    if not ledger.startswith(("postgresql://", "postgres://")):
        return Path(ledger).parent
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "sotto"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _grpc():
    try:
        import grpc
    except ImportError as error:
        raise ImportError("a party talks to its coordinator by gRPC: pip install grpcio, or sotto[federated]") from error
    return grpc


class _Connection:
    """Carries frames over one stream. What is in them, how they become messages and what an end means is the library's to say.

    Each direction holds one frame that is not taken yet, so that whoever is slower slows the other.
    """

    def __init__(self, *, target: str, trusted: bytes, key: bytes, certificate: bytes, by_authority: bool, largest_frame: int):
        grpc = _grpc()
        if not trusted:
            raise InvalidValue("no certificate is trusted: gRPC would take any that an authority of its own has signed")
        options = [
            ("grpc.use_local_subchannel_pool", 1),  # a new connection each time
            ("grpc.keepalive_time_ms", 20000),
            ("grpc.keepalive_timeout_ms", 10000),
            ("grpc.http2.max_pings_without_data", 0),  # as many as are needed
            ("grpc.max_receive_message_length", largest_frame),
        ]
        if not by_authority:
            options.append(("grpc.ssl_target_name_override", "sotto"))
        if target.startswith(("127.", "localhost:", "[::1]:")):
            options.append(("grpc.enable_http_proxy", 0))
        self._news = threading.Condition()
        self._inbox: bytes | None = None
        self._outbox: bytes | None = None
        self._end: tuple[int, str] | None = None
        self._closing = False
        self._channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(trusted, key, certificate), options)
        self._stream = self._channel.stream_stream("/sotto.relay.Relay/Join")(self._frames())
        self._reader = threading.Thread(target=self._read, name="sotto-party", daemon=True)
        self._reader.start()

    def _frames(self):
        while True:
            with self._news:
                self._news.wait_for(lambda: self._outbox is not None or self._end is not None or self._closing)
                if self._outbox is None:
                    return
                frame, self._outbox = self._outbox, None
                self._news.notify_all()
            yield frame

    def _read(self):
        end = (0, "")
        try:
            for frame in self._stream:
                with self._news:
                    self._news.wait_for(lambda: self._inbox is None or self._closing)
                    if self._closing:
                        break
                    self._inbox = frame
                    self._news.notify_all()
        except Exception as error:  # gRPC's own, or whatever ended this thread: the stream is over
            code = getattr(error, "code", None)
            end = (code().value[0], error.details() or "") if code else (2, str(error))
        with self._news:
            self._end = end
            self._news.notify_all()

    def write(self, frame: bytes) -> tuple[int, str] | None:
        """How the stream ended, if it has."""
        with self._news:
            self._news.wait_for(lambda: self._outbox is None or self._end is not None)
            if self._end is None:
                self._outbox = frame
                self._news.notify_all()
            return self._end

    def read(self, seconds: float) -> bytes | tuple[int, str] | None:
        """The next frame; or how the stream ended; or nothing, in time."""
        with self._news:
            self._news.wait_for(lambda: self._inbox is not None or self._end is not None, seconds)
            if self._inbox is None:
                return self._end
            frame, self._inbox = self._inbox, None
            self._news.notify_all()
            return frame

    def close(self) -> None:
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._stream.cancel()
        self._channel.close()
        self._reader.join(5)
