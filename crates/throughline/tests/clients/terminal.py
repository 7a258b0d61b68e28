"""A person at a terminal: types, and reads what appears. No screen is kept: text is compared without blanks."""
import fcntl
import os
import pty
import re
import signal
import struct
import termios
import threading
import time

ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]", re.S)


def bare(text):
    return re.sub(r"\s+", "", ESCAPES.sub("", text))


class Terminal:
    def __init__(self, command, env, directory):
        self.seen, self.at = b"", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            # Some programs ask the terminal who it is, or where the cursor stands, and wait.
            if b"\x1b[c" in data:
                os.write(self.fd, b"\x1b[?62;c")
            if b"\x1b[6n" in data:
                os.write(self.fd, b"\x1b[1;1R")
            self.seen += data

    def text(self):
        """What appeared since the last key, without blanks."""
        return bare(self.seen[self.at:].decode("utf8", "replace"))

    def wait(self, *wanted, seconds=60):
        """The first of these texts that appears; none if none does."""
        end = time.time() + seconds
        while time.time() < end:
            found = [text for text in wanted if bare(text) in self.text()]
            if found:
                return found[0]
            time.sleep(0.05)
        return None

    def settle(self, seconds=0.7, most=20):
        """Waits until nothing new appears for a while: a program that still draws takes no keys."""
        end, length, since = time.time() + most, -1, time.time()
        while time.time() < end and time.time() - since < seconds:
            if len(self.seen) != length:
                length, since = len(self.seen), time.time()
            time.sleep(0.05)

    def key(self, data):
        self.at = len(self.seen)
        os.write(self.fd, data)

    def type(self, text):
        self.settle()
        self.at = len(self.seen)
        for char in text:
            os.write(self.fd, char.encode())
            time.sleep(0.01)
        # A line that comes at once with its end is taken for something pasted.
        time.sleep(0.4)
        os.write(self.fd, b"\r")

    def is_over(self, seconds=0):
        end = time.time() + seconds
        while True:
            try:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return True
            except OSError:
                return True
            if time.time() >= end:
                return False
            time.sleep(0.05)

    def end(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self.is_over():
                return
            os.kill(self.pid, sign)
            if self.is_over(5):
                return
