#!/usr/bin/env python3
"""Members and a coordinator as real processes on this machine: run.py BUILD three|mean|authority|restart|frozen|crowd|many [SEED].

three    three members average
mean     three members have the mean of their values
authority  certificates of an authority; one of another authority does not reach the coordinator
restart  members and the coordinator are killed (SIGKILL) at random moments and started again: all see the same sums
frozen   a member whose process stands still holds its connection: it is noticed long before the deadline
crowd    strangers hold 5,000 connections in one of several ways, and the members still get in
many     100 members, 30 of them killed at random moments in each phase of a round: the sum of the survivors, or a clean end

Each member's value is a multiple of 1000, and the noise has a standard deviation of a few units: the sum, rounded to 1000, says exactly whose values are
in it. Every process must print the same bits.
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
    done = subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        fail(f"{words}: {done.stderr}")
    return done.stdout


class Process:
    """A member or the coordinator, which can be killed and started again."""

    started = []

    def __init__(self, folder, name, words):
        self.folder, self.name, self.words = folder, name, words
        self.process = None

    def start(self, files=None):
        """`files`: how many it may have open."""
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

    def said(self):
        return (self.folder / f"{self.name}.err").read_text()

    def sums(self):
        return json.loads((self.folder / f"{self.name}.out").read_text())["sums"]


class Session:
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
            made = subprocess.run([str(BUILD / "bin/sotto"), "ledger", "create", f"{name}.sotto", "--name", name, "--unit", "patient", "--relation",
                                   "add-remove", "--epsilon", "1000", "--delta", "1e-5"], cwd=folder, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                fail(made.stderr)
        self.renew()
        self.relay = Process(self.folder, "relay", ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json"])
        self.members = {name: Process(self.folder, name, ["party", "session.json", "--key", f"{name}.member.key", "--values", f"{name}.txt", "--ledger", f"{name}.sotto", "--format", "json",
                                                          "--patience", "60"]) for name in self.names}

    def renew(self):
        """A session of its own: each member's ledger answers an old one by itself."""
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
        for one in processes:
            try:
                one.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                fail(f"{one.name} does not end; it said: {one.said()[-2000:]}\nthe coordinator: {self.relay.said()[-2000:]}")

    def check(self, processes):
        """Every one of them has the same sums, of the values of those who are named."""
        first = None
        for one in processes:
            if one.process.returncode != 0:
                fail(f"{one.name} ended with {one.process.returncode}: {one.said()[-2000:]}\nthe coordinator: {self.relay.said()[-2000:]}")
            sums = one.sums()
            first = first or sums
            if sums != first:
                fail(f"{one.name} has other sums than {processes[0].name}")
        for result in first:
            expected = sum(self.values[name] for name in result["members"])
            for number in result["numbers"]:
                if SPACING * round(number / SPACING) != expected:
                    fail(f"the sum {number} is not the one of {result['members']}")
        return first


def three(folder):
    session = Session(folder, 3, deadline=20)
    # whoever has not agreed takes no part
    (path,) = session.folder.glob("m1.member.sessions/*/approved")
    path.unlink()
    refused = subprocess.run([PROGRAM, *session.members["m1"].words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if refused.returncode == 0 or "has not agreed" not in refused.stderr:
        fail(f"a member that has not agreed takes part: {refused.stderr}")
    call("approve", "session.json", "--key", "m1.member.key", cwd=folder)
    # a member that gives up leaves no lock behind
    alone = subprocess.run([PROGRAM, *session.members["m1"].words[:-1], "1"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if alone.returncode == 0 or "no noise was drawn" not in alone.stderr:
        fail(f"a member without a coordinator: {alone.stderr}")
    session.start()
    session.wait(session.all(), 60)
    sums = session.check(session.all())
    if locks := [str(one) for one in session.folder.rglob("*") if "lock" in one.name]:
        fail(f"files are left: {locks}")
    # the next session in this folder finds the journal of this one
    session.renew()
    refused = subprocess.run([PROGRAM, *session.relay.words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    words = ("session.journal has the journal of another session: \"a sum\" of m1, m2, m3, with 1 of its 1 sum", "--journal FOLDER", "rm -r session.journal")
    if refused.returncode == 0 or not all(one in refused.stderr for one in words):
        fail(f"the coordinator finds another session's journal and says {refused.stderr}")
    session.relay.words += ["--journal", "second.journal"]
    session.start()
    session.wait(session.all(), 60)
    session.check(session.all())
    print(f"three members: {sums[0]['numbers'][0]}")


def mean(folder):
    """The mean of values, one a unit: its noise is that of one value, and the count's is that of one unit."""
    session = Session(folder, 3, deadline=20, mean="20,120")
    values = {}
    for i, name in enumerate(session.names):
        values[name] = [20 + (7 * j + 13 * i) % 101 for j in range(3000 + 500 * i)]
        (session.folder / f"{name}.txt").write_text("".join(f"{value}\n" for value in [*values[name], "1e300", "-1e300"]))
    session.start()
    session.wait(session.all(), 60)
    outputs = [one.sums() for one in session.all()]
    if any(one != outputs[0] for one in outputs):
        fail("the members have other means")
    every = [value for one in values.values() for value in one] + 3 * [20, 120]
    found, true = outputs[0][0], sum(every) / len(every)
    if abs(found["mean"]["value"] - true) > 1 or not found["mean"]["low"] < found["mean"]["value"] < found["mean"]["high"]:
        fail(f"the mean is {true}, and the sums say {found}")
    if abs(found["count"]["value"] - len(every)) > 6 * 2**0.5 * found["noise"] or found["noise"] > 5:
        fail(f"there are {len(every)} values, and the sums say {found}")
    for words, reason in ((["--mean", "20"], "--mean LOWER,UPPER"), (["--mean", "5,1"], "the lower one first"), (["--mean", "1,5", "--size", "2"], "leave out --size")):
        init = session.init[:-2] + words
        refused = subprocess.run([PROGRAM, *init], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        if refused.returncode != 2 or reason not in refused.stderr:
            fail(f"{words}: {refused.returncode} {refused.stderr}")
    print(f"a mean of {true:.3f} over {len(every)} values: {found['mean']['value']:.3f} over {found['count']['value']:.1f}")


def authority(folder):
    """Two authorities sign certificates for all; the coordinator and the members trust the first."""
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
        fail(f"no certificates, and it says {missing.stderr}")
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
    print("three members by an authority")


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
    still = session.members["m4"]
    still.start()
    while "m4 takes part" not in session.relay.said():
        time.sleep(0.01)
    still.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    others = [one for one in session.members.values() if one is not still]
    for one in others:
        one.start()
    session.wait(others, 120)
    sums = session.check(others)
    if sums[0]["members"] != ["m1", "m2", "m3"]:
        fail(f"the sum of {sums[0]['members']}")
    print(f"the others had their sum after {time.monotonic() - begun:.1f} s")


STRANGER = """
import select, socket, sys, time
port, count, how, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
hello = bytes.fromhex(sys.argv[5])
first = {"idle": b"", "garbage": b"GET / HTTP/1.1\\r\\n\\r\\n", "half": hello[: len(hello) // 2], "slow": hello}[how]
held, made, since = [], 0, time.monotonic()
while True:
    one = socket.socket()
    one.settimeout(5)
    try:
        if addresses > 1:
            one.bind((f"127.0.0.{2 + made % addresses}", 0))
        one.connect(("127.0.0.1", port))
        one.send(first)
    except OSError:
        time.sleep(0.01)
        continue
    held.append(one)
    made += 1
    if len(held) > count:
        held.pop(0).close()
    if made == count:
        print(f"{count} connections after {time.monotonic() - since:.1f} s", flush=True)
    if made > count:
        time.sleep(0.002)
"""


def client_hello():
    """The first record of a TLS handshake, as any client sends it."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="sotto")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read().hex()


def crowd(folder):
    """A stranger without a certificate holds as many connections as it can, and opens new ones all the time. The coordinator has 1,024 files."""
    session = Session(folder, 3, deadline=20)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for how, addresses, count in (("idle", 1, 5000), ("idle", 200, 5000), ("garbage", 1, 1500), ("half", 1, 1500), ("slow", 1, 5000), ("slow", 200, 5000)):
        count = min(count, files - 100) if files != resource.RLIM_INFINITY else count
        session.renew()
        for one in session.all():
            (session.folder / f"{one.name}.err").write_text("")
        session.relay.words = ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json", "--journal", f"journal-{how}-{addresses}"]
        session.relay.start(files=1024)
        while "on port" not in session.relay.said():
            if not session.relay.running():
                fail(f"the coordinator ended: {session.relay.said()}")
            time.sleep(0.01)
        port = json.loads((session.folder / "session.json").read_text())["coordinator"].split(":")[1]
        stranger = subprocess.Popen([sys.executable, "-c", STRANGER, port, str(count), how, str(addresses), client_hello()], stdout=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        try:
            made = stranger.stdout.readline().strip()
            begun = time.monotonic()
            for member in session.members.values():
                member.start()
            session.wait(session.all(), 60)
            session.check(session.all())
            if stranger.poll() is not None:
                fail("the stranger ended before the members did")
            print(f"{how} from {addresses} addresses, {made}: the members had their sum after {time.monotonic() - begun:.1f} s")
            sys.stdout.flush()
        finally:
            stranger.kill()
            stranger.wait()


PHASES = ("keys", "shares", "masked", "signatures", "reveals")


def answers(journal):
    """How many messages of members the coordinator has taken in this round, or None after it: its journal has a record of each."""
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
    count, gone = 100, 30
    session = Session(folder, count, size=1000, deadline=40, threshold=count - gone, spare=0)
    for phase, name in enumerate(PHASES):
        if phase > 0:
            session.renew()
        for one in session.all():
            (session.folder / f"{one.name}.err").write_text("")
        journal = session.folder / f"journal-{name}"
        session.relay.words = ["coordinator", "session.json", "--key", "relay.member.key", "--format", "json", "--journal", journal]
        session.start()
        until = time.monotonic() + 200
        while f"{count} of {count}" not in session.relay.said():
            if time.monotonic() > until or not session.relay.running():
                fail(f"not all joined: {session.relay.said()[-1000:]}")
            time.sleep(0.02)
        begun = time.monotonic()
        # each victim is killed when so many have answered in this phase; where that never comes, since others are gone, a second later
        victims = rng.sample(list(session.members.values()), gone)
        kills = []
        for victim, moment in zip(victims, sorted(rng.randrange(count * phase, count * phase + count - gone) for _ in victims)):
            patience = None
            while (at := answers(journal)) is not None and at < moment:
                if at >= count * phase:
                    patience = patience or time.monotonic() + 1
                if patience and time.monotonic() > patience:
                    break
                if time.monotonic() > until:
                    fail(f"nothing moves: {session.relay.said()[-1000:]}")
                time.sleep(0.005)
            if at is not None:
                kills.append(at)
                victim.kill()
        left = [one for one in session.all() if one.name not in {v.name for v in victims[: len(kills)]}]
        session.wait([session.relay], 300)
        took = time.monotonic() - begun
        session.wait(left, 90)
        how = f"{len(kills)} killed in the phase of {name}"
        if session.relay.process.returncode == 0:
            sums = session.check(left)
            print(f"{how}: the sum of {len(sums[0]['members'])} members, the same at {len(left)} processes, after {took:.1f} s")
        else:
            for one in left:
                if one.process.returncode == 0 or "the session failed" not in one.said():
                    fail(f"{one.name} has no clean end: {one.said()[-1000:]}")
            print(f"{how}: a clean end, after {took:.1f} s: {session.relay.said().splitlines()[-1]}")
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
