#!/bin/sh
# Opens in a browser without a window what a lecture puts on a page: a film with its captions and chapters, an animated PNG, an SVG (drawn
# beside the PNG of the same moment). Says what the browser made of each; ends with 1 where it could not. Needs chromium (Debian: apt install chromium).
#
#     scripts/browser.sh [FOLDER]
#
# ORRERY names another orrery than target/release/orrery.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/release/orrery}
work=${1:-$(mktemp -d)}
mkdir -p "$work" && cd "$work"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "no chromium here (Debian, Ubuntu: apt install chromium)" >&2; exit 1; }

"$orrery" record story:why-columns-miss -o lesson.mp4 --captions lesson.vtt --preview
"$orrery" record story:why-columns-miss -o lesson.webm --scene 1 --preview
"$orrery" record lesson:matmul16 -o picture.apng -320x180 --seconds 1
"$orrery" snapshot lesson:matmul16 --at 4000 -o still.svg -1280x720
"$orrery" snapshot lesson:matmul16 --at 4000 -o still.png -1280x720
python3 - "$chromium" <<'PAGE'
"""Serves the files with a page that opens them, lets the browser open the page, and waits for what the page sends back. The browser's
clock is the real one: with a virtual one (`--virtual-time-budget`) it does not wait for the decoders of films."""
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

LIMIT = 120  # seconds for all of it
FILES = {"lesson.mp4": "video/mp4", "lesson.webm": "video/webm", "lesson.vtt": "text/vtt",
         "picture.apng": "image/png", "still.svg": "image/svg+xml", "still.png": "image/png"}
PAGE = """<!doctype html><meta charset=utf-8><body>
<video id=mp4 muted><track id=track kind=captions default></video>
<video id=webm muted></video>
<img id=apng><img id=svg><img id=png>
<script>
const say = (name, words) => fetch("/said", {method: "POST", body: JSON.stringify([name, words])});
const fetched = async (name) => URL.createObjectURL(await (await fetch(name)).blob());
const pixels = (img) => {
  const canvas = document.createElement("canvas"); canvas.width = 320; canvas.height = 180;
  const context = canvas.getContext("2d"); context.drawImage(img, 0, 0, 320, 180);
  return context.getImageData(0, 0, 320, 180).data;
};
const lit = (data) => { let sum = 0; for (let i = 0; i < data.length; i += 4) if (data[i] + data[i+1] + data[i+2] > 120) sum++; return sum; };
for (const name of ["mp4", "webm"]) {
  const video = document.getElementById(name);
  video.onloadeddata = () => video.currentTime = video.duration / 2;
  video.onseeked = () => say(name, video.videoWidth + "x" + video.videoHeight + ", " + video.duration.toFixed(1) + " s, "
    + lit(pixels(video)) + " lit pixels in its middle");
  video.onerror = () => say(name, "FAILED " + video.error.message);
  fetched("lesson." + name).then(url => video.src = url);
}
const track = document.getElementById("track");
track.track.mode = "showing";
track.onload = () => say("vtt", track.track.cues.length + " cues, the first: " + track.track.cues[0].text);
track.onerror = () => say("vtt", "FAILED");
track.src = "lesson.vtt";
const image = async (id, name) => { const img = document.getElementById(id); img.src = await fetched(name); await img.decode(); return img; };
image("apng", "picture.apng").then(img => say("apng", img.naturalWidth + "x" + img.naturalHeight), error => say("apng", "FAILED " + error));
Promise.all([image("svg", "still.svg"), image("png", "still.png")]).then(([svg, png]) => {
  const drawn = pixels(svg), ours = pixels(png); let sum = 0;
  for (let i = 0; i < ours.length; i++) sum += Math.abs(drawn[i] - ours[i]);
  const differ = sum / ours.length;
  say("svg", (differ > 6 ? "FAILED " : "") + svg.naturalWidth + "x" + svg.naturalHeight + ", " + lit(drawn)
    + " lit pixels, the PNG's are " + lit(ours) + ", they differ by " + differ.toFixed(2) + " of 255");
}, error => say("svg", "FAILED " + error));
</script>"""
said, all_said = {}, threading.Event()


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.lstrip("/")
        body = PAGE.encode() if not name else open(name, "rb").read() if name in FILES else None
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", FILES.get(name, "text/html"))
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def do_POST(self):
        name, words = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said.setdefault(name, words)
        print(f"{name}: {said[name]}", flush=True)
        self.send_response(204)
        self.end_headers()
        if len(said) == 5:
            all_said.set()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
profile = tempfile.mkdtemp()
with open("chromium.err", "w") as err:
    browser = subprocess.Popen([sys.argv[1], "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                                "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/"],
                               stdout=err, stderr=err, start_new_session=True)
all_said.wait(LIMIT)
os.killpg(browser.pid, signal.SIGKILL)
browser.wait()
shutil.rmtree(profile, ignore_errors=True)
wrong = [name for name in ("mp4", "webm", "vtt", "apng", "svg") if "FAILED" in said.get(name, "FAILED")]
for name in wrong:
    print(f"{name} could not be opened" + ("" if name in said else f" within {LIMIT} s"), file=sys.stderr)
sys.exit(bool(wrong))
PAGE
