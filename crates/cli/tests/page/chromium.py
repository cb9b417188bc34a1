"""Drives headless Chromium by its DevTools protocol, over a pipe: nothing but Python and the browser is needed."""

import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

LONG = 30
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program():
    """The browser of this machine, or none."""
    named = os.environ.get("LODE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Failed(AssertionError):
    """What was waited for did not come, or a script has failed."""


class Chromium:
    """A browser that ends with its `with`."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        to_read, to_write = os.pipe(), os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                 "--hide-scrollbars", "--no-proxy-server", "--force-color-profile=srgb", "--disable-background-networking", "--disable-component-update",
                 "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"]

        def pipes():
            # The browser reads 3 and writes 4.
            read, write = os.dup(to_read[0]), os.dup(to_write[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen([program(), *flags], preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read[0])
        os.close(to_write[1])
        self.out, self.back = os.fdopen(to_read[1], "wb"), os.fdopen(to_write[0], "rb")
        self.last, self.answers, self.pages = 0, {}, {}
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def listen(self):
        rest = b""
        while part := os.read(self.back.fileno(), 1 << 16):
            *messages, rest = (rest + part).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.answers.pop(message["id"]).put(message)
                elif page := self.pages.get(message.get("sessionId")):
                    page.on(message["method"], message["params"])

    def send(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params} | ({"sessionId": session} if session else {})
        answer = self.answers[self.last] = queue.Queue()
        self.out.write(json.dumps(message).encode() + b"\0")
        self.out.flush()
        answer = answer.get(timeout=2 * LONG)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, **options):
        """A page of a person of its own: nothing is kept of others."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, context, **options)


KEYS = {"Enter": ("\r", 13), "Tab": ("\t", 9), "Escape": ("", 27), "Backspace": ("", 8), "ArrowDown": ("", 40), "ArrowUp": ("", 38),
        "ArrowLeft": ("", 37), "ArrowRight": ("", 39), "Home": ("", 36), "End": ("", 35), "Delete": ("", 46), "F1": ("", 112), " ": (" ", 32)}
BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


class Page:
    """One page."""

    def __init__(self, browser, session, context, width=1280, height=900, dark=False):
        self.browser, self.session, self.context = browser, session, context
        self.errors, self.requests, self.loaded = [], [], threading.Event()
        browser.pages[session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.send(domain + ".enable")
        self.size(width, height)
        self.colours(dark)

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def close(self):
        self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)

    def on(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str([one.get("value") for one in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"])

    def size(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def colours(self, dark):
        value = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def go(self, url):
        self.loaded.clear()
        self.send("Page.navigate", url=url)
        if not self.loaded.wait(LONG):
            raise Failed(f"{url} does not load")

    def do(self, script):
        """The value of an expression, which may be a promise."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]) + "\nin " + script)
        return result["result"].get("value")

    def wait(self, script, seconds=LONG):
        """Waits until an expression is something, and gives it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if value := self.do(script):
                    return value
            except Failed as failed:
                if "null" not in str(failed) and "undefined" not in str(failed):
                    raise
            time.sleep(0.03)
        raise Failed(f"it never was so: {script}")

    def text(self, selector):
        return self.do(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def box(self, selector):
        self.wait(f"!!document.querySelector({json.dumps(selector)})")
        return self.do(f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{ block: 'nearest' }});"
                       "const box = one.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, count=1):
        """Clicks where an element is once it stays there for some frames with nothing above it, as a person would wait for it."""
        self.box(selector)
        one, frame = f"document.querySelector({json.dumps(selector)})", "await new Promise(requestAnimationFrame)"
        box = self.wait(f"(async () => {{ const at = () => {{ const box = {one}.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }};"
                        f"const before = at(); {frame}; {frame}; const [x, y, width, height] = at();"
                        "if (before.some((side, index) => side !== [x, y, width, height][index])) return null;"
                        "if (!width || !height) return [0, 0, 0, 0];"
                        "const found = document.elementFromPoint(x + width / 2, y + height / 2);"
                        f"return found && ({one}.contains(found) || found.contains({one}) || found.closest('label')?.control === {one}) ? [x, y, width, height] : null; }})()")
        x, y, width, height = box
        if not width or not height:
            raise Failed(f"{selector} is not to be seen")
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x + width / 2, y + height / 2, button="left", clickCount=number)

    def move(self, selector):
        x, y, width, height = self.box(selector)
        self.mouse("mouseMoved", x + width / 2, y + height / 2)

    def drag(self, selector, by_x, by_y):
        x, y, width, height = self.box(selector)
        x, y = x + width / 2, y + height / 2
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + by_x * step / 5, y + by_y * step / 5, button="left", buttons=1)
        self.mouse("mouseReleased", x + by_x, y + by_y, button="left", clickCount=1)

    def type(self, text):
        """Types, key by key."""
        for char in text:
            if char == "\n":
                self.key("Enter")
                continue
            self.send("Input.dispatchKeyEvent", type="keyDown", text=char, key=char, unmodifiedText=char)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=char)

    def key(self, name, *held):
        bits = sum(BITS[one] for one in held)
        text, code = KEYS.get(name, (name, ord(name[0].upper())))
        if set(held) - {"Shift"}:
            text = ""
        down = {"text": text} if text else {}
        commands = {"z": "redo" if "Shift" in held else "undo", "a": "selectAll"}
        more = {"commands": [commands[name.lower()]]} if "Control" in held and name.lower() in commands else {}
        kind = "keyDown" if text else "rawKeyDown"
        self.send("Input.dispatchKeyEvent", type=kind, key=name, modifiers=bits, windowsVirtualKeyCode=code, code=name, **down, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=name, modifiers=bits, windowsVirtualKeyCode=code, code=name)

    def files(self, selector, paths):
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=paths)

    def picture(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
