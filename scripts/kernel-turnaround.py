#!/usr/bin/python3
"""From a saved shader to its picture in the window, as its user sees it.

    scripts/kernel-turnaround.py [ORRERY] [TURNS]

The strided reduction at 256, 2,560 and 25,600 items is open in a window of 1280x720 under an Xvfb of its own (software adapter where there is
no GPU). In each turn a barrier is put into its file or taken out of it. Told is the time from before the file is written to the first look at
which the middle of the pane `kernel-memory` is another picture and the title has the new number of rows: half / worst of TURNS (10).
A look takes about 2 ms, which is the error. Needs Xvfb and python3-xlib (Debian).
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from Xlib import X, display

WIDTH, HEIGHT = 1280, 720
ITEMS = (256, 2560, 25600)
# Rows of events, clear of what a window says at its lower edge.
ROWS = (45, 135, 400, 350)
repository = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
orrery = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(repository, "target/debug/orrery"))
turns = int(sys.argv[2]) if len(sys.argv) > 2 else 10


def server():
    read, write = os.pipe()
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT + 80}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as numbers:
        return process, f":{numbers.readline().strip()}"


def window_of(screen, viewer, log):
    end = time.monotonic() + 60
    while time.monotonic() < end and viewer.poll() is None:
        for child in screen.root.query_tree().children:
            if re.match("orrery - ", child.get_wm_name() or ""):
                child.configure(x=0, y=0)
                # Over nothing that explains itself.
                screen.root.warp_pointer(WIDTH // 2, HEIGHT + 60)
                return child
        time.sleep(0.05)
    log.seek(0)
    sys.exit(f"{orrery}: no window: {log.read().decode()}")


def rows(window):
    found = re.match(r"orrery - [\d,]+ of ([\d,]+) ", window.get_wm_name() or "")
    return int(found.group(1).replace(",", "")) if found else None


def look(window):
    return window.get_image(*ROWS, X.ZPixmap, 0xFFFFFFFF).data


def rest(window):
    """What is shown once it has not changed for half a second."""
    last, since = look(window), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.02)
        now = look(window)
        if now != last:
            last, since = now, time.monotonic()
    return last


def measure(folder, items):
    with open(os.path.join(repository, "kernels/reduce-strided.wgsl")) as source:
        text = source.read()
    changed = text.replace("    if tid == 0u", "    workgroupBarrier();\n    if tid == 0u")
    path = os.path.join(folder, f"reduce-{items}.wgsl")

    def save(text):
        with open(path, "w") as file:
            file.write(text)

    save(text)
    with open(path.replace(".wgsl", ".toml"), "w") as launch:
        launch.write(f'global = [{items}]\n[bind]\ng_idata = "iota"\nn = {items}\n')
    process, name = server()
    viewer = None
    try:
        environment = dict(os.environ, DISPLAY=name, XDG_CACHE_HOME=folder)
        environment.pop("WAYLAND_DISPLAY", None)
        log = tempfile.TemporaryFile()
        viewer = subprocess.Popen([orrery, path], env=environment, stdout=log, stderr=log)
        screen = display.Display(name).screen()
        window = window_of(screen, viewer, log)
        took, before = [], rows(window)
        for turn in range(turns):
            picture = rest(window)
            wanted = before + 1 if turn % 2 == 0 else before
            begun = time.monotonic()
            save(changed if turn % 2 == 0 else text)
            while look(window) == picture or rows(window) != wanted:
                if time.monotonic() - begun > 60:
                    sys.exit(f"{path}: saved, and not shown within a minute")
            took.append(1000 * (time.monotonic() - begun))
        return f"{statistics.median(took):.0f} / {max(took):.0f} ms"
    finally:
        if viewer is not None and viewer.poll() is None:
            viewer.terminate()
            viewer.wait(20)
        process.terminate()
        process.wait()


with tempfile.TemporaryDirectory() as folder:
    # Not the first start: no hints over the picture.
    os.mkdir(os.path.join(folder, "orrery"), 0o700)
    open(os.path.join(folder, "orrery", "hints-shown"), "w").close()
    for items in ITEMS:
        print(f"{items:>6} items  {measure(folder, items)}", flush=True)
