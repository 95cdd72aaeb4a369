"""Sums, means and studies over the data of several members, each with its own ledger.

A session is the text of what its members compute together. Members exchange encrypted messages
through a coordinator, which they do not trust. The library implements the protocol, the noise and
the charge; this module connects it to the coordinator by gRPC (`pip install grpcio`), over TLS with
certificates on both sides. Keys and sessions are created here or by `sotto federate`, the
coordinator is `sotto coordinator`, and other members may use `sotto party`.

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
    """The files and the key words of a new member, or of a coordinator.

    `key` is the file of the secret key, which must stay on its machine. `card` is the file of the
    public key, for the person who creates the session. `words` encode the public key for reading it
    aloud, so that the other members can compare it.
    """

    key: Path
    card: Path
    words: str


@names_arguments
def enroll(name: str, folder: str | os.PathLike = ".") -> Enrolled:
    """Creates the key and the card of a member or of the coordinator in `folder`.

    Call it on the machine that will use the key. An existing key is never overwritten.
    """
    return Enrolled(*_sotto.enroll(name, folder))


class Session:
    """A session is the agreement of all members: on their sums, the noise and the cost.

    Its text is signed, so all members must have it byte by byte.
    """

    def __init__(self, session: _sotto.FederatedSession):
        self._session = session

    @classmethod
    @names_arguments
    def load(cls, file: str | os.PathLike) -> Session:
        """Returns the session of a file that `sotto federate init` or `save` wrote."""
        return cls.parse(_sotto.read_text_file(Path(file)))

    @classmethod
    @names_arguments
    def parse(cls, text: str) -> Session:
        """Returns the session of a text. Raises ProtocolError if it is not valid."""
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
        """Returns a session that sums `size` numbers of each member.

        No number is larger than `most` in absolute value, and one unit changes the numbers of its
        member by at most `sensitivity` in L2. All rounds together cost each unit at most (epsilon,
        delta); or pass `sigma`, the standard deviation of the noise in a sum.

        `members` and `coordinator` are the files of their cards. `address` is the HOST:PORT at
        which members reach the coordinator. `terms` are title, colluding, threshold, spare,
        deadline, bits and by_authority, which `sotto federate init` describes.
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
        """Returns a session for the mean of one value of each unit, and for the number of units.

        `bounds` are public: a value outside of them is moved to the nearer one. No member has more
        than `most` units. All rounds together cost each unit at most (epsilon, delta); or pass
        `sigma`, where the noise in the count has a standard deviation of `sigma` times the square
        root of 2. The other arguments are those of `of_sums`.

        Each member sums the distances of its values to the lower bound, and to the upper bound, as
        shares of the distance of the bounds. The two shares of a value sum to 1, so adding or
        removing a unit changes the pair of sums by at most 1 in L2. The sum of both is the count.
        """
        lower, upper = _bounds(bounds)
        base = _begin(members, coordinator, address, **terms)
        return cls(base.of_mean((lower, upper), most, rounds, relation, sigma, epsilon, delta))

    @classmethod
    @names_arguments
    def of_study(
        cls, members: Sequence[str | os.PathLike], coordinator: str | os.PathLike, address: str, study: str, catalogue: str | os.PathLike, **terms
    ) -> Session:
        """Returns a session in which each member runs a study on its own data.

        `study` is the text of the study. `catalogue` is the catalogue of the person who creates the
        session; every member checks the session against its own. The other arguments are those of
        `of_sums`.
        """
        return cls(_begin(members, coordinator, address, **terms).of_study(study, catalogue))

    @property
    def title(self) -> str:
        return self._session.title

    @property
    def members(self) -> dict[str, str]:
        """The key words of each member by its name.

        Compare them with the words that the member reads aloud.
        """
        return dict(self._session.members)

    @property
    def colluding(self) -> int:
        """The number of members that may collude with the coordinator."""
        return self._session.colluding

    @property
    def threshold(self) -> int:
        """The number of members that is needed to reveal a sum."""
        return self._session.threshold

    @property
    def honest(self) -> int:
        """The least number of members' noise in a sum that colluding members do not know."""
        return self._session.honest

    @property
    def rounds(self) -> int:
        return self._session.rounds

    @property
    def spare(self) -> int:
        """The number of additional rounds that are charged, to replace rounds that fail."""
        return self._session.spare

    @property
    def sums(self) -> list[dict]:
        """The sums of the session, each with its name, size, most, sensitivity, noise and rounds."""
        return self._session.sums

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The public bounds of the values of a mean; None for other sessions."""
        return self.sums[0].get("bounds")

    @property
    def plan(self) -> Plan:
        """The plan that the session costs the units of each member."""
        return self._session.plan

    @property
    def relation(self) -> str:
        return self._session.relation

    @property
    def study(self) -> str:
        """The text of the study; empty if the session sums numbers."""
        return self._session.study

    @property
    def coordinator(self) -> str:
        """The address of the coordinator, HOST:PORT."""
        return self._session.coordinator

    def cost(self, delta: float = 1e-6) -> Bound:
        """Returns bounds on the epsilon of the session for the units of each member."""
        return accounting.epsilon(self.plan, delta, relation=self.relation)

    @names_arguments
    def describe(self, key: str | os.PathLike | None = None, *, delta: float = 1e-6) -> str:
        """Returns the terms of the session for a person to read.

        `key` is the key file of the reader, who is marked as "you".
        """
        return self._session.describe(key, delta)

    def text(self) -> str:
        """Returns the text that members sign."""
        return self._session.text()

    def save(self, file: str | os.PathLike) -> None:
        """Writes the text of the session to a file."""
        Path(file).write_text(self.text())

    def __str__(self) -> str:
        return self.describe().rstrip("\n")

    def __repr__(self) -> str:
        size = sum(terms["size"] for terms in self.sums)
        return f"<Session {self.title}: {', '.join(self.members)}; {size} numbers, {self.plan}>"


def _bounds(bounds) -> tuple[float, float]:
    try:
        lower, upper = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise InvalidValue("bounds= must be a pair of numbers, the lower and the upper bound of the values, such as bounds=(0, 100)") from None
    return lower, upper


def _begin(members, coordinator, address, *, title="", colluding=1, threshold=None, spare=0, deadline=60, bits=64, by_authority=False):
    cards = [_sotto.read_text_file(Path(card)) for card in members]
    return _sotto.FederatedSession.begin(
        cards, _sotto.read_text_file(Path(coordinator)), address, title, colluding, threshold, bits, spare, deadline, by_authority
    )


@names_arguments
def approve(session: Session, key: str | os.PathLike, *, delta: float = 1e-6) -> str:
    """Records that this member agrees to a session, and returns the terms of the session.

    Print the terms, and ask each of the other members whether their key words are correct. `key` is
    the file of this member's key. `delta` is the delta at which the terms show the cost.
    """
    words = session._session.describe(key, delta)
    session._session.approve(key)
    return words.rstrip("\n")


class Sums:
    """The sums of a session, which are public and identical for all members."""

    def __init__(self, session: Session, run: _sotto.SumsRun):
        self.session = session
        self._run = run

    @property
    def sums(self) -> list[Sum]:
        """The sum of each round.

        It has its numbers, its members, the missing members, and the standard deviation of the
        noise.
        """
        return self._run.sums

    @property
    def values(self) -> numpy.ndarray:
        """The sums of the last round, one for each coordinate."""
        return numpy.array(self._run.sums[-1].numbers)

    @property
    def repeated(self) -> bool:
        """Whether the sums were stored by an earlier call, so that nothing was charged."""
        return self._run.repeated

    def cost(self, delta: float = 1e-6) -> Bound:
        """Returns bounds on the epsilon of the session for the units of each member."""
        return self.session.cost(delta)

    def to_dict(self) -> dict:
        """Returns the sums in their JSON format."""
        return json.loads(self.text("json"))

    def to_pandas(self):
        """Returns a pandas DataFrame with a row for each coordinate of each round."""
        import pandas

        rows = [(i + 1, s.name, j + 1, len(s.members), number, s.noise) for i, s in enumerate(self.sums) for j, number in enumerate(s.numbers)]
        return pandas.DataFrame(rows, columns=["round", "name", "coordinate", "members", "sum", "noise"])

    def text(self, format: str = "table") -> str:
        return self._run.text(self.session._session, format)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        last = self.sums[-1]
        return f"<{len(self.sums)} sums of {', '.join(last.members)}, noise {last.noise:.4g}{', answered before' if self.repeated else ''}>"


class Mean(Sums):
    """The mean and the number of units of a session, public and identical for all members."""

    def _of_round(self, round: int) -> tuple[float, float, float, float, float, float]:
        return self._run.mean(self.session._session, round % len(self.sums))

    @property
    def mean(self) -> float:
        """The mean of the last round."""
        return self._of_round(-1)[0]

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that contains the true mean of the bounded values with a probability of 95 %.

        It follows from the exact distribution of the noise.
        """
        return self._of_round(-1)[1:3]

    @property
    def count(self) -> float:
        """The number of units, with noise."""
        return self._of_round(-1)[3]

    @property
    def count_interval(self) -> tuple[float, float]:
        """An interval that contains the true number of units with a probability of 95 %."""
        return self._of_round(-1)[4:6]

    def to_pandas(self):
        """Returns a pandas DataFrame with a row for each round."""
        import pandas

        rows = [(i + 1, len(s.members), *self._of_round(i)) for i, s in enumerate(self.sums)]
        return pandas.DataFrame(rows, columns=["round", "members", "mean", "mean_low", "mean_high", "count", "count_low", "count_high"])

    def __repr__(self) -> str:
        low, high = self.interval
        again = ", answered before" if self.repeated else ""
        return f"<mean {self.mean:.6g} ({low:.6g} to {high:.6g}) of {self.count:.6g} units of {', '.join(self.sums[-1].members)}{again}>"


class Party:
    """A party is this process as a member of a session. The member must have agreed to the session.

    `key` is the file of the member's key. `address` overrides the address of the coordinator.
    `patience` is the number of seconds without a message from it after which LinkLost is raised.
    `authority`, `certificate` and `private_key` are PEM files for a session without certificates
    (by_authority).

    If the process is stopped or killed, repeat the call: it continues where it stopped, under one
    charge, and sends identical messages. Raises NotApproved if the member has not agreed.
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
        _grpc()  # raises ImportError before anything is charged
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
        """Charges the ledger, contributes this member's numbers, and returns all sums.

        A repeated call returns the stored sums and charges nothing. `progress(step, share)` is
        called as the work advances. `checkpoints` is the folder of the state that must survive a
        restart: without it the folder of the ledger's file, or the user's state folder for a ledger
        in a database.
        """
        if self.session.bounds is not None:
            raise InvalidValue("the session computes a mean: call mean(values, ledger) with the value of each unit")
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
        """Charges the ledger, contributes this member's values, and returns the mean.

        `values` has one value for each of this member's units. The other arguments are those of
        `sum`.
        """
        if self.session.bounds is None:
            raise InvalidValue("the session sums numbers: call sum(values, ledger), or create the session with Session.of_mean")
        return Mean(self.session, self._sum(values, ledger, progress, checkpoints))

    def _sum(self, values, ledger, progress, checkpoints) -> _sotto.SumsRun:
        numbers = numpy.ascontiguousarray(values, dtype=numpy.float64).reshape(-1)
        place, options = (ledger._place, {"key": ledger._key, "witness": ledger._witness}) if isinstance(ledger, Ledger) else (os.fspath(ledger), {})
        own = Ledger(place, **options)  # a connection for this call: other threads may use the caller's
        folder = Path(checkpoints) if checkpoints is not None else _checkpoints(place)
        return self._party.sum(numbers, own._ledger, folder, progress, _Connection)

    @names_arguments
    def cost(self, catalogue: Catalogue | str | os.PathLike, format: str = "table") -> str:
        """Returns the cost of the session's study for this member, and its predicted errors.

        It reads no data and charges nothing. `format` is "table" or "json".
        """
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
        """Runs the session's study on this member's data, and charges its ledger.

        `catalogue` is the folder of this member's catalogue, or a sotto.Session on it. `table` has
        the rows in memory, as in Study.run. `progress` and `checkpoints` are those of `sum`.
        """
        local = _catalogue(catalogue)

        def folder(ledger):
            return Path(checkpoints) if checkpoints is not None else _checkpoints(ledger)

        with spark.frame(table) as rows:
            run = self._party.run(local.catalogue, folder, *local._work.values(), *local._limits.values(), progress, rows, _Connection)
        return Answers(run)

    def __repr__(self) -> str:
        return f"<{self.name} in {self.session!r}>"


def _catalogue(catalogue) -> Catalogue:
    return catalogue if isinstance(catalogue, Catalogue) else Catalogue(catalogue)


def _checkpoints(ledger: str) -> Path:
    """Returns the folder of a ledger's file, or the user's state folder for a ledger in a database."""
    if not ledger.startswith(("postgresql://", "postgres://")):
        return Path(ledger).parent
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "sotto"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _grpc():
    try:
        import grpc
    except ImportError as error:
        raise ImportError("a party needs gRPC to connect to its coordinator: type pip install grpcio, or pip install sotto[federated]") from error
    return grpc


class _Connection:
    """A connection carries the library's frames over one gRPC stream, and does not interpret them.

    It buffers one frame in each direction, so that a slow reader blocks the writer. The library
    calls `write` and `read`; a thread of the connection reads the stream, and a thread of gRPC
    iterates over `_frames`. All of them share the state under `_news`. The end of the stream is
    (gRPC status code, message).
    """

    def __init__(self, *, target: str, trusted: bytes, key: bytes, certificate: bytes, by_authority: bool, largest_frame: int):
        grpc = _grpc()
        if not trusted:
            raise InvalidValue("no certificate is trusted: pass authority=, since gRPC would otherwise accept any certificate of a public authority")
        options = [
            ("grpc.use_local_subchannel_pool", 1),  # a new connection for each party
            ("grpc.keepalive_time_ms", 20000),
            ("grpc.keepalive_timeout_ms", 10000),
            ("grpc.http2.max_pings_without_data", 0),  # unlimited
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
        except Exception as error:  # an error of gRPC, or any other: both end the stream
            code = getattr(error, "code", None)
            end = (code().value[0], error.details() or "") if code else (2, str(error))
        with self._news:
            self._end = end
            self._news.notify_all()

    def write(self, frame: bytes) -> tuple[int, str] | None:
        """Queues a frame, and returns the end of the stream if it has ended."""
        with self._news:
            self._news.wait_for(lambda: self._outbox is None or self._end is not None)
            if self._end is None:
                self._outbox = frame
                self._news.notify_all()
            return self._end

    def read(self, seconds: float) -> bytes | tuple[int, str] | None:
        """Returns the next frame, the end of the stream, or None after `seconds`."""
        with self._news:
            self._news.wait_for(lambda: self._inbox is not None or self._end is not None, seconds)
            if self._inbox is None:
                return self._end
            frame, self._inbox = self._inbox, None
            self._news.notify_all()
            return frame

    def close(self) -> None:
        """Ends the stream and its threads."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._stream.cancel()
        self._channel.close()
        self._reader.join(5)
