"""Chromium without a window, spoken to over a pipe in its DevTools protocol: Browser, Page.

tools/setup --browser has unpacked it; nothing is installed and no port is opened. https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

UNPACKED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "compute-domain-operator" / "browser"
PROGRAM = UNPACKED / "usr/lib/chromium/chromium-headless-shell"
# The same letters on every machine.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>{fonts}</dir><dir>/usr/share/fonts</dir><cachedir>{cache}</cachedir>
<alias><family>sans</family><prefer><family>Liberation Sans</family><family>DejaVu Sans</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>Liberation Sans</family><family>DejaVu Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>Liberation Mono</family></prefer></alias></fontconfig>
"""
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " ")}


class Page:
    """One tab. What it says of errors and requests since open() is kept."""

    def __init__(self, browser: "Browser", session: str):
        self.browser, self.session = browser, session
        self.requests, self.complaints = [], []

    def call(self, method: str, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def on_event(self, method: str, event: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{event['type']}: {event['args']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"{event['entry']['level']}: {event['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {event['message']}")
            self.call("Page.handleJavaScriptDialog", accept=False)

    def look(self, width: int, height: int, scheme: str) -> None:
        """As on a window of that size, with the colours "light" or "dark"."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def allow_scripts(self, are_allowed: bool) -> None:
        """Of the page itself; script() works without."""
        self.call("Emulation.setScriptExecutionDisabled", value=not are_allowed)

    def open(self, url: str) -> None:
        """Ends when the page has loaded."""
        self.requests.clear()
        self.complaints.clear()
        self.browser.events.clear()
        self.call("Page.navigate", url=url)
        self.browser.wait_for("Page.loadEventFired", self.session)

    def script(self, expression: str):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, shift: bool = False) -> None:
        code, text = KEYS[key]
        event = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def screenshot(self, file: Path, left: float, top: float, width: float, height: float) -> None:
        """Of that part of the whole page."""
        area = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)["data"]))


class Browser:
    """A Chromium whose profile is in `folder`, which must be there. A context: at its end the program has ended."""

    def __init__(self, folder: Path):
        if not PROGRAM.exists():
            sys.exit(f"there is no {PROGRAM}: run tools/setup --browser")
        self.folder, self.calls, self.events, self.pages, self.rest = folder, 0, [], {}, b""
        (folder / "fonts.conf").write_text(FONTS.format(fonts=UNPACKED / "usr/share/fonts", cache=folder / "font-cache"))

    def __enter__(self) -> "Browser":
        libraries = [str(folder) for folder in (UNPACKED / "usr/lib").glob("*-linux-gnu*")]
        libraries += [f"{folder}/pulseaudio" for folder in libraries]
        environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_FILE": str(self.folder / "fonts.conf"), "HOME": str(self.folder)}
        orders, self.write_end = os.pipe()
        self.read_end, answers = os.pipe()
        with open(self.folder / "chromium.log", "w") as log:
            # It reads orders from 3 and answers on 4, whatever these are here. The pages are our own: no sandbox, which root
            # could not have.
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec 3<&{orders} 4>&{answers}; exec "$@"', "bash", PROGRAM, "--remote-debugging-pipe", "--no-sandbox",
                 "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
                 "--font-render-hinting=none", "--force-color-profile=srgb", f"--user-data-dir={self.folder / 'profile'}", "about:blank"],
                pass_fds=(orders, answers), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        os.close(orders)
        os.close(answers)
        return self

    def __exit__(self, *_) -> None:
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)

    def page(self) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        return page

    def call(self, method: str, session: str = "", **parameters):
        self.calls += 1
        number = self.calls
        text = json.dumps({"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}).encode() + b"\0"
        while text:
            text = text[os.write(self.write_end, text):]
        while (answer := self._receive()).get("id") != number:
            pass
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def wait_for(self, event: str, session: str) -> None:
        while (event, session) not in self.events:
            self._receive()

    def _receive(self) -> dict:
        """The next answer or event. Events are told to their page first."""
        deadline = time.monotonic() + 60
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_end], [], [], max(deadline - time.monotonic(), 0))
            piece = os.read(self.read_end, 1 << 20) if ready else b""
            assert piece, f"Chromium does not answer: {(self.folder / 'chromium.log').read_text(errors='replace')[-2000:]}"
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        said = json.loads(text)
        if "method" in said:
            self.events.append((said["method"], said.get("sessionId")))
            if said.get("sessionId") in self.pages:
                self.pages[said["sessionId"]].on_event(said["method"], said["params"])
        return said
