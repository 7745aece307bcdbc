#!/usr/bin/env bash
# One sitting at the window, from the first start to the end, as somebody has it who never saw it: under Xvfb with a window manager,
# with keys, mouse and clipboard. Each step keeps a picture and says what it checked.
#
#   scripts/window-story.sh [FOLDER [SIZE...]]     keep the pictures in FOLDER; sizes are 1280x720 and others, as 1024x640
#
# Needs xvfb, xdotool, imagemagick, openbox, xclip, python3-xlib and gcc. ORRERY names another binary than target/debug/orrery.
set -u
cd "$(dirname "$0")/.." || exit 1
orrery=${ORRERY:-${CARGO_TARGET_DIR:-target}/debug/orrery}
case $orrery in /*) ;; *) orrery=$PWD/$orrery ;; esac
bundled=$PWD/traces/matmul16.orrery
. scripts/window.sh
need_tools Xvfb:xvfb xdotool:xdotool import:imagemagick convert:imagemagick openbox:openbox xclip:xclip gcc:gcc

/usr/bin/python3 -c 'import Xlib' 2>/dev/null || { printf 'window-story: python3-xlib is missing; install it: apt-get install python3-xlib\n' >&2; exit 1; }

work=$(mktemp -d)
folder=${1:-$work/pictures}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ $# -gt 0 ] && shift
sizes=("$@")
[ "${#sizes[@]}" = 0 ] && sizes=(1280x720)
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$work}"
shots=$folder
start_server 2000x1240
openbox --sm-disable >/dev/null 2>&1 &
manager=$!
# It is there once it says which desktop this is.
for n in $(seq 100); do xdotool get_desktop >/dev/null 2>&1 && break; sleep 0.05; done
kill -0 "$manager" 2>/dev/null || { printf 'window-story: openbox does not start\n' >&2; exit 1; }

# Where things stand in a window of this size, pixels: what `app::display::zoom` and `overlay::layout` say, in another language.
geometry() { # WIDTH HEIGHT
  eval "$(awk -v w="$1" -v h="$2" 'BEGIN {
    zoom = w / 1600 < h / 900 ? w / 1600 : h / 900; if (zoom < 1) zoom = 1
    w /= zoom; h = h / zoom - 46
    scale = h / 720 < w / 960 ? h / 720 : w / 960
    type = scale < 1 ? 0.6 + 0.4 * scale : scale
    margin = 28 * scale; strip = h - 62 * type
    radius = 0.5 * strip - 0.4 * margin
    printf "strip_left=%d strip_right=%d strip_y=%d ", margin * zoom, (w - margin) * zoom, (strip + 17 * type) * zoom
    printf "dot_x=%d dot_y=%d ", (0.5 * w + 0.2025 * radius) * zoom, (0.5 * strip + 2 + 0.0716 * radius) * zoom
    printf "less_x=%d less_y=%d ", (w - margin - 448.8) * zoom, 121 * zoom
    printf "away_x=%d away_y=%d\n", (margin + 20) * zoom, (strip - 60) * zoom
  }')"
}
away() { xdotool mousemove --window "$window" "$away_x" "$away_y"; }
# A key that changes the picture: NAME OTHER BYTES KEY...
press() {
  local name=$1 other=$2 bytes=$3
  shift 3
  xdotool key "$@"
  await_change "$name" "$other" "$bytes" || fail "$* changes nothing that is seen"
}
begin() { # ARGUMENTS...: the window, as large as this size has it
  (cd "$work/home" && exec "$orrery" "$@") 2>"$work/stderr" >"$work/stdout" &
  viewer=$!
  await_window
  xdotool windowactivate --sync "$window" 2>/dev/null
  xdotool windowsize --sync "$window" "$wide" "$high"
  xdotool windowmove "$window" 4 30
}
# The window is closed by its manager.
close_window() {
  local n
  xdotool key alt+F4
  for n in $(seq 100); do
    kill -0 "$viewer" 2>/dev/null || break
    sleep 0.1
  done
  kill -0 "$viewer" 2>/dev/null && fail 'Alt + F4 does not close the window'
  wait "$viewer"
  code=$?
  viewer=''
  [ "$code" = 0 ] && [ ! -s "$work/stderr" ] || fail "closed by its manager it ends with exit code $code"
}
# copy TEXT: to the clipboard. xclip ends before it asks for it: who copies something else meanwhile would lose it to this one.
copy() {
  local n
  printf '%s' "$1" | xclip -selection clipboard
  for n in $(seq 40); do
    [ "$(timeout 2 xclip -selection clipboard -o 2>/dev/null)" = "$1" ] && return 0
    sleep 0.05
  done
  fail "the clipboard does not take '$1'"
}
# The command that shows what is seen, from the clipboard; nothing where none comes.
command_copied() {
  copy none
  xdotool key ctrl+c
  sleep 0.3
  copied=$(timeout 2 xclip -selection clipboard -o 2>/dev/null)
}
# Numbers of the pane, from the clipboard.
numbers() {
  local n
  copy none
  xdotool key y
  for n in $(seq 40); do
    numbers=$(timeout 2 xclip -selection clipboard -o 2>/dev/null)
    [ "$numbers" != none ] && [ -n "$numbers" ] && return 0
    sleep 0.1
  done
  fail 'Y copies no numbers'
}

story() { # WIDTH HEIGHT
  wide=$1 high=$2
  shots=$folder/${wide}x$high
  rm -rf "$work/home" && mkdir -p "$shots" "$work/home/cache"
  chmod 700 "$work/home" "$work/home/cache"
  export XDG_CACHE_HOME="$work/home/cache"
  geometry "$wide" "$high"
  trace=$work/home/mine.orrery
  cp "$bundled" "$trace"
  cat >"$work/home/sum.c" <<'END'
#include <stdio.h>
static double cells[512];
int main(void) {
    double sum = 0;
    for (int n = 0; n < 20; n++)
        for (int i = 0; i < 512; i += 8) sum += cells[i] += i;
    printf("%g\n", sum);
    return 0;
}
END

  # The first start: the page, a lesson, and hints, each of which goes on when it was done.
  begin
  await_title 'orrery - start' || fail '`orrery` alone opens no start page'
  rest 01-start-page || fail 'the start page does not come to rest'
  xdotool key Down key Return
  await_total 8448 || fail 'Down and Enter do not open a lesson'
  away
  sleep 0.7
  shot 02-lesson-plays
  xdotool key space
  rest 03-paused || fail 'Space does not pause a lesson, which plays at once'
  paused=$(tick)
  xdotool key space
  sleep 0.7
  xdotool key space
  sleep 0.3
  [ "$(tick)" -gt "$paused" ] || fail 'Space does not play'
  ok "$wide x $high: the start page, a lesson plays, Space pauses at $paused and plays to $(tick)"
  middle=$(((strip_left + strip_right) / 2))
  xdotool mousemove --window "$window" $((strip_left + 40)) "$strip_y" mousedown 1
  for x in $(((strip_left + middle) / 2)) $((middle - 30)) "$middle"; do
    xdotool mousemove --window "$window" "$x" "$strip_y"
    sleep 0.1
  done
  xdotool mouseup 1
  away
  sleep 0.3
  half=$(tick)
  [ "$half" -ge 4170 ] && [ "$half" -le 4280 ] || fail "dragged to the middle of the strip it is at $half of 8448"
  rest 04-scrubbed || fail 'after scrubbing the picture does not come to rest'
  xdotool key ctrl+Right
  sleep 0.4
  missed=$(tick)
  [ "$missed" -gt "$half" ] || fail 'Ctrl + Right goes to no miss'
  rest 05-next-miss || fail 'at a miss the picture does not come to rest'
  ok "the strip is dragged to $half, Ctrl + Right goes to the miss at $missed"

  # A trace of one's own, by a path that was copied.
  copy "$trace"
  xdotool key ctrl+v
  for n in $(seq 100); do
    [ "$(tick)" = 0 ] && break
    sleep 0.1
  done
  [ "$(tick)" = 0 ] || fail 'Ctrl + V opens no trace whose path was copied'
  xdotool key ctrl+p
  sleep 0.5
  xdotool type 2613
  sleep 0.3
  shot 06-finder
  xdotool key Return
  await_tick 2613 || fail 'the finder does not go to a reference'
  away
  rest 07-own-trace || fail 'a trace whose path was copied does not come to rest'
  xdotool mousemove --window "$window" "$dot_x" "$dot_y" click 1
  await_change 08-pinned 07-own-trace 2000 || fail 'a click on a dot pins nothing'
  away
  rest 08-pinned || fail 'with a pin the picture does not come to rest'
  ok 'Ctrl + V opens a trace by its path, the finder goes to 2613, a click pins a dot'

  # Half of the ways of L1: counts change; undone, they are what they were.
  numbers
  before=$numbers
  press 09-caches 08-pinned 20000 e
  rest 09-caches || fail 'under the card the picture does not come to rest'
  xdotool mousemove --window "$window" "$less_x" "$less_y" click 1
  await_change 10-half-the-ways 09-caches 20000 || fail 'half of the ways is the same picture'
  away
  rest 10-half-the-ways || fail 'with half of the ways the picture does not come to rest'
  numbers
  [ "$numbers" != "$before" ] || fail 'half of the ways has the same counts'
  xdotool key ctrl+z
  for n in $(seq 30); do
    numbers
    [ "$numbers" = "$before" ] && break
  done
  [ "$numbers" = "$before" ] || fail 'Ctrl + Z does not give the counts back'
  rest 11-undone || fail 'after Ctrl + Z the picture does not come to rest'
  ok 'E, half of the ways: other counts; Ctrl + Z: the counts before'

  # Two machines side by side, by the layout that is for it.
  xdotool key ctrl+y
  rest 12-again || fail 'after Ctrl + Y the picture does not come to rest'
  xdotool key Escape
  sleep 0.3
  press 13-compare 12-again 50000 ctrl+3
  away
  rest 13-compare || fail 'two machines do not come to rest'
  press 14-engineer 13-compare 50000 ctrl+2
  sleep 3.2
  rest 14-engineer || fail 'the layout engineer does not come to rest'
  press 15-lecture 14-engineer 50000 ctrl+1
  sleep 3.2
  rest 15-lecture || fail 'the layout lecture does not come to rest'
  press 16-larger-type 15-lecture 5000 ctrl+plus
  xdotool key ctrl+0
  xdotool key ctrl+2
  ok 'Ctrl + 3, 2, 1: compare, engineer, lecture; Ctrl + plus: larger type'

  # A bookmark, a still, and the end.
  xdotool key m
  sleep 0.5
  xdotool type 'the row again'
  sleep 0.3
  shot 17-bookmark
  xdotool key Return
  sleep 0.3
  xdotool key F12
  for n in $(seq 80); do
    [ -s "$work/home/mine-2613.png" ] && break
    sleep 0.1
  done
  size=$(convert "$work/home/mine-2613.png" -format '%wx%h' info: 2>/dev/null)
  [ "$size" = "${wide}x$high" ] || fail "F12 saves no picture of ${wide}x$high (got: ${size:-none})"
  cp "$work/home/mine-2613.png" "$shots/18-still.png"
  xdotool key question
  sleep 0.5
  shot 19-keys
  xdotool key Escape
  xdotool key End
  sleep 0.5
  close_window
  grep -q 'the row again' "$trace.notes.toml" || fail 'the bookmark is not kept'
  ok 'a bookmark with a name, a still, the list of keys, Alt + F4'

  # The next day: as it was left, and at the bookmark.
  begin view "$trace" --resume
  xdotool key p
  await_tick 2613 || fail 'P does not go to the bookmark'
  away
  sleep 3.2
  rest 20-resumed || fail 'resumed, the picture does not come to rest'
  press 21-notes 20-resumed 5000 t
  ok '--resume: the panes as they were left, P goes to the bookmark'

  # Another trace, a lesson, beside this one.
  xdotool key Escape
  sleep 0.3
  xdotool key ctrl+p
  sleep 0.3
  xdotool type 'compare with matmul16_blocked'
  sleep 0.3
  shot 22-find-lesson
  xdotool key Return
  for n in $(seq 60); do
    command_copied
    case $copied in *'--against lesson:matmul16_blocked'*) break ;; esac
    sleep 0.2
  done
  case $copied in *'--against lesson:matmul16_blocked'*) ;; *) fail "no lesson is compared with: $copied" ;; esac
  press 23-two-traces 20-resumed 50000 ctrl+3
  away
  sleep 3.2
  rest 23-two-traces || fail 'two traces do not come to rest'
  ok 'the finder compares with a lesson, and the copied command says so'

  # A program of one's own, recorded from the page.
  xdotool key Escape
  sleep 0.3
  xdotool key ctrl+o
  await_title 'orrery - start' || fail 'Ctrl + O does not open the start page'
  xdotool key Tab
  xdotool type './sum.c'
  sleep 0.3
  shot 24-program
  xdotool key Return
  for n in $(seq 300); do
    [ -s "$work/home/sum.orrery" ] && [ "$(tick)" = "$(total)" ] 2>/dev/null && [ "$(total)" -lt 8448 ] 2>/dev/null && break
    kill -0 "$viewer" 2>/dev/null || fail 'it ended while it recorded a program'
    sleep 0.1
  done
  recorded=$(total)
  [ "${recorded:-0}" -ge 1280 ] || fail "a program is recorded to ${recorded:-nothing}"
  sleep 0.5
  xdotool key g
  sleep 0.5
  shot 25-recorded
  ok "a C program is recorded from the start page: $recorded references"

  # Recorded once more, and compared with before; what would help; what the words mean.
  written=$(stat -c %y "$work/home/sum.orrery")
  xdotool key g F5
  for n in $(seq 300); do
    [ "$(stat -c %y "$work/home/sum.orrery" 2>/dev/null || echo "$written")" != "$written" ] && [ "$(total)" = "$recorded" ] && break
    kill -0 "$viewer" 2>/dev/null || fail 'it ended while it recorded a program once more'
    sleep 0.1
  done
  [ "$(total)" = "$recorded" ] || fail "F5 records $(total) references, and $recorded before"
  sleep 1
  press 28-before-and-now 25-recorded 50000 a
  xdotool mousemove --window "$window" "$away_x" "$away_y"
  press 29-advice 28-before-and-now 20000 q
  press 30-words 29-advice 50000 F1
  xdotool key Escape
  sleep 0.5
  ok 'F5 records it once more, A compares with before, Q says what would help, F1 what the words mean'
  close_window

  # Who set no bookmark finds the place again too.
  begin view "$work/home/sum.orrery"
  xdotool key Right Right Right
  await_tick 3 || fail 'Right does not go on by one'
  close_window
  [ ! -e "$work/home/sum.orrery.notes.toml" ] || fail 'who only looked leaves a file beside the trace'
  begin view "$work/home/sum.orrery"
  sleep 0.5
  shot 26-again
  xdotool key r
  await_tick 3 || fail 'R does not go back to where a window without bookmarks was left'
  ok 'left without a bookmark, R goes back to the place'

  # A file that is dropped on the window.
  scripts/drop-file.py "$window" "$trace" || fail 'the window takes no file that is dropped'
  await_total 8448 || fail 'a file that is dropped is not opened'
  sleep 0.5
  shot 27-dropped
  ok 'a file that is dropped on the window is opened'
  close_window
}

for size in "${sizes[@]}"; do
  case $size in
    *[!0-9x]* | x* | *x | *x*x*) printf 'window-story: %s is no size; expected one such as 1280x720\n' "$size" >&2; exit 1 ;;
  esac
  story "${size%x*}" "${size#*x}"
done
printf 'window-story: all of it holds\n'
