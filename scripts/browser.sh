#!/bin/sh
# Opens in a browser without a window what a lecture puts on a page: a film with its captions and chapters, an animated PNG. Says
# what the browser made of each; ends with 1 where it could not. Needs chromium (Debian: apt install chromium).
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
python3 - <<'PAGE'
import base64
kinds = {"lesson.mp4": "video/mp4", "lesson.webm": "video/webm", "lesson.vtt": "text/vtt", "picture.apng": "image/png"}
data = {name: f"data:{kind};base64," + base64.b64encode(open(name, "rb").read()).decode() for name, kind in kinds.items()}
open("page.html", "w").write(f"""<body>
<video id=mp4 muted src="{data['lesson.mp4']}"><track id=track kind=captions default src="{data['lesson.vtt']}"></video>
<video id=webm muted src="{data['lesson.webm']}"></video>
<img id=apng src="{data['picture.apng']}">
<pre id=said></pre>
<script>
const said = document.getElementById("said"), say = (name, words) => said.textContent += name + ": " + words + "\\n";
for (const name of ["mp4", "webm"]) {{
  const video = document.getElementById(name);
  video.onseeked = () => say(name, video.videoWidth + "x" + video.videoHeight + ", " + video.duration.toFixed(1) + " s");
  video.onerror = () => say(name, "FAILED " + video.error.message);
  video.onloadeddata = () => video.currentTime = video.duration / 2;
}}
for (const name of ["apng"]) {{
  const img = document.getElementById(name);
  img.decode().then(() => say(name, img.naturalWidth + "x" + img.naturalHeight), error => say(name, "FAILED " + error));
}}
const track = document.getElementById("track");
track.track.mode = "showing";
track.onload = () => say("vtt", track.track.cues.length + " cues, the first: " + track.track.cues[0].text);
track.onerror = () => say("vtt", "FAILED");
</script>""")
PAGE
"$chromium" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --dump-dom "file://$work/page.html" 2>chromium.err |
    sed -n '/<pre id="said">/,/<\/pre>/p' | sed 's/<[^>]*>//g' | grep . | tee said
for name in mp4 webm vtt apng; do
    grep -q "^$name: [0-9]" said || { echo "$name could not be opened" >&2; exit 1; }
done
