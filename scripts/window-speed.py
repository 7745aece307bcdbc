#!/usr/bin/python3
"""How fast the window answers and plays, seen from outside as its user sees it, for one binary or several in turn.

    scripts/window-speed.py TRACE... -- ORRERY... [-- FLAGS OF VIEW...]

For each trace and binary, under an Xvfb of its own (1280x720, software adapter where there is no GPU):

    key, click, drag   milliseconds from the event that the X server is given to the first changed picture, half / worst of 20 each,
                       paused: Right, clicks on the strip, and moves with the button held
    frames/s           changed pictures a second while it plays at 300 and at 10^6 references a second
    idle               processor time of a paused window, % of a core, over 5 s
    memory             resident, MiB, at the end

What is looked at is the number in the bar and the middle of the rings. A look takes about 2 ms, which is the error.
Needs Xvfb and python3-xlib (Debian), and a machine on which nothing else runs.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from Xlib import X, XK, display
from Xlib.ext import xtest

WIDTH, HEIGHT = 1280, 720
# Where the pointer is over nothing.
AWAY = (50, 560)


def server():
    read, write = os.pipe()
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT + 80}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    # To the end of the line: who writes to a pipe that is closed is ended.
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    return process, f":{number}"


class Window:
    def __init__(self, orrery, name, trace, flags):
        self.display = display.Display(name)
        environment = dict(os.environ, DISPLAY=name)
        environment.pop("WAYLAND_DISPLAY", None)
        environment["XDG_CACHE_HOME"] = cache
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([orrery, "view", trace, *flags], env=environment, stderr=self.log, stdout=self.log)
        self.root = self.display.screen().root
        end = time.monotonic() + 120
        self.window = None
        while self.window is None:
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                sys.exit(f"{orrery}: no window: {self.log.read().decode()}")
            time.sleep(0.05)
            for child in self.root.query_tree().children:
                if (child.get_wm_name() or "").startswith("orrery"):
                    self.window = child
        self.window.configure(x=0, y=0)
        self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.display.sync()

    def title(self):
        return self.window.get_wm_name() or ""

    def look(self):
        """Part of the bar with the number, and the middle of the rings: what changes with the playhead."""
        part = lambda x, y, w, h: self.window.get_image(x, y, w, h, X.ZPixmap, 0xFFFFFFFF).data
        return part(60, HEIGHT - 40, 240, 30), part(WIDTH // 2 - 110, 190, 220, 220)

    def key(self, name, shift=False):
        code = self.display.keysym_to_keycode(XK.string_to_keysym(name))
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(self.display, kind, code)
        self.display.sync()

    def move(self, x, y):
        xtest.fake_input(self.display, X.MotionNotify, x=x, y=y)
        self.display.sync()

    def button(self, down):
        xtest.fake_input(self.display, X.ButtonPress if down else X.ButtonRelease, 1)
        self.display.sync()

    def rest(self):
        """Waits until nothing changes for half a second."""
        last, since = self.look(), time.monotonic()
        end = since + 20
        while time.monotonic() - since < 0.5 and time.monotonic() < end:
            time.sleep(0.02)
            now = self.look()
            if now != last:
                last, since = now, time.monotonic()
        return last

    def answer(self, act):
        """Milliseconds from an event to the first changed picture; None where none comes within two seconds."""
        before = self.rest()
        begun = time.monotonic()
        act()
        while time.monotonic() - begun < 2:
            if self.look() != before:
                return 1000 * (time.monotonic() - begun)
        return None

    def busy(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))

    def frames(self, seconds):
        """Changed pictures a second."""
        last, changes, begun = self.look(), 0, time.monotonic()
        while time.monotonic() - begun < seconds:
            now = self.look()
            if now != last:
                last, changes = now, changes + 1
        return changes / (time.monotonic() - begun)

    def end(self):
        self.process.terminate()
        self.process.wait(20)


def told(waits):
    there = [wait for wait in waits if wait is not None]
    lost = len(waits) - len(there)
    if not there:
        return "no answer"
    return f"{statistics.median(there):.0f} / {max(there):.0f} ms" + (f" ({lost} without answer)" if lost else "")


def opened(orrery, name, trace, flags, speed):
    """A window that rests, all of the trace indexed, the pointer over the picture."""
    window = Window(orrery, name, trace, [*flags, "--speed", speed, "--memory", "512MiB"])
    end = time.monotonic() + 180
    while "%" in window.title() and time.monotonic() < end:
        time.sleep(0.2)
    time.sleep(1)
    window.move(*AWAY)
    window.rest()
    return window


def play(window, seconds):
    """Changed pictures a second while it plays from the start, in words."""
    window.key("Home")
    window.rest()
    window.key("space")
    time.sleep(0.5)
    frames = window.frames(seconds)
    window.key("space")
    return f"{frames:.1f}"


def measure(orrery, trace, flags):
    process, name = server()
    window = None
    try:
        window = opened(orrery, name, trace, flags, "300")
        rows = [("key", told([window.answer(lambda: window.key("Right")) for _ in range(20)]))]
        strip = HEIGHT - 46 - 40
        clicks = []
        for n in range(20):
            window.move(60 + 23 * n, strip)
            clicks.append(window.answer(lambda: window.button(True)))
            window.button(False)
            # A move within the frame of the release would be a drag.
            time.sleep(0.1)
        rows.append(("click", told(clicks)))
        window.move(60, strip)
        window.button(True)
        drags = [window.answer(lambda n=n: window.move(60 + 23 * n, strip)) for n in range(1, 21)]
        window.button(False)
        rows.append(("drag", told(drags)))
        window.move(*AWAY)
        window.rest()
        before, begun = window.busy(), time.monotonic()
        time.sleep(5)
        rows.append(("idle", f"{100 * (window.busy() - before) / (time.monotonic() - begun):.1f} %"))
        rows.append(("frames/s at 300", play(window, 8)))
        memory = ("memory", f"{window.memory()} MiB")
        window.end()
        window = opened(orrery, name, trace, flags, "1000000")
        rows.append(("frames/s at 10^6", play(window, 4)))
        return [*rows, memory]
    finally:
        if window is not None and window.process.poll() is None:
            window.end()
        process.terminate()
        process.wait()


parts = [[]]
for word in sys.argv[1:]:
    if word == "--":
        parts.append([])
    else:
        parts[-1].append(word)
if len(parts) < 2 or not parts[0] or not parts[1]:
    sys.exit(__doc__)
traces, binaries, flags = parts[0], parts[1], parts[2] if len(parts) > 2 else []
with tempfile.TemporaryDirectory() as cache:
    # Not the first start: no hints over the strip.
    os.mkdir(os.path.join(cache, "orrery"), 0o700)
    open(os.path.join(cache, "orrery", "hints-shown"), "w").close()
    for trace in traces:
        columns = [measure(orrery, trace, flags) for orrery in binaries]
        print(f"{os.path.basename(trace)}  {' '.join(flags)}")
        for row in zip(*columns):
            print(f"  {row[0][0]:18}" + "  |  ".join(f"{value:>22}" for _, value in row))
        sys.stdout.flush()
