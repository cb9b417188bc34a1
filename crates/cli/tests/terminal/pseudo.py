"""Runs a command in a pseudo-terminal and plays a person in front of it.

The only argument is JSON: columns, rows, command, and steps. A step is ["send", TEXT], ["see", TEXT] (wait until it was written since the last
step of its kind; escape sequences left out), or ["pause", SECONDS]. What was written goes to standard output, then a line EXIT and the status.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

PATIENCE = 60
ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>78]")


class Terminal:
    def __init__(self, asked):
        self.all = b""
        self.seen = 0
        self.answered = 0
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execvp(asked["command"][0], asked["command"])
        size = struct.pack("HHHH", asked["rows"], asked["columns"], 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def read(self, seconds):
        """Reads what there is; false at the end."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            read = os.read(self.master, 65536)
        except OSError:
            return False
        self.all += read
        # Programs ask where the cursor is.
        asked = self.all.count(b"\x1b[6n")
        for _ in range(asked - self.answered):
            os.write(self.master, b"\x1b[1;1R")
        self.answered = asked
        return bool(read)

    def text(self):
        return ESCAPES.sub(b"", self.all)

    def see(self, text):
        end = time.monotonic() + PATIENCE
        while True:
            at = self.text().find(text.encode(), self.seen)
            if at >= 0:
                self.seen = at + len(text.encode())
                return
            if time.monotonic() > end or not self.read(0.05):
                at = self.text().find(text.encode(), self.seen)
                if at >= 0:
                    self.seen = at + len(text.encode())
                    return
                self.fail("never saw " + repr(text))

    def fail(self, what):
        sys.stdout.buffer.write(self.all)
        sys.stdout.write("\nFAILED " + what + "\n")
        sys.exit(1)


def main():
    asked = json.loads(sys.argv[1])
    terminal = Terminal(asked)
    for kind, value in asked["steps"]:
        if kind == "send":
            os.write(terminal.master, value.encode())
        elif kind == "see":
            terminal.see(value)
        else:
            end = time.monotonic() + value
            while time.monotonic() < end and terminal.read(0.02):
                pass
    end = time.monotonic() + PATIENCE
    while terminal.read(0.05):
        if time.monotonic() > end:
            terminal.fail("did not end")
        done, status = os.waitpid(terminal.process, os.WNOHANG)
        if done:
            while True:
                ready, _, _ = select.select([terminal.master], [], [], 0.2)
                if not ready or not terminal.read(0):
                    break
            break
    else:
        _, status = os.waitpid(terminal.process, 0)
    sys.stdout.buffer.write(terminal.all)
    sys.stdout.write("\nEXIT %d\n" % os.waitstatus_to_exitcode(status))


main()
