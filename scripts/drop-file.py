#!/usr/bin/python3
"""Drops a file on a window, as a file manager does (XDND, version 5).

    scripts/drop-file.py WINDOW PATH          WINDOW as xdotool gives it

The exit code is 0 once the window has asked for the path and said that it is done with it. Needs python3-xlib (Debian).
"""
import pathlib
import sys
import time

from Xlib import X, display
from Xlib.protocol import event

if len(sys.argv) != 3:
    sys.exit(__doc__)
screen = display.Display()
target = screen.create_resource_object("window", int(sys.argv[1], 0))
uri = (pathlib.Path(sys.argv[2]).resolve().as_uri() + "\r\n").encode()
source = screen.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
atom = screen.intern_atom
selection, kind = atom("XdndSelection"), atom("text/uri-list")
source.set_selection_owner(selection, X.CurrentTime)


def tell(name, *data):
    values = [source.id, *data] + [0] * (4 - len(data))
    target.send_event(event.ClientMessage(window=target, client_type=atom(name), data=(32, values)))
    screen.flush()


def wait(done):
    """Answers until `done` says so of an event."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not screen.pending_events():
            time.sleep(0.01)
            continue
        heard = screen.next_event()
        if heard.type == X.SelectionRequest:
            heard.requestor.change_property(heard.property, heard.target, 8, uri)
            heard.requestor.send_event(event.SelectionNotify(
                time=heard.time, requestor=heard.requestor, selection=heard.selection, target=heard.target,
                property=heard.property))
            screen.flush()
        elif done(heard):
            return
    sys.exit("drop-file: the window does not answer")


def says(name):
    return lambda heard: heard.type == X.ClientMessage and heard.client_type == atom(name)


at = target.translate_coords(screen.screen().root, 0, 0)
place = (200 - at.x << 16) | (200 - at.y)
tell("XdndEnter", 5 << 24, kind)
tell("XdndPosition", 0, place, X.CurrentTime, atom("XdndActionCopy"))
wait(says("XdndStatus"))
tell("XdndDrop", 0, X.CurrentTime)
wait(says("XdndFinished"))
