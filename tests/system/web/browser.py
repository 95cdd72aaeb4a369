"""Controls headless Chromium over a pipe: opens pages, evaluates expressions and takes screenshots.

It uses the standard library alone.
"""
import base64
import json
import os
import select
import subprocess
import tempfile
import time


class Browser:
    """A browser process with one page. `events` has what the page logged and loaded."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def set_descriptors():  # the browser reads from descriptor 3 and writes to 4
            spare = [os.dup(to_browser), os.dup(from_browser)]
            high = [os.dup2(spare[0], 103), os.dup2(spare[1], 104)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"],
            close_fds=False, preexec_fn=set_descriptors, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.session = None
        self.events = []

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.profile.cleanup()

    def read(self, until):
        """Returns the next message. Raises TimeoutError at the time `until`."""
        while b"\0" not in self.rest:
            if not select.select([self.read_end], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, wait=60, **parameters):
        """Calls a method of the DevTools protocol and returns its result.

        Waits at most `wait` seconds.
        """
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + wait
        while True:
            answer = self.read(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, width=1280, height=900, telephone=False):
        """Opens a new page and clears `events`."""
        self.session, self.events = None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height, telephone)
        self.call("Page.navigate", url=address)

    def resize(self, width, height, telephone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if telephone else 1, mobile=telephone)

    def evaluate(self, expression, wait=60):
        """Returns the value of a JavaScript expression or of its promise.

        Raises RuntimeError if it throws.
        """
        result = self.call("Runtime.evaluate", wait=wait, expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", str(result["exceptionDetails"])))
        return result["result"].get("value")

    def wait_for(self, condition, wait=60):
        """Returns the value of the expression once it is true.

        Raises TimeoutError after `wait` seconds.
        """
        until = time.monotonic() + wait
        while time.monotonic() < until:
            if value := self.evaluate(condition):
                return value
            time.sleep(0.05)
        raise TimeoutError(f"the condition did not become true in {wait} s: {condition}")

    def photograph(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def complaints(self):
        """Returns the errors and warnings that the page threw or logged."""
        errors = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                errors.append(event["params"]["exceptionDetails"]["text"] + " " + event["params"]["exceptionDetails"].get("exception", {}).get("description", ""))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                errors.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert"):
                errors.append(str(event["params"]["args"]))
        return errors

    def addresses(self):
        """Returns the addresses that the page loaded."""
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
