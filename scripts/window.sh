# Sourced by window-check.sh and window-story.sh: a display without a screen, and what one sees and does there.
# shellcheck shell=bash
#
# Who sources this sets: work (a folder), shots (a folder for pictures), orrery (the binary).

# need_tools TOOL:PACKAGE...
need_tools() {
  local tool
  for tool in "$@"; do
    command -v "${tool%%:*}" >/dev/null 2>&1 && continue
    printf '%s: %s is missing; install it: apt-get install %s\n' "$(basename "$0" .sh)" "${tool%%:*}" "${tool##*:}" >&2
    exit 1
  done
  [ -x "$orrery" ] && return 0
  printf '%s: no binary at %s; run cargo build first\n' "$(basename "$0" .sh)" "$orrery" >&2
  exit 1
}

server='' viewer=''
clean_up() {
  [ -n "$viewer" ] && kill "$viewer" 2>/dev/null
  [ -n "$server" ] && kill "$server" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

ok() { printf '  ok: %s\n' "$*"; }
fail() {
  printf '%s: FAILED: %s\n' "$(basename "$0" .sh)" "$*" >&2
  printf '  title now: %s\n' "$(title)" >&2
  [ -s "$work/stderr" ] && sed 's/^/  stderr: /' "$work/stderr" >&2
  exit 1
}

# start_server WIDTHxHEIGHT: on a display number of its own choosing, without a window manager.
start_server() {
  local number
  mkfifo "$work/display"
  Xvfb -displayfd 3 -screen 0 "$1x24" -nolisten tcp -noreset 3>"$work/display" >/dev/null 2>&1 &
  server=$!
  read -r -t 20 number <"$work/display" || { printf '%s: Xvfb does not start\n' "$(basename "$0" .sh)" >&2; exit 1; }
  export DISPLAY=":$number"
  unset WAYLAND_DISPLAY WAYLAND_SOCKET
}

window=''
title() { [ -n "$window" ] && xdotool getwindowname "$window" 2>/dev/null; }
# The reference number of the title, without commas.
tick() { title | sed -n 's/^orrery - \([0-9,]*\) of .*/\1/p' | tr -d ,; }
shot() { import -window "$window" "rgb:$work/$1.rgb" && import -window "$window" "$shots/$1.png"; }
# Bytes in which two screenshots differ.
differ() { cmp -l "$work/$1.rgb" "$work/$2.rgb" 2>/dev/null | wc -l; }
# A screenshot once the picture has come to rest: two in a row are the same.
rest() {
  local n
  shot "$1"
  for n in $(seq 20); do
    cp "$work/$1.rgb" "$work/last.rgb"
    sleep 0.25
    shot "$1"
    [ "$(differ "$1" last)" = 0 ] && return 0
  done
  return 1
}
# A screenshot NAME that differs from OTHER in at least BYTES, within five seconds.
await_change() {
  local n
  for n in $(seq 20); do
    shot "$1"
    [ "$(differ "$1" "$2")" -ge "$3" ] && return 0
    sleep 0.25
  done
  return 1
}
# A screenshot NAME that is the same as OTHER, within ten seconds: what the window says in passing is gone by then.
await_same() {
  local n
  for n in $(seq 40); do
    shot "$1"
    [ "$(differ "$1" "$2")" = 0 ] && return 0
    sleep 0.25
  done
  return 1
}
await_tick() { # NUMBER: for five seconds
  local n
  for n in $(seq 50); do
    [ "$(tick)" = "$1" ] && return 0
    sleep 0.1
  done
  return 1
}
# Processor time used so far, in hundredths of a second.
busy() { awk '{print $14 + $15}' "/proc/$viewer/stat"; }

# Waits for the window of $viewer.
await_window() {
  local n
  window=''
  for n in $(seq 200); do
    window=$(xdotool search --onlyvisible --name '^orrery - ' 2>/dev/null | head -n 1)
    [ -n "$window" ] && return 0
    kill -0 "$viewer" 2>/dev/null || fail 'it ended before it opened a window'
    sleep 0.05
  done
  fail 'no window within ten seconds'
}
# References that the title knows of, without commas.
total() { title | sed -n 's/^orrery - [0-9,]* of \([0-9,]*\) .*/\1/p' | tr -d ,; }
await_total() { # NUMBER: for ten seconds
  local n
  for n in $(seq 100); do
    [ "$(total)" = "$1" ] && return 0
    sleep 0.1
  done
  return 1
}
await_title() { # WORDS: for ten seconds
  local n
  for n in $(seq 100); do
    [ "$(title)" = "$1" ] && return 0
    sleep 0.1
  done
  return 1
}
await_end() { # for five seconds; the exit code is in $code
  local n
  for n in $(seq 50); do
    kill -0 "$viewer" 2>/dev/null || break
    sleep 0.1
  done
  kill -0 "$viewer" 2>/dev/null && fail 'it does not leave'
  wait "$viewer"
  code=$?
  viewer=''
}
