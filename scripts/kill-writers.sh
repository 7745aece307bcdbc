#!/usr/bin/env bash
# Kills every command that writes a file, at moments spread over its run, by each of four signals: what it leaves under its
# name must be whole, nothing else may be left but by SIGKILL, and the next run sweeps that.
#
#   scripts/kill-writers.sh             KILLS=200 kills in all (the gate takes fewer)
#   scripts/kill-writers.sh films       only films of traces and storyboards, by SIGINT and SIGTERM; KILLS=50, SEED=12
#
# ORRERY names another binary than target/debug/orrery. Needs python3 (for moments by the millisecond); ffprobe judges videos
# where it is there. Pictures are left out where there is no adapter. Half of the kills are of files that have a hidden name
# while they are written, as on file systems without files that have none (ORRERY_NAMED_DRAFTS).
set -u
cd "$(dirname "$0")/.." || exit 1
orrery=${ORRERY:-${CARGO_TARGET_DIR:-target}/debug/orrery}
case $orrery in /*) ;; *) orrery=$PWD/$orrery ;; esac
[ -x "$orrery" ] || { printf 'kill-writers: no binary at %s; run cargo build first\n' "$orrery" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:-} in films) usual=50 ;; *) usual=200 ;; esac
exec python3 - "$orrery" "$PWD" "$work" "${KILLS:-$usual}" "${1:-all}" "${SEED:-12}" <<'PYTHON'
import os, random, shutil, signal, subprocess, sys, time

orrery, root, work, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
only_films = sys.argv[5] == "films"
random.seed(int(sys.argv[6]))
trace = os.path.join(root, "traces", "matmul16.orrery")
env = dict(os.environ, XDG_CACHE_HOME=os.path.join(work, "cache"), TMPDIR=os.path.join(work, "tmp"))
for name in ("DISPLAY", "WAYLAND_DISPLAY"):
    env.pop(name, None)
os.makedirs(env["TMPDIR"])
out = os.path.join(work, "out")
os.makedirs(out)

# A text of 1.2 M references: long enough that it is killed on its way, and that a copy and an index are kept of it.
text = os.path.join(work, "t.lackey")
with open(text, "w") as f:
    for n in range(0 if only_films else 1_200_000):
        f.write(" %s %x,8\n" % ("LS"[n % 3 == 0], 0x100000 + n * 7919 % 65536 * 8))

def run(*words, **more):
    return subprocess.run([orrery, *words], env=env, cwd=out, capture_output=True, timeout=600, **more)

def playable_trace(path):
    done = run("stats", path)
    return None if done.returncode == 0 else done.stderr.decode()

def playable_still(path):
    data = open(path, "rb").read()
    return None if data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND" else "no whole PNG"

def playable_video(path):
    if shutil.which("ffprobe"):
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", path], capture_output=True)
        return None if done.returncode == 0 and done.stdout.strip() not in (b"", b"0") else done.stderr.decode() or "no frames"
    data = open(path, "rb").read()
    return None if b"ftyp" in data[:16] and b"moov" in data or data[:4] == b"GIF8" else "no whole video"

def playable_film(path):
    # What lies beside a film is whole too.
    if path.endswith(".png"):
        return playable_still(path)
    if path.endswith((".md", ".vtt", ".json")):
        return None if open(path).read().endswith("\n") else "no whole text"
    return playable_video(path)

commands = [
    ("convert", ["convert", text, "-o", "c.orrery"], "c.orrery", playable_trace),
    ("convert to text", ["convert", text, "-o", "c.din.gz"], "c.din.gz", playable_trace),
    ("stats", ["stats", text], None, None),
]
if only_films:
    commands = []
elif shutil.which("valgrind"):
    program = shutil.which("true")
    commands.append(("capture", ["capture", "--whole", "-o", "k.orrery", "--", program], "k.orrery", playable_trace))
small = ["--size", "160x120"]
draws = run("snapshot", trace, "-o", "try.png", *small).returncode == 0
if only_films and not (draws and shutil.which("ffprobe")):
    sys.exit("kill-writers: films need an adapter to draw with, and ffprobe")
if only_films:
    # A storyboard with a question, pictures side by side, and all files that may lie beside its film.
    board = os.path.join(work, "k.story.toml")
    with open(board, "w") as f:
        f.write('''title = "Killed"
[source.a]
trace = "lesson:matmul16"
cache = "paper"
[[scene]]
card = { title = "One" }
seconds = 1
[[scene]]
title = "Two"
source = "a"
to = 200
seconds = 2
beside = [{ view = "chart" }]
caption = "{A} has missed {A.misses} times."
[scene.quiz]
question = "Does it fit?"
answer = "No."
pause = 0.5
seconds = 0.5
''')
    beside = ["--captions", "k.vtt", "--captions", "k.md"]
    commands = [(f"storyboard {name}", ["record", board, "-o", name, *small, *more], name, playable_film)
                for name, more in (("k.mp4", [*beside, "--manifest"]), ("k.gif", []), ("k.apng", beside), ("k.y4m", []))]
    commands += [(f"film {name}", ["record", trace, "-o", name, "--seconds", "3", *small], name, playable_film)
                 for name in ("k.mp4", "k.apng", "k.gif")]
    if shutil.which("ffmpeg"):
        commands += [(f"storyboard {name}", ["record", board, "-o", name, *small], name, playable_film) for name in ("k.mkv", "k.webm")]
elif draws:
    commands += [
        ("snapshot", ["snapshot", text, "-o", "s.png", *small], "s.png", playable_still),
        ("record mp4", ["record", trace, "-o", "r.mp4", "--seconds", "4", *small], "r.mp4", playable_video),
        ("record gif", ["record", trace, "-o", "r.gif", "--seconds", "2", *small], "r.gif", playable_video),
        ("record png", ["record", trace, "-o", "r%03d.png", "--seconds", "2", *small], None, None),
    ]

def hear():
    # Whoever runs this may ignore signals (nohup, a shell's background), and then the child would too.
    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, signal.SIG_DFL)

def left():
    found = []
    for folder, folders, files in os.walk(work):
        found += [os.path.join(folder, f) for f in files + folders if f.startswith(".") or f.endswith(".part")]
    return [path for path in found if path != kept_part]

# What a killed recording saw is kept under this name, for `orrery convert`.
kept_part = os.path.join(out, "k.orrery.part")

def part_fault():
    """Why what a killed recording left cannot be made a trace; None where it can, or nothing whole is in it."""
    if not os.path.exists(kept_part):
        return None
    made = run("convert", kept_part, "-o", "k.orrery")
    os.remove(kept_part)
    said = made.stderr.decode()
    if made.returncode == 0:
        why = playable_trace(os.path.join(out, "k.orrery"))
        os.remove(os.path.join(out, "k.orrery"))
        return why
    return None if "nothing" in said or "no reference" in said else said

faults, done, ran_out, swept, kept = [], 0, 0, 0, 0
took = {}
signals = [signal.SIGINT, signal.SIGTERM] if only_films else [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
films = 0
while done < kills:
    name, words, file, playable = commands[done % len(commands)]
    # Each is hit by each signal in turn; a few kills already have all signals among them.
    which = signals[(done + done // len(commands)) % len(signals)]
    # After each signal without drafts of a name come those with, or, where there are few kills, after each round.
    rounds = done // len(commands) // (4 if kills >= 8 * len(commands) else 1)
    env.pop("ORRERY_NAMED_DRAFTS", None)
    if rounds % 2 == 1:
        env["ORRERY_NAMED_DRAFTS"] = "1"
    if name not in took:
        begun = time.time()
        run(*words)
        took[name] = time.time() - begun
    shutil.rmtree(env["XDG_CACHE_HOME"], ignore_errors=True)
    for entry in os.listdir(out):
        if os.path.isdir(os.path.join(out, entry)):
            shutil.rmtree(os.path.join(out, entry))
        elif not entry.startswith("."):
            os.remove(os.path.join(out, entry))
    child = subprocess.Popen([orrery, *words], env=env, cwd=out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hear)
    time.sleep(random.uniform(0.0, 1.0) * took[name])
    child.send_signal(which)
    code = child.wait(timeout=600)
    # What a stopped command began in other programs ends a moment later.
    time.sleep(0.02)
    done += 1
    if code == 0 and which != signal.SIGKILL and file and not os.path.exists(os.path.join(out, file)):
        faults.append(f"{name}, {which.name}: ended with 0 and no file")
    ran_out += code == 0
    hidden = left()
    if hidden and which != signal.SIGKILL:
        faults.append(f"{name}, {which.name}: left {hidden}")
    paths = [os.path.join(folder, f) for folder, _, files in os.walk(out) for f in files if not f.startswith(".") and not f.endswith(".part")]
    films += file is not None and os.path.exists(os.path.join(out, file))
    for path in paths:
        judge = playable or playable_still
        why = judge(path)
        kept += 1
        if why:
            faults.append(f"{name}, {which.name}: {path} is not playable: {why}")
    if which == signal.SIGKILL:
        why = part_fault()
        if why:
            faults.append(f"{name}, {which.name}: what it kept cannot be converted: {why}")
    elif os.path.exists(kept_part):
        faults.append(f"{name}, {which.name}: left {kept_part}")
    if hidden:
        # The next run of the same command sweeps.
        run(*words)
        swept += len(hidden)
        if left():
            faults.append(f"{name}, {which.name}: the next run left {left()}")
            for path in left():
                shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.remove(path)

print(f"{done} kills of {len(commands)} commands: {ran_out} had ended, {kept} files stood and were played, {swept} left by SIGKILL and swept")
if only_films:
    print(f"{films} left a film that plays, {done - films} none")
for fault in faults:
    print("WRONG:", fault)
sys.exit(bool(faults))
PYTHON
