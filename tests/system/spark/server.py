"""A Spark 4 server with Spark Connect on loopback, with two executor processes.

Spark is in build/spark-venv, which ./dev test spark creates.
"""
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from free_port import free_port  # noqa: E402

EXECUTORS = 2


def home(build):
    """Returns the folder of Spark; None if it is not installed."""
    programs = glob.glob(f"{build}/spark-venv/lib/python3*/site-packages/pyspark/bin/spark-submit")
    return Path(programs[0]).parent.parent if programs else None


def missing(build):
    """Returns what is missing to start a server, with the command that installs it; empty if
    nothing is.
    """
    if home(build) is None:
        return "no Spark; type: ./dev test spark"
    if shutil.which("java") is None:
        return "no Java; type: ./dev test spark"
    return ""


class Server:
    """A running server. `connection` is its address for Spark Connect."""

    def __init__(self, build, memory="2g", settings=(), master=f"local-cluster[{EXECUTORS},1,1024]"):
        self.folder = tempfile.mkdtemp(prefix="sotto-spark-")
        self.port = free_port()
        self.connection = f"sc://127.0.0.1:{self.port}"
        self.log = Path(self.folder, "server.log")
        options = [
            "spark.driver.host=127.0.0.1",
            "spark.driver.bindAddress=127.0.0.1",
            "spark.connect.grpc.binding.address=127.0.0.1",
            f"spark.connect.grpc.binding.port={self.port}",
            "spark.ui.enabled=false",
            f"spark.sql.warehouse.dir={self.folder}/warehouse",
            f"spark.local.dir={self.folder}/local",
            *settings,
        ]
        java = Path(shutil.which("java")).resolve().parent.parent
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))},
            "JAVA_HOME": str(java),
            "SPARK_HOME": str(home(build).resolve()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": f"{self.folder}/work",
        }
        command = [str(home(build).resolve() / "bin/spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        command += [word for option in options for word in ("--conf", option)]
        command += ["--driver-memory", memory, "--master", master, "spark-internal"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self._wait()

    def _wait(self):
        """Waits until the server accepts connections.

        Raises RuntimeError with the end of its log if it does not.
        """
        for _ in range(600):
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        log = self.log.read_text(errors="replace")[-3000:]
        self.stop()
        raise RuntimeError(f"Spark does not start:\n{log}")

    def executors(self):
        """Returns the process ids of the executors."""
        processes = []
        for place in glob.glob("/proc/[0-9]*"):
            try:
                words = Path(place, "cmdline").read_bytes().split(b"\0")
                mine = os.getpgid(int(place[6:])) == self.process.pid
            except (OSError, ProcessLookupError):
                continue
            if mine and any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
                processes.append(int(place[6:]))
        return processes

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
