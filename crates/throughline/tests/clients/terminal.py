"""A person at a terminal: types, looks whether it appears, and reads the screen. Text is compared without blanks."""
import fcntl
import os
import pty
import re
import signal
import struct
import termios
import threading
import time

import pyte

LINES, COLUMNS = 50, 150
# What the screen does not know, and would take for something else: strings for the terminal, private sequences, colours with
# colons, intermediate characters.
UNKNOWN = re.compile(r"\x1b[PX^_].*?\x1b\\|\x1b\[[<=>][0-?]*[ -/]*[@-~]|\x1b\[\?[0-9;]*[mnpqu]|\x1b\[[0-9;]*:[0-9;:]*m"
                     r"|\x1b\[[0-?]*[ -/]+[@-~]", re.S)
# The beginning of an escape sequence whose end has not been read yet.
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[PX^_](?:(?!\x1b\\).)*|\][^\x07\x1b]*\x1b?)?$", re.S)
# Characters that are typed before the next look at the screen.
PIECE = 6
# Seconds until a key that does not appear counts as lost: a program that still starts reads what was typed later.
LOST = 20
# Letters that stand next to each other in no program's words.
PROBE = "zqj"


def bare(text):
    return re.sub(r"\s+", "", text)


class Terminal:
    def __init__(self, command, env, directory):
        self.size, self.rest, self.lock = 0, "", threading.Lock()
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.Stream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
        # Some programs ask the terminal who it is, or where the cursor stands, and wait.
        self.screen.write_process_input = lambda data: os.write(self.fd, data.encode())
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.show(data)

    def show(self, data):
        self.size += len(data)
        text = self.rest + data.decode("utf8", "replace")
        unfinished = UNFINISHED.search(text)
        text, self.rest = (text[:unfinished.start()], unfinished.group()) if unfinished else (text, "")
        self.stream.feed(UNKNOWN.sub("", text))

    def text(self):
        """What stands on the screen, without blanks."""
        with self.lock:
            return bare("".join(self.screen.display))

    def shows(self, text):
        return bare(text) in self.text()

    def wait(self, *wanted, seconds=120):
        """The first of these texts that is shown; none if none is."""
        end = time.time() + seconds
        while time.time() < end:
            found = [text for text in wanted if self.shows(text)]
            if found:
                return found[0]
            time.sleep(0.05)
        return None

    def settle(self, seconds=0.7, most=20):
        """Waits until nothing new appears for a while: a program that still draws takes no keys."""
        end, size, since = time.time() + most, -1, time.time()
        while time.time() < end and time.time() - since < seconds:
            if self.size != size:
                size, since = self.size, time.time()
            time.sleep(0.05)

    def key(self, data):
        os.write(self.fd, data)

    def takes_keys(self, seconds=300):
        """Waits until a key is echoed: some programs show their prompt long before they read what is typed."""
        end = time.time() + seconds
        while time.time() < end:
            before = self.text()
            is_echoed = self.appears(PROBE, before)
            self.key(b"\x7f" * len(PROBE))
            if is_echoed and self.until(lambda: self.text().count(PROBE) <= before.count(PROBE), LOST):
                return True
        return False

    def type(self, text, attempts=8):
        """Types until all of it is seen: keys that do not appear are taken back and typed again. Whether it is there."""
        for _ in range(attempts):
            self.settle()
            before = self.text()
            if all(self.appears(text[:end], before) for end in [*range(PIECE, len(text), PIECE), len(text)]):
                return True
            self.key(b"\x7f" * len(text))
        return False

    def appears(self, so_far, before):
        """Types the last piece of this; whether everything typed so far is on the screen once more than before."""
        # All at once would be taken for something pasted.
        for char in so_far[(len(so_far) - 1) // PIECE * PIECE:]:
            self.key(char.encode())
            time.sleep(0.01)
        wanted = bare(so_far)
        return self.until(lambda: self.text().count(wanted) > before.count(wanted), LOST)

    def until(self, condition, seconds):
        end = time.time() + seconds
        while not condition():
            if time.time() > end:
                return False
            time.sleep(0.05)
        return True

    def say(self, text, is_taken, seconds=300):
        """Types a message and presses Enter until it is taken; types it again where it vanished untaken."""
        end, before = time.time() + seconds, self.text().count(bare(text))
        while time.time() < end:
            stands = self.text().count(bare(text)) > before
            if self.submit(text, is_taken, presses=1, is_typed=stands):
                return True
        return False

    def submit(self, text, is_taken, presses=4, seconds=15, is_typed=False):
        """Types a line and presses Enter until it is taken: a program that is still busy takes the letters and not the key."""
        if not is_typed:
            self.type(text)
        for _ in range(presses):
            # A key that comes at once behind the letters is taken for a part of something pasted.
            time.sleep(0.4)
            self.key(b"\r")
            if self.until(is_taken, seconds):
                return True
        return False

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
