#!/usr/bin/env python3
"""Tests federated sessions between processes: run.py BUILD
three|mean|authority|restart|frozen|crowd|many [SEED].

three      Three members sum a value each.
mean       Three members compute the mean of their values.
authority  Certificates of an authority; a member with a certificate of another authority cannot connect.
restart    Members and the coordinator are killed (SIGKILL) at random times and restarted; all print equal sums.
frozen     A stopped process keeps its connection open; the coordinator detects it long before the deadline.
crowd      A client without a certificate holds up to 5,000 connections in several ways; the members can connect.
many       30 of 100 members are killed at random times in each phase of a round; the survivors get a sum, or an error.

The value of each member is a different multiple of 1000, and the noise has a standard deviation of
a few units. A sum rounded to 1000 therefore shows which values are in it. Every process must print
identical sums.
"""
import json
import os
import random
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from free_port import free_port  # noqa: E402

BUILD, KIND = Path(sys.argv[1]).resolve(), sys.argv[2]
PROGRAM = str(BUILD / "bin/sotto-federate")
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**6)
SPACING = 1000


def fail(words):
    print(f"FAILED (seed {SEED}): {words}")
    sys.exit(1)


def call(*words, cwd):
    """Runs sotto-federate, and returns its output. The test fails if it does."""
    process = subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    if process.returncode != 0:
        fail(f"{words}: {process.stderr}")
    return process.stdout


class Process:
    """A member or the coordinator, which can be killed and restarted.

    `started` has all that main must end.
    """

    started = []

    def __init__(self, folder, name, words):
        self.folder, self.name, self.words = folder, name, words
        self.process = None

    def start(self, files=None):
        """Starts the process. `files` limits the number of its open files."""
        if self not in Process.started:
            Process.started.append(self)
        self.out = open(self.folder / f"{self.name}.out", "w+")  # noqa: SIM115
        self.err = open(self.folder / f"{self.name}.err", "a")  # noqa: SIM115
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        self.process = subprocess.Popen([PROGRAM, *self.words], cwd=self.folder, stdout=self.out, stderr=self.err, preexec_fn=limit)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def running(self):
        return self.process.poll() is None

    def errors(self):
        """Returns what the process wrote to stderr, in all of its runs."""
        return (self.folder / f"{self.name}.err").read_text()

    def sums(self):
        """Returns the sums that the process printed."""
        return json.loads((self.folder / f"{self.name}.out").read_text())["sums"]


class Session:
    """The members, their values and ledgers, and the coordinator of a session in a folder."""

    def __init__(self, folder, members, **options):
        self.folder = Path(folder)
        self.names = [f"m{i + 1}" for i in range(members)]
        for name in [*self.names, "relay"]:
            call("enroll", name, cwd=folder)
        words = ["init", "--coordinator-card", "relay.member.json", "--address", f"127.0.0.1:{free_port()}", "--sigma", "4", "--most", "1e6"]
        for name in self.names:
            words += ["--member", f"{name}.member.json"]
        for option, value in options.items():
            words += [f"--{option}"] if value is None else [f"--{option}", str(value)]
        self.init = words
        size = int(options.get("size", 1))
        self.values = {name: SPACING * (i + 1) for i, name in enumerate(self.names)}
        for name, value in self.values.items():
            (self.folder / f"{name}.txt").write_text(f"{value}\n" * size)
            creation = subprocess.run([str(BUILD / "bin/sotto"), "ledger", "create", f"{name}.sotto", "--name", name, "--unit", "patient", "--relation",
                                   "add-remove", "--epsilon", "1000", "--delta", "1e-5"], cwd=folder, capture_output=True, text=True, check=False)
            if creation.returncode != 0:
                fail(creation.stderr)
        self.renew()
        self.relay = Process(self.folder, "relay", ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json"])
        self.members = {name: Process(self.folder, name, ["party", "session.json", "--key", f"{name}.member.key", "--values", f"{name}.txt", "--ledger", f"{name}.sotto", "--format", "json",
                                                          "--patience", "60"]) for name in self.names}

    def renew(self):
        """Replaces the session by a new one. A repeated session would be answered from the ledgers."""
        (self.folder / "session.json").write_text(call(*self.init, cwd=self.folder))
        for name in self.names:
            call("approve", "session.json", "--key", f"{name}.member.key", cwd=self.folder)

    def start(self):
        self.relay.start()
        for member in self.members.values():
            member.start()

    def all(self):
        return [self.relay, *self.members.values()]

    def wait(self, processes, seconds):
        until = time.monotonic() + seconds
        """Waits until the processes end. The test fails after this number of seconds."""
        for party in processes:
            try:
                party.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                fail(f"{party.name} does not end; its errors: {party.errors()[-2000:]}\nthe coordinator: {self.relay.errors()[-2000:]}")

    def check(self, processes):
        """Checks that all processes have equal sums, each of the values of its members, and returns
        the sums.
        """
        first = None
        for party in processes:
            if party.process.returncode != 0:
                fail(f"{party.name} ended with {party.process.returncode}: {party.errors()[-2000:]}\nthe coordinator: {self.relay.errors()[-2000:]}")
            sums = party.sums()
            first = first or sums
            if sums != first:
                fail(f"{party.name} has other sums than {processes[0].name}")
        for result in first:
            expected = sum(self.values[name] for name in result["members"])
            for number in result["numbers"]:
                if SPACING * round(number / SPACING) != expected:
                    fail(f"the sum {number} is not that of {result['members']}")
        return first


def three(folder):
    session = Session(folder, 3, deadline=20)
    # a member that has not agreed cannot take part
    (path,) = session.folder.glob("m1.member.sessions/*/approved")
    path.unlink()
    refused = subprocess.run([PROGRAM, *session.members["m1"].words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if refused.returncode == 0 or "has not agreed" not in refused.stderr:
        fail(f"a member that has not agreed takes part: {refused.stderr}")
    call("approve", "session.json", "--key", "m1.member.key", cwd=folder)
    # a member that stops waiting for the coordinator leaves no lock file
    alone = subprocess.run([PROGRAM, *session.members["m1"].words[:-1], "1"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if alone.returncode == 0 or "no noise was drawn" not in alone.stderr:
        fail(f"a member without a coordinator: {alone.stderr}")
    session.start()
    session.wait(session.all(), 60)
    sums = session.check(session.all())
    if locks := [str(one) for one in session.folder.rglob("*") if "lock" in one.name]:
        fail(f"lock files remain: {locks}")
    # the coordinator refuses the journal of an earlier session
    session.renew()
    refused = subprocess.run([PROGRAM, *session.relay.words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    words = ("session.journal has the journal of another session: \"a sum\" of m1, m2, m3, with 1 of its 1 sum", "--journal FOLDER", "rm -r session.journal")
    if refused.returncode == 0 or not all(one in refused.stderr for one in words):
        fail(f"the coordinator has the journal of another session, and its error is {refused.stderr}")
    session.relay.words += ["--journal", "second.journal"]
    session.start()
    session.wait(session.all(), 60)
    session.check(session.all())
    print(f"three members: {sums[0]['numbers'][0]}")


def mean(folder):
    """Tests a mean: the noise in the mean is for one value, and the noise in the count for one
    unit.
    """
    session = Session(folder, 3, deadline=20, mean="20,120")
    values = {}
    for i, name in enumerate(session.names):
        values[name] = [20 + (7 * j + 13 * i) % 101 for j in range(3000 + 500 * i)]
        (session.folder / f"{name}.txt").write_text("".join(f"{value}\n" for value in [*values[name], "1e300", "-1e300"]))
    session.start()
    session.wait(session.all(), 60)
    outputs = [one.sums() for one in session.all()]
    if any(output != outputs[0] for output in outputs):
        fail("the members have different means")
    every = [value for numbers in values.values() for value in numbers] + 3 * [20, 120]  # 1e300 and -1e300 are moved to the bounds
    result, true = outputs[0][0], sum(every) / len(every)
    if abs(result["mean"]["value"] - true) > 1 or not result["mean"]["low"] < result["mean"]["value"] < result["mean"]["high"]:
        fail(f"the mean is {true}, and the result is {result}")
    if abs(result["count"]["value"] - len(every)) > 6 * 2**0.5 * result["noise"] or result["noise"] > 5:
        fail(f"there are {len(every)} values, and the result is {result}")
    for words, reason in ((["--mean", "20"], "--mean LOWER,UPPER"), (["--mean", "5,1"], "the lower one first"), (["--mean", "1,5", "--size", "2"], "leave out --size")):
        init = session.init[:-2] + words
        refused = subprocess.run([PROGRAM, *init], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        if refused.returncode != 2 or reason not in refused.stderr:
            fail(f"{words}: {refused.returncode} {refused.stderr}")
    print(f"a mean of {true:.3f} over {len(every)} values: {result['mean']['value']:.3f} over {result['count']['value']:.1f}")


def authority(folder):
    """Tests certificates of two authorities, of which the coordinator and the members trust the
    first.
    """
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    session = Session(folder, 3, deadline=20, **{"by-authority": None})
    for ca in ("good", "hostile"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{ca}.pem", "-out", f"{ca}.crt", "-subj", f"/CN={ca}", "-days", "9")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{ca}-end.pem", "-out", "end.csr", "-subj", "/CN=end")
        (session.folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "end.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.pem", "-CAcreateserial", "-out", f"{ca}-end.crt", "-days", "9", "-extfile", "names")

    def files(trusted, own):
        return ["--tls-ca", f"{trusted}.crt", "--tls-cert", f"{own}-end.crt", "--tls-key", f"{own}-end.pem"]

    missing = subprocess.run([PROGRAM, *session.members["m1"].words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if missing.returncode != 2 or "--tls-ca" not in missing.stderr:
        fail(f"the error without certificates is {missing.stderr}")
    session.relay.words += files("good", "good")
    session.relay.start()
    time.sleep(0.5)
    for trusted, own, words in (("good", "hostile", "no connection"), ("hostile", "good", "is not the coordinator of this session")):
        stranger = subprocess.run([PROGRAM, *session.members["m1"].words[:-1], "1", *files(trusted, own)], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        if stranger.returncode != 5 or words not in stranger.stderr:
            fail(f"trusting {trusted}, signed by {own}: {stranger.returncode}, {stranger.stderr}")
    for member in session.members.values():
        member.words += files("good", "good")
        member.start()
    session.wait(session.all(), 60)
    session.check(session.all())
    print("three members with certificates of an authority")


def restart(folder):
    rng = random.Random(SEED)
    session = Session(folder, 5, rounds=20, size=20000, deadline=20, spare=20)
    session.start()
    kills = 0
    until = time.monotonic() + 20
    while time.monotonic() < until and session.relay.running():
        time.sleep(rng.uniform(0.01, 0.3))
        running = [one for one in session.all() if one.running()]
        if not running or not session.relay.running():
            break
        victim = session.relay if rng.random() < 0.2 else rng.choice(running)
        victim.kill()
        kills += 1
        time.sleep(rng.uniform(0, 0.2))
        victim.start()
    session.wait(session.all(), 180)
    sums = session.check(session.all())
    print(f"{len(sums)} sums under {kills} kills")


def frozen(folder):
    session = Session(folder, 4, deadline=300)
    session.relay.start()
    frozen_member = session.members["m4"]
    frozen_member.start()
    while "m4 takes part" not in session.relay.errors():
        time.sleep(0.01)
    frozen_member.process.send_signal(signal.SIGSTOP)
    start = time.monotonic()
    others = [one for one in session.members.values() if one is not frozen_member]
    for one in others:
        one.start()
    session.wait(others, 120)
    sums = session.check(others)
    if sums[0]["members"] != ["m1", "m2", "m3"]:
        fail(f"the sum of {sums[0]['members']}")
    print(f"the others had their sum after {time.monotonic() - start:.1f} s")


STRANGER = """
import select, socket, sys, time
port, count, how, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
hello = bytes.fromhex(sys.argv[5])
first = {"idle": b"", "garbage": b"GET / HTTP/1.1\\r\\n\\r\\n", "half": hello[: len(hello) // 2], "slow": hello}[how]
connections, opened_count, since = [], 0, time.monotonic()
while True:
    one = socket.socket()
    one.settimeout(5)
    try:
        if addresses > 1:
            one.bind((f"127.0.0.{2 + opened_count % addresses}", 0))
        one.connect(("127.0.0.1", port))
        one.send(first)
    except OSError:
        time.sleep(0.01)
        continue
    connections.append(one)
    opened_count += 1
    if len(connections) > count:
        connections.pop(0).close()
    if opened_count == count:
        print(f"{count} connections after {time.monotonic() - since:.1f} s", flush=True)
    if opened_count > count:
        time.sleep(0.002)
"""


def client_hello():
    """Returns the first record of a TLS handshake."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="sotto")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read().hex()


def crowd(folder):
    """Tests that members can connect while a client without a certificate opens as many connections
    as it can.

    The coordinator may have 1,024 open files.
    """
    session = Session(folder, 3, deadline=20)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for how, addresses, count in (("idle", 1, 5000), ("idle", 200, 5000), ("garbage", 1, 1500), ("half", 1, 1500), ("slow", 1, 5000), ("slow", 200, 5000)):
        count = min(count, files - 100) if files != resource.RLIM_INFINITY else count
        session.renew()
        for one in session.all():
            (session.folder / f"{one.name}.err").write_text("")
        session.relay.words = ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json", "--journal", f"journal-{how}-{addresses}"]
        session.relay.start(files=1024)
        while "on port" not in session.relay.errors():
            if not session.relay.running():
                fail(f"the coordinator ended: {session.relay.errors()}")
            time.sleep(0.01)
        port = json.loads((session.folder / "session.json").read_text())["coordinator"].split(":")[1]
        stranger = subprocess.Popen([sys.executable, "-c", STRANGER, port, str(count), how, str(addresses), client_hello()], stdout=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        try:
            progress = stranger.stdout.readline().strip()
            start = time.monotonic()
            for member in session.members.values():
                member.start()
            session.wait(session.all(), 60)
            session.check(session.all())
            if stranger.poll() is not None:
                fail("the stranger ended before the members did")
            print(f"{how} from {addresses} addresses, {progress}: the members had their sum after {time.monotonic() - start:.1f} s")
            sys.stdout.flush()
        finally:
            stranger.kill()
            stranger.wait()


PHASES = ("keys", "shares", "masked", "signatures", "reveals")


def answers(journal):
    """Returns the number of messages that the coordinator has received in this round; None after
    the round.

    Its journal has a record of each.
    """
    try:
        data = (journal / "round").read_bytes()
    except FileNotFoundError:
        return None
    count = at = 0
    while at + 13 <= len(data):
        count += data[at : at + 1] == b"M"
        at += 13 + int.from_bytes(data[at + 5 : at + 13], "little")
    return count


def many(folder):
    rng = random.Random(SEED)
    count, victim_count = 100, 30
    session = Session(folder, count, size=1000, deadline=40, threshold=count - victim_count, spare=0)
    for phase, name in enumerate(PHASES):
        if phase > 0:
            session.renew()
        for one in session.all():
            (session.folder / f"{one.name}.err").write_text("")
        journal = session.folder / f"journal-{name}"
        session.relay.words = ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json", "--journal", journal]
        session.start()
        until = time.monotonic() + 200
        while f"{count} of {count}" not in session.relay.errors():
            if time.monotonic() > until or not session.relay.running():
                fail(f"not all joined: {session.relay.errors()[-1000:]}")
            time.sleep(0.02)
        start = time.monotonic()
        # Each victim is killed after a random number of messages of this phase. If fewer arrive,
        # because members are gone, it is killed a second after the start of the phase.
        victims = rng.sample(list(session.members.values()), victim_count)
        kills = []
        for victim, moment in zip(victims, sorted(rng.randrange(count * phase, count * phase + count - victim_count) for _ in victims)):
            patience = None
            while (at := answers(journal)) is not None and at < moment:
                if at >= count * phase:
                    patience = patience or time.monotonic() + 1
                if patience and time.monotonic() > patience:
                    break
                if time.monotonic() > until:
                    fail(f"the round makes no progress: {session.relay.errors()[-1000:]}")
                time.sleep(0.005)
            if at is not None:
                kills.append(at)
                victim.kill()
        survivors = [one for one in session.all() if one.name not in {v.name for v in victims[: len(kills)]}]
        session.wait([session.relay], 300)
        duration = time.monotonic() - start
        session.wait(survivors, 90)
        how = f"{len(kills)} killed in the phase of {name}"
        if session.relay.process.returncode == 0:
            sums = session.check(survivors)
            print(f"{how}: the sum of {len(sums[0]['members'])} members, equal in {len(survivors)} processes, after {duration:.1f} s")
        else:
            for one in survivors:
                if one.process.returncode == 0 or "the session failed" not in one.errors():
                    fail(f"{one.name} ended without the error of a failed session: {one.errors()[-1000:]}")
            print(f"{how}: the session failed with an error, after {duration:.1f} s: {session.relay.errors().splitlines()[-1]}")
        sys.stdout.flush()


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("skipped: there is no gRPC; type: apt-get install libgrpc++-dev protobuf-compiler-grpc")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="sotto-federated-") as folder:
        try:
            {"three": three, "mean": mean, "authority": authority, "restart": restart, "frozen": frozen, "crowd": crowd, "many": many}[KIND](folder)
        finally:
            for one in Process.started:
                if one.running():
                    one.kill()


if __name__ == "__main__":
    main()
