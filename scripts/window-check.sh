#!/usr/bin/env bash
# The window, driven as a user would: under Xvfb, with keys and mouse by xdotool, judged by its title (which says where the
# playhead is) and by its pixels. Prints what it checked; fails on the first expectation that does not hold.
#
#   scripts/window-check.sh [FOLDER]     keep the screenshots in FOLDER
#
# Needs xvfb, xdotool and imagemagick. ORRERY names another binary than target/debug/orrery.
set -u
cd "$(dirname "$0")/.." || exit 1
orrery=${ORRERY:-${CARGO_TARGET_DIR:-target}/debug/orrery}
bundled=$PWD/traces/matmul16.orrery
case $orrery in /*) ;; *) orrery=$PWD/$orrery ;; esac
. scripts/window.sh
need_tools Xvfb:xvfb xdotool:xdotool import:imagemagick convert:imagemagick

work=$(mktemp -d)
shots=${1:-$work}
# A copy, since notes are kept beside a trace.
trace=$work/matmul16.orrery
cp "$bundled" "$trace" || exit 1
mkdir -p "$shots"
shots=$(cd "$shots" && pwd)
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$work}"
# Who was here before sees no hints.
mkdir -p "$work/seen/orrery" && chmod 700 "$work/seen" "$work/seen/orrery" && echo '[]' >"$work/seen/orrery/recent.json"
export XDG_CACHE_HOME="$work/seen"
start_server 1600x1000

# The folder it runs in is where F12 saves.
begun=$(date +%s%N)
(cd "$work" && exec "$orrery" view "$trace" --speed 100) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
case $(title) in
  'orrery - 0 of 8,448 - 16×16 matrix multiply') ok "opens in $((($(date +%s%N) - begun) / 1000000)) ms: $(title)" ;;
  *) fail 'the title is not that of the trace at its start' ;;
esac
xdotool windowfocus --sync "$window"
xdotool mousemove --window "$window" 300 560
sleep 1

shot opened
colours=$(convert "$shots/opened.png" -unique-colors -format '%w' info:)
[ "$colours" -gt 200 ] || fail "the picture has $colours colours only"
ok "a picture is drawn ($colours colours)"

xdotool key space
sleep 2
playing=$(tick)
[ "$playing" -gt 20 ] && [ "$playing" -lt 600 ] || fail "after 2 s at 100 references/s the title says $playing"
shot playing
[ "$(differ opened playing)" -gt 20000 ] || fail 'playing changes nothing on screen'
ok "Space plays: reference $playing after about 2 s, $(differ opened playing) bytes of the picture changed"

xdotool key space
sleep 0.5
paused=$(tick)
before=$(busy)
sleep 1
[ "$(tick)" = "$paused" ] || fail "paused at $paused, now at $(tick)"
used=$(($(busy) - before))
[ "$used" -le 10 ] || fail "paused, it used $used hundredths of a processor second in a second"
ok "Space pauses at $paused, and it rests ($used/100 s of processor time in a second)"

# The strip's bars are 26 to 1254 across and around 630 down at 1280x720.
xdotool mousemove --window "$window" 300 631 mousedown 1
sleep 0.2
for x in 400 500 600 640; do
  xdotool mousemove --window "$window" "$x" 631
  sleep 0.15
done
sleep 0.4
shot scrubbing
xdotool mouseup 1 mousemove --window "$window" 300 560
sleep 0.4
half=$(tick)
[ "$half" -ge 4180 ] && [ "$half" -le 4270 ] || fail "dragged to the middle of the strip, it is at $half of 8448"
ok "dragging on the strip to its middle: reference $half of 8448"

# The wheel over the strip: a part of the trace, so that its left end is not the trace's; back, it is.
xdotool mousemove --window "$window" 640 631
rest strip || fail 'paused, the picture does not come to rest'
xdotool click 4 click 4 click 4 click 4 click 4 click 4
await_change wheeled strip 1000 || fail 'the wheel over the strip does nothing'
rest wheeled || fail 'the picture does not come to rest after the wheel over the strip'
xdotool mousemove --window "$window" 28 631
rest part-of-strip || fail 'the picture does not come to rest over the strip'
xdotool click 1
for n in $(seq 100); do
  left=$(tick)
  [ "$left" != "$half" ] && break
  sleep 0.1
done
[ "$left" -ge 1000 ] && [ "$left" -le 4000 ] || fail "after the wheel over the strip its left end is reference $left, not past 1000"
for n in $(seq 12); do xdotool click 5; done
rest whole-strip || fail 'the picture does not come to rest after the wheel over the strip'
xdotool mousemove --window "$window" 640 631 click 1
for n in $(seq 100); do
  half=$(tick)
  [ "$half" != "$left" ] && break
  sleep 0.1
done
[ "$half" -ge 4180 ] && [ "$half" -le 4270 ] || fail "after the wheel back the middle of the strip is $half of 8448"
xdotool mousemove --window "$window" 300 560
ok "the wheel over the strip shows a part of it, from $left on, and all of it again"

xdotool key Right
await_tick $((half + 1)) || fail "Right did not go from $half to $((half + 1))"
xdotool key Left
await_tick "$half" || fail "Left did not go back to $half"
xdotool key shift+Right
await_tick $((half + 10)) || fail "Shift+Right did not go to $((half + 10))"
xdotool key shift+Left
await_tick "$half" || fail "Shift+Left did not go back to $half"
ok 'Right, Left: one reference; with Shift: ten'

xdotool key ctrl+Right
sleep 0.4
first=$(tick)
[ "$first" -gt "$half" ] && [ "$first" -le $((half + 16)) ] || fail "Ctrl+Right went from $half to $first"
xdotool key ctrl+Right
sleep 0.4
second=$(tick)
[ "$second" -gt "$first" ] || fail "a second Ctrl+Right went from $first to $second"
xdotool key ctrl+Left
await_tick "$first" || fail "Ctrl+Left did not go back to the miss at $first"
ok "Ctrl+Right, Ctrl+Left: the misses at $first and $second"

xdotool key End
await_tick 8448 || fail 'End does not go to the end'
xdotool key space
sleep 0.7
[ "$(tick)" -lt 400 ] || fail 'Space at the end does not start over'
xdotool key space key Home
await_tick 0 || fail 'Home does not go to the start'
ok 'End, Space from the start again, Home'

# The number beside the buttons is a field: transport keys are text there.
xdotool mousemove --window "$window" 150 694 click 1
sleep 0.4
xdotool type 2613
sleep 0.3
[ "$(tick)" = 0 ] || fail 'keys typed into the number moved the playhead'
xdotool key Return
await_tick 2613 || fail 'a typed reference number is not gone to'
xdotool mousemove --window "$window" 300 560
sleep 0.4
ok 'a reference number can be typed'

rest before-sheet || fail 'paused, the picture does not come to rest'
xdotool key question
await_change sheet before-sheet 100000 || fail '? shows no sheet'
xdotool key Escape
await_change after-sheet sheet 100000 || fail 'Escape does not close the sheet'
kill -0 "$viewer" 2>/dev/null || fail 'Escape left the program while the sheet was open'
rest after-sheet && [ "$(differ before-sheet after-sheet)" = 0 ] || fail 'closing the sheet does not give the picture back'
ok '? shows the keys, Escape closes them'

xdotool key h
await_change panels-hidden before-sheet 5000 || fail 'H hides nothing'
xdotool key h
await_change panels-back panels-hidden 5000 || fail 'H does not show the panels again'
ok 'H hides the panels'

# Pointer away from dots and tables, where it would explain what it is over.
xdotool mousemove --window "$window" 300 560
rest before-zoom || fail 'paused, the picture does not come to rest'
xdotool click 4 click 4 click 4
await_change zoomed before-zoom 100000 || fail 'the wheel does not go closer'
xdotool mousedown 1 mousemove_relative 120 -40 mouseup 1
await_change panned zoomed 50000 || fail 'dragging does not move the picture'
xdotool mousemove --window "$window" 300 560 key 0
rest whole || fail 'the picture does not come to rest after 0'
[ "$(differ before-zoom whole)" = 0 ] || fail '0 does not give the whole picture back'
xdotool key z
await_change closer whole 100000 || fail 'Z does not go closer'
xdotool key x
sleep 0.3
xdotool key 0
sleep 0.3
ok 'the wheel, Z and X look closer and farther, dragging moves, 0 shows all again'

xdotool key F12
for n in $(seq 50); do
  [ -s "$work/matmul16-2613.png" ] && break
  sleep 0.1
done
size=$(convert "$work/matmul16-2613.png" -format '%wx%h' info: 2>/dev/null)
[ "$size" = 1280x720 ] || fail "F12 saved no picture of 1280x720 (got: ${size:-none})"
sleep 0.3
shot toast
cp "$work/matmul16-2613.png" "$shots/still.png"
ok "F12 saves matmul16-2613.png, $size"

# Panes: S opens one on the right, which shows the numbers. Both halves have a picture, and both move when it plays.
half() { # NAME left|right: that half of a screenshot, above the strip and below the tabs
  local x=0
  [ "$2" = right ] && x=645
  convert "$shots/$1.png" -crop "635x580+$x+28" +repage "rgb:$work/$1-$2.rgb"
}
halves() { half "$1" left; half "$1" right; }
differ_half() { cmp -l "$work/$1-$3.rgb" "$work/$2-$3.rgb" 2>/dev/null | wc -l; }
sleep 3
rest one-pane || fail 'paused, the picture does not come to rest'
xdotool key s
await_change two-panes one-pane 100000 || fail 'S opens no pane'
sleep 3
rest two-panes || fail 'the picture does not come to rest after S'
halves two-panes
for side in left right; do
  colours=$(convert -size 635x580 -depth 8 "rgb:$work/two-panes-$side.rgb" -unique-colors -format '%w' info:)
  [ "$colours" -gt 60 ] || fail "the pane on the $side is empty: $colours colours"
done
xdotool key Right
await_tick 2614 || fail 'with two panes Right does not step'
rest two-stepped || fail 'the picture does not come to rest after a step'
halves two-stepped
for side in left right; do
  [ "$(differ_half two-panes two-stepped $side)" -gt 300 ] || fail "a step changes nothing in the pane on the $side"
done
xdotool key Left
await_tick 2613 || fail 'with two panes Left does not step back'
rest two-back || fail 'the picture does not come to rest after a step back'
[ "$(differ two-panes two-back)" = 0 ] || fail 'a step and back is another picture'
xdotool key space
sleep 1
xdotool key space
await_change two-played two-back 20000 || fail 'two panes do not play'
rest two-played || fail 'the picture does not come to rest after playing'
played=$(tick)
[ "$played" -gt 2630 ] || fail "two panes played to $played only"
# Going there directly gives the same pictures: what was played is what is at that reference.
xdotool key Right
await_tick $((played + 1)) || fail 'a step after playing'
xdotool key Left
await_tick "$played" || fail 'a step back after playing'
rest two-there || fail 'the picture does not come to rest'
xdotool key Home
await_tick 0 || fail 'Home with two panes'
xdotool mousemove --window "$window" 150 694 click 1
sleep 0.4
xdotool type "$played"
xdotool key Return
await_tick "$played" || fail 'a typed reference number with two panes'
xdotool mousemove --window "$window" 300 560
rest two-typed || fail 'the picture does not come to rest'
halves two-there
halves two-typed
for side in left right; do
  [ "$(differ_half two-there two-typed $side)" = 0 ] || fail "the pane on the $side at reference $played depends on the way there"
done
ok "S opens a pane beside the first; both step, play and seek together (reference $played)"

# Keys are for the pane under the pointer: closer in the left one changes nothing in the right one.
xdotool key z
await_change two-closer two-typed 20000 || fail 'Z does not go closer in a pane'
rest two-closer || fail 'the picture does not come to rest after Z'
halves two-closer
[ "$(differ_half two-typed two-closer left)" -gt 20000 ] || fail 'Z changes nothing in the pane under the pointer'
[ "$(differ_half two-typed two-closer right)" = 0 ] || fail 'Z in one pane changes the other'
xdotool key 0
# The border between them, 300 points to the right.
xdotool mousemove --window "$window" 641 300 mousedown 1
for x in 700 800 900 940; do
  xdotool mousemove --window "$window" "$x" 300
  sleep 0.15
done
xdotool mouseup 1 mousemove --window "$window" 300 560
await_change two-wider two-closer 50000 || fail 'dragging the border between panes does nothing'
rest two-wider || fail 'the picture does not come to rest after the border was dragged'
xdotool mousemove --window "$window" 1100 400
sleep 0.4
xdotool key b
sleep 3
rest three-panes || fail 'the picture does not come to rest after B'
[ "$(differ two-wider three-panes)" -gt 50000 ] || fail 'B opens no pane'
xdotool key w
sleep 0.5
xdotool mousemove --window "$window" 1100 300
sleep 0.4
xdotool key w
sleep 0.4
xdotool mousemove --window "$window" 150 694 click 1
sleep 0.4
xdotool type 2613
xdotool key Return
await_tick 2613 || fail 'a typed reference number after panes were closed'
xdotool mousemove --window "$window" 300 560
sleep 3
rest one-again || fail 'the picture does not come to rest after W'
[ "$(differ one-pane one-again)" = 0 ] || fail 'closing the other panes does not give the first picture back'
ok 'Z is for one pane, the border is dragged, B opens a third, W closes them: the first picture is back'

# Other caches: the card, half of the ways of L1, a size that cannot be, and all of it taken back.
xdotool key e
await_change caches-card one-again 20000 || fail 'E opens no card of the caches'
rest caches-card || fail 'the picture does not come to rest under the card'
xdotool mousemove --window "$window" 805 121 click 1
await_change caches-ways caches-card 50000 || fail 'half of the ways is the same picture'
xdotool mousemove --window "$window" 648 121 click 1
sleep 0.4
xdotool key ctrl+a
xdotool type 1000
xdotool key Return
rest caches-wrong || fail 'the picture does not come to rest after a size that cannot be'
[ "$(tick)" = 2613 ] || fail "the reference changes with the caches: $(tick)"
xdotool mousemove --window "$window" 300 560
sleep 0.4
xdotool key ctrl+z
await_change caches-undone caches-wrong 50000 || fail 'Ctrl + Z takes nothing back'
xdotool key Escape
# "A compares with the caches before" stays for some seconds.
await_same caches-closed one-again || fail "the caches taken back are another picture: $(differ one-again caches-closed) bytes"
ok 'E opens the caches: half of the ways, a size that is refused, Ctrl + Z and Escape: the first picture is back'

# A dot is pinned by a click: its next and previous reference, its details, and let go. Line B[15][12] is touched at 2605 and 2638.
xdotool mousemove --window "$window" 700 330 click 1
await_change pinned caches-closed 2000 || fail 'a click on a dot pins nothing'
xdotool mousemove --window "$window" 300 560
sleep 0.7
xdotool key k
await_tick 2638 || fail 'K does not go to the next reference of what is pinned'
xdotool key j
await_tick 2605 || fail 'J does not go to the previous reference of what is pinned'
shot pinned
xdotool key d
await_change inspector pinned 200000 || fail 'D opens no inspector'
rest inspector || fail 'the picture does not come to rest beside the inspector'
# A row of the list: whatever it is, the playhead goes there.
xdotool mousemove --window "$window" 800 552 click 1
sleep 0.7
[ "$(tick)" != 2605 ] || fail 'a click on an event goes nowhere'
ok "a click pins a dot, K and J go to its references, D lists its events, a click goes to $(tick)"

# Two machines: L1 with half of its ways is compared with what it was, and shown beside it.
xdotool key w
xdotool mousemove --window "$window" 300 560
xdotool key e
sleep 0.7
xdotool mousemove --window "$window" 805 121 click 1
sleep 1.5
xdotool key e
xdotool mousemove --window "$window" 300 560
sleep 0.7
shot two-machines
xdotool key a
await_change compared two-machines 200000 || fail 'A opens no comparison'
rest compared || fail 'the picture does not come to rest beside the comparison'
xdotool mousemove --window "$window" 300 300
sleep 0.4
xdotool key u
await_change machine-a compared 20000 || fail 'U shows the same machine'
xdotool key u
sleep 0.7
xdotool mousemove --window "$window" 900 300
sleep 0.4
xdotool key w
xdotool mousemove --window "$window" 300 560
sleep 0.4
xdotool key ctrl+z
xdotool key Escape
sleep 0.4
xdotool mousemove --window "$window" 150 694 click 1
sleep 0.4
xdotool type 2613
xdotool key Return
await_tick 2613 || fail 'a typed reference number after the comparison'
xdotool mousemove --window "$window" 300 560
await_same unpinned one-again || fail "Escape, W and Ctrl + Z do not give the first picture back: $(differ one-again unpinned) bytes"
ok 'A compares the caches with those before, U shows these in a pane, all of it taken back is the first picture'

# A bookmark: M asks for a name, keys are text there, and the file beside the trace has it.
xdotool key m
sleep 0.7
xdotool type 'the first row'
xdotool key Return
for n in $(seq 50); do
  grep -q 'name = "the first row"' "$trace.notes.toml" 2>/dev/null && break
  sleep 0.1
done
grep -q 'name = "the first row"' "$trace.notes.toml" && grep -q 'at = "2613"' "$trace.notes.toml" ||
  fail 'M and a name make no bookmark in the file beside the trace'
[ "$(tick)" = 2613 ] || fail 'keys typed into the name moved the playhead'
xdotool key Home
await_tick 0 || fail 'Home after a bookmark'
xdotool key n
await_tick 2613 || fail 'N does not go to the bookmark'
shot bookmark
ok "M and a name set a bookmark, $(basename "$trace.notes.toml") has it, N goes there"

# The finder: a command by its words, a bookmark by its name, a reference by its number; Escape closes it and no more.
found() { # WORDS: types them into the finder and takes the first row
  xdotool key ctrl+p
  sleep 0.7
  xdotool type "$1"
  sleep 0.5
  shot finder
  xdotool key Return
}
found 'start trace'
await_tick 0 || fail 'the finder does not do a command that is typed'
found 'first row'
await_tick 2613 || fail 'the finder does not go to a bookmark'
found 'B[15][12]'
await_change found-element bookmark 2000 || fail 'the finder pins no element'
xdotool key k
await_tick 3067 || fail 'K after an element was found'
xdotool key Escape
found '1,000'
await_tick 1000 || fail 'the finder does not go to a reference'
found 'first row'
await_tick 2613 || fail 'the finder does not go to a bookmark once more'
xdotool key ctrl+k
sleep 0.7
xdotool key Escape
sleep 0.7
kill -0 "$viewer" 2>/dev/null || fail 'Escape in the finder leaves'
ok 'Ctrl + P finds a command, a bookmark and a reference by typing, Escape closes it'

for size in '800 600' '320 240' '3 2' '1500 300' '360 800' '1280 720'; do
  # shellcheck disable=SC2086
  xdotool windowsize "$window" $size
  sleep 0.5
  kill -0 "$viewer" 2>/dev/null || fail "it ended at size $size"
  [ "$size" = '3 2' ] || shot "size-${size/ /x}"
done
xdotool mousemove --window "$window" 300 560
xdotool windowunmap "$window"
sleep 0.4
xdotool windowmap "$window"
sleep 0.6
xdotool windowfocus --sync "$window"
xdotool key Right
await_tick 2614 || fail 'after resizing and hiding it does not answer'
ok 'lives on at 800x600, 320x240, 3x2, 1500x300, 360x800; hidden and shown again'

xdotool key Escape
sleep 0.3
kill -0 "$viewer" 2>/dev/null || fail 'one Escape leaves'
xdotool key Escape
await_end
[ "$code" = 0 ] || fail "it left with exit code $code"
[ ! -s "$work/stderr" ] || fail 'it wrote to standard error'
ok 'a second Escape leaves with exit code 0; nothing on standard error'
grep -q '^left = .*orrery view .* --tick 2614' "$trace.notes.toml" || fail 'how the window was left is not kept'
ok 'how it was left is kept beside the trace'

# A trace that comes slowly: 65,536 references are a chunk, so that 100,000 show as one of them until the end is reached.
lines() { awk -v from="$1" -v to="$2" 'BEGIN { for (n = from; n < to; n++) printf " L %x,8\n", 1048576 + 8 * (n % 5000) }'; }
mkfifo "$work/slow"
(lines 0 100000; while [ ! -e "$work/go" ]; do sleep 0.1; done; lines 100000 200000) >"$work/slow" &
(cd "$work" && exec "$orrery" view - --play --speed 1000 <"$work/slow") 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 65536 || fail 'what came of a slow trace is not shown'
first=$(tick)
sleep 1
[ "$(tick)" -gt "$first" ] || fail 'what came of a slow trace does not play'
xdotool windowfocus --sync "$window"
xdotool key End
await_tick 65536 || fail 'End does not go to the newest reference'
shot growing
touch "$work/go"
await_total 200000 || fail 'the rest of a slow trace is not shown'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] && [ ! -s "$work/stderr" ] || fail "after a slow trace: exit code $code"
ok 'a trace that comes slowly is shown, played and gone through while it comes'

# A trace that is written anew while it is shown: in place, as nothing that is a trace, and by a new file of its name.
lines 0 3000 >"$work/anew.log"
(cd "$work" && exec "$orrery" view anew.log) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 3000 || fail 'the trace that will be written anew is not shown'
lines 0 4000 >"$work/anew.log"
await_total 4000 || fail 'a trace that was written anew is not read anew'
printf 'this is no trace\n' >"$work/anew.log"
xdotool windowfocus --sync "$window"
xdotool key End
await_tick 4000 || fail 'a trace that was written over cannot be played any more'
sleep 2.5
kill -0 "$viewer" 2>/dev/null || fail 'it ended when its trace was written over'
[ "$(total)" = 4000 ] || fail 'what was read of a trace that was written over is gone'
lines 0 5000 >"$work/new.log" && mv "$work/new.log" "$work/anew.log"
await_total 5000 || fail 'a trace that was replaced is not read anew'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after a trace was written anew: exit code $code"
grep -q 'cannot be read; this is what was read before' "$work/stderr" || fail 'a trace that cannot be read any more is not told'
ok 'a trace that is written anew is shown anew, and one that is broken ends nothing'

# A kernel: what the pointer rests on is lit while it is there. Edited while it is shown: a barrier more is a row more. One that no longer
# parses ends nothing.
sed 's/^    if tid == 0u/    workgroupBarrier();\n    if tid == 0u/' kernels/reduce-strided.wgsl >"$work/longer.wgsl"
sed 's/^    if tid == 0u/    if tid = 0u/' kernels/reduce-strided.wgsl >"$work/wrong.wgsl"
cp kernels/reduce-strided.wgsl "$work/edited.wgsl"
cp kernels/reduce-strided.toml "$work/edited.toml"
(cd "$work" && exec "$orrery" edited.wgsl --tick 7) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 30 || fail 'the kernel that will be edited is not shown'
xdotool windowfocus --sync "$window"
# Keys are for the pane that the pointer was over last.
xdotool mousemove --window "$window" 600 400
sleep 0.7
xdotool mousemove --window "$window" 640 700
rest kernel-opened || fail 'the panes of a kernel do not come to rest'
[ "$(tick)" = 7 ] || fail "a kernel opens at row $(tick), not at the one that was asked for"
# An event of item 8, and the bar below the panes, where nothing of a kernel is.
xdotool mousemove --window "$window" 100 205
await_change kernel-lit kernel-opened 2000 || fail 'what the pointer rests on lights nothing'
xdotool mousemove --window "$window" 640 700
rest kernel-unlit && [ "$(differ kernel-opened kernel-unlit)" = 0 ] || fail 'what the pointer has left is lit still'
xdotool key Right
await_tick 8 || fail "Right goes to row $(tick), not to the next one"
xdotool mousemove --window "$window" 150 694 click 1
sleep 0.4
xdotool type 7
xdotool key Return
await_tick 7 || fail 'a row that is typed is not gone to'
xdotool mousemove --window "$window" 640 700
rest kernel-opened || fail 'the panes of a kernel do not come to rest'
cp "$work/longer.wgsl" "$work/edited.wgsl"
await_total 31 || fail 'a kernel that was edited is not run anew'
[ "$(tick)" = 7 ] || fail "after an edit the playhead is at row $(tick)"
# What is said of it goes.
sleep 4
rest kernel-longer || fail 'the panes of a kernel that was edited do not come to rest'
[ "$(differ kernel-opened kernel-longer)" -gt 20000 ] || fail 'an edit changes no picture'
cp "$work/wrong.wgsl" "$work/edited.wgsl"
await_change kernel-wrong kernel-longer 10000 || fail 'the window does not say what is wrong with a kernel'
grep -q '┌─ edited.wgsl:25:12' "$work/stderr" || fail 'where a kernel does not parse is not told'
rest kernel-wrong || fail 'the window does not rest beside what is wrong with a kernel'
[ "$(total)" = 31 ] || fail 'what a kernel did before it was broken is gone'
xdotool key Home
await_tick 0 || fail 'what a kernel did before it was broken cannot be gone through'
xdotool key Right
sed -i 's/1024/512/' "$work/edited.toml"
cp kernels/reduce-strided.wgsl "$work/new.wgsl" && mv "$work/new.wgsl" "$work/edited.wgsl"
await_total 30 || fail 'a kernel that was mended is not run anew'
sleep 4
rest kernel-mended || fail 'the panes of a kernel that was mended do not come to rest'
sed -i 's/512/1024/' "$work/edited.toml"
await_change kernel-launched kernel-mended 2000 || fail 'a launch that was edited changes nothing'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after a kernel was edited: exit code $code"
ok 'of a kernel what the pointer rests on is lit; one that is edited is run anew, its launch too; one that does not parse says where, and what it did before stays until it is mended'

# Values, and the map of the launch: an item of the values is lit; a click on a group has the other panes show it.
(cd "$work" && exec "$orrery" kernel:scan --launch 0 --panes kernel-memory,kernel-values,kernel-groups --tick 20) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 36 || fail 'the first launch of a kernel is not shown'
xdotool windowfocus --sync "$window"
xdotool mousemove --window "$window" 640 700
rest groups-opened || fail 'values and groups do not come to rest'
# The last value of the last item.
xdotool mousemove --window "$window" 833 71
await_change groups-lit groups-opened 300 || fail 'an item of the values is not lit'
choose_group() { # X Y NAME
  xdotool mousemove --window "$window" "$1" "$2" click 1
  xdotool mousemove --window "$window" 640 700
  sleep 0.3
  rest "$3" || fail 'a group that was chosen does not come to rest'
}
choose_group 900 110 groups-first
# Another name above the memory, another cell framed, other values.
choose_group 900 170 groups-other
[ "$(differ groups-first groups-other)" -gt 3000 ] || fail 'a click on a group chooses nothing'
choose_group 900 110 groups-again
[ "$(differ groups-first groups-again)" = 0 ] || fail 'the first group is not as it was'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after groups were chosen: exit code $code"

# Arrays as solids: a drag turns them, the wheel goes closer, a double click shows all again; what is clicked in one pane is looked at in both.
(cd "$work" && exec "$orrery" view loops:gauss --panes 60:plane,40:tube --tick 688) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 688 || fail 'an array as solids is not shown'
xdotool windowfocus --sync "$window"
away() { # NAME: the pointer away, and what is then at rest
  xdotool mousemove --window "$window" 640 715
  sleep 0.6
  rest "$1" || fail "solids do not come to rest: $1"
}
away solids-first
# Keys are for the pane that the pointer was in.
xdotool mousemove --window "$window" 30 560
sleep 0.3
away solids-opened
xdotool mousemove --window "$window" 300 300 mousedown 1
for step in 1 2 3 4; do
  xdotool mousemove --window "$window" $((300 + 20 * step)) $((300 + 5 * step))
  sleep 0.1
done
xdotool mouseup 1
away solids-turned
[ "$(differ solids-opened solids-turned)" -gt 20000 ] || fail 'a drag does not turn solids'
xdotool mousemove --window "$window" 380 320 click 4 click 4
away solids-closer
[ "$(differ solids-turned solids-closer)" -gt 20000 ] || fail 'the wheel does not go closer to solids'
xdotool mousemove --window "$window" 30 560 click --repeat 2 --delay 60 1
away solids-whole
[ "$(differ solids-opened solids-whole)" = 0 ] || fail 'after a double click solids are not seen as at first'
# The place of the camera, five of them round and round.
xdotool mousemove --window "$window" 800 560
sleep 0.3
away solids-tube
for place in 1 2 3 4 5; do
  xdotool mousemove --window "$window" 938 64 click 1
  away "solids-place-$place"
done
[ "$(differ solids-tube solids-place-1)" -gt 5000 ] || fail 'a click does not look from elsewhere'
[ "$(differ solids-tube solids-place-5)" = 0 ] || fail 'after five places the first one is not as it was'
# Another measure, in both panes.
xdotool mousemove --window "$window" 100 70 click 1
away solids-measure
[ "$(differ solids-opened solids-measure)" -gt 20000 ] || fail 'a click on the measure changes nothing'
xdotool mousemove --window "$window" 825 64 click 1
away solids-reads
xdotool key ctrl+c
await_change solids-copied solids-reads 300 || fail 'the command is not copied'
# What is under the pointer is told, and a click pins it in both panes.
xdotool mousemove --window "$window" 1010 300
await_change solids-told solids-reads 300 || fail 'an element of the tube is not told'
xdotool click 1
away solids-pinned
[ "$(differ solids-reads solids-pinned)" -gt 300 ] || fail 'a click pins no element'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after solids were turned: exit code $code"
ok 'solids are turned, gone closer to and seen from places with a name; a measure is chosen in all panes; an element is told and pinned'

# A lesson: scenes follow each other, a question waits for Space, keys turn scenes, and who looks around comes back to it.
(cd "$work" && exec "$orrery" story:why-columns-miss) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
lesson='Why the standard multiply is slow'
await_title "orrery - scene 1 of 8 - $lesson" || fail 'the title does not tell the scene of a lesson'
xdotool windowfocus --sync "$window"
xdotool mousemove --window "$window" 640 300
await_title "orrery - scene 2 of 8 - $lesson" || fail 'a lesson does not go on to its second scene by itself'
xdotool key Right Right Right
await_title "orrery - scene 5 of 8 - $lesson" || fail 'Right does not turn to the next scene of a lesson'
for n in $(seq 60); do
  rest lesson-asks && break
  [ "$n" = 60 ] && fail 'a question does not wait'
done
sleep 2
shot lesson-still-asks
[ "$(differ lesson-asks lesson-still-asks)" = 0 ] || fail 'a question goes on by itself'
xdotool key space
await_change lesson-answers lesson-asks 3000 || fail 'Space does not answer a question'
# First to the start of the scene, then to the one before.
xdotool key Left Left
await_title "orrery - scene 4 of 8 - $lesson" || fail 'Left does not turn back'
xdotool key Return
await_total 8448 || fail 'Enter does not open the trace of a lesson'
looked=$(tick)
xdotool mousemove --window "$window" 640 300
xdotool key Right
await_tick $((looked + 1)) || fail 'what was left to look around does not go a reference on'
xdotool mousemove --window "$window" 640 22 click 1
await_title "orrery - scene 4 of 8 - $lesson" || fail 'nothing leads back to the lesson'
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after a lesson: exit code $code"
ok 'a lesson goes from scene to scene, waits at its question, answers, is turned back, left to look around and come back to'

# Images: a pixel lights who was last at it, and a click goes there.
(cd "$work" && exec "$orrery" kernel:transpose-naive --panes kernel-memory,kernel-image --tick 0) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_total 2 || fail 'the images of a kernel are not shown'
xdotool windowfocus --sync "$window"
xdotool mousemove --window "$window" 640 700
rest image-opened || fail 'images do not come to rest'
xdotool mousemove --window "$window" 670 120
await_change image-lit image-opened 300 || fail 'a pixel lights nothing'
xdotool click 1
await_tick 1 || fail "a click on a pixel goes to row $(tick), not to what wrote it"
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after images: exit code $code"
ok 'an item of the values is lit; a click on the map of a launch chooses a group; a pixel is lit and leads to what wrote it'

if command -v valgrind >/dev/null 2>&1 && command -v gcc >/dev/null 2>&1; then
  cat >"$work/forever.c" <<'END'
static volatile int cells[64];
int main(void) {
    for (;;) for (int i = 0; i < 64; i++) cells[i]++;
}
END
  gcc -g -O1 "$work/forever.c" -o "$work/forever" || fail 'gcc does not compile the program to follow'
  (cd "$work" && exec "$orrery" capture --follow --data-only -- ./forever) 2>"$work/stderr" >"$work/stdout" &
  viewer=$!
  await_window
  sleep 2
  first=$(total)
  sleep 2
  [ "$(total)" -gt "$first" ] || fail 'the trace of a running program does not grow'
  [ "$(tick)" -gt "$first" ] || fail 'the newest reference is not followed'
  shot following
  xdotool windowfocus --sync "$window"
  xdotool key ctrl+q
  await_end
  [ "$code" = 0 ] || fail "closing the window of a program that is followed: exit code $code"
  pgrep -f "^[^ ]*valgrind.*forever" >/dev/null && fail 'the program goes on without its window'
  kept=$("$orrery" stats "$work/forever.orrery" --json 2>/dev/null | sed -n 's/.*"references": *\([0-9]*\).*/\1/p' | head -n 1)
  [ "${kept:-0}" -gt "$first" ] || fail "the trace that was followed is not kept (${kept:-none})"
  ok "a running program is followed: $first references, then more; closing ends it and keeps $kept"

  cat >"$work/brief.c" <<'END'
static volatile int cells[64];
int main(void) {
    for (int n = 0; n < 3000; n++) for (int i = 0; i < 64; i++) cells[i]++;
    return 0;
}
END
  gcc -g -O1 "$work/brief.c" -o "$work/brief" || fail 'gcc does not compile the program to follow to its end'
  (cd "$work" && exec "$orrery" capture --follow --data-only -- ./brief) 2>"$work/stderr" >"$work/stdout" &
  viewer=$!
  await_window
  # What it says at its end: `brief.orrery: 384,001 of ...`.
  for n in $(seq 300); do
    last=$(sed -n 's/.*brief\.orrery: \([0-9,]*\) of .*/\1/p' "$work/stderr" | tr -d ,)
    [ -n "$last" ] && [ "$(total)" = "$last" ] && [ "$(tick)" = "$last" ] && break
    kill -0 "$viewer" 2>/dev/null || fail 'it ended while it followed a program'
    sleep 0.2
  done
  sleep 1
  [ "${last:-0}" -gt 190000 ] && [ "$(tick)" = "$last" ] && [ "$(total)" = "$last" ] ||
    fail "a program of $last references that ended is followed to $(tick) of $(total)"
  # The program is over: a stop is the window's.
  kill -TERM "$viewer"
  for n in $(seq 50); do kill -0 "$viewer" 2>/dev/null || break; sleep 0.2; done
  kill -0 "$viewer" 2>/dev/null && fail 'SIGTERM does not end the window of a program that has ended'
  wait "$viewer"
  code=$?
  viewer=''
  [ "$code" = 130 ] && [ -s "$work/brief.orrery" ] || fail "SIGTERM at the window of a program that has ended: exit code $code"
  ok "a program that ends is followed to its end, $last, and the playhead rests there until a stop"
else
  printf '  skipped: no valgrind or gcc here, so no program is followed\n'
fi

# The start page: `orrery` alone. A bundled trace by keyboard, to the page and back, a path that is typed, and a file that is no trace.
printf 'this is no trace\n' >"$work/notes.txt"
mkdir -p "$work/cache/orrery" && chmod 700 "$work/cache" "$work/cache/orrery" && echo '[]' >"$work/cache/orrery/recent.json"
(cd "$work" && XDG_CACHE_HOME="$work/cache" exec "$orrery") 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
await_title 'orrery - start' || fail '`orrery` alone opens no start page'
xdotool windowfocus --sync "$window"
rest start-page || fail 'the start page does not come to rest'
colours=$(convert "$shots/start-page.png" -unique-colors -format '%w' info:)
[ "$colours" -gt 60 ] || fail "the start page is empty: $colours colours"
xdotool key Down key Return
await_total 8448 || fail 'Down and Enter do not open the second bundled trace'
xdotool key space
sleep 0.5
there=$(tick)
xdotool key ctrl+o
await_title 'orrery - start' || fail 'Ctrl + O does not open the start page'
xdotool key Escape
await_tick "$there" || fail "Escape does not go back from the start page to the trace at $there"
xdotool key ctrl+o
await_title 'orrery - start' || fail 'Ctrl + O does not open the start page again'
xdotool type "$work/notes.txt"
rest start-typed || fail 'the start page does not come to rest'
xdotool key Return
await_change start-refused start-typed 2000 || fail 'a file that is no trace is not told of'
[ "$(title)" = 'orrery - start' ] || fail 'a file that is no trace leaves the start page'
# Told, and not still being opened: Escape would end that and leave what was typed.
rest start-told || fail 'the start page does not come to rest'
xdotool key Escape
xdotool type "$work/anew.log"
xdotool key Return
await_total 5000 || fail 'a path that is typed is not opened'
grep -q 'anew.log' "$work/cache/orrery/recent.json" || fail 'a trace that was opened is not kept among the recent ones'
if command -v gcc >/dev/null 2>&1 && [ -e "$work/brief.c" ]; then
  rm -f "$work/brief.orrery"
  xdotool key ctrl+o
  await_title 'orrery - start' || fail 'Ctrl + O does not open the start page'
  # The field has the keys once it was drawn.
  rest start-program || fail 'the start page does not come to rest'
  xdotool key Tab
  xdotool type 'brief.c'
  xdotool key Return
  # The file has its name once it is whole; the window may show a part of it until then, with the playhead at the end of that.
  last=''
  for n in $(seq 300); do
    [ -z "$last" ] && [ -s "$work/brief.orrery" ] &&
      last=$("$orrery" stats "$work/brief.orrery" --json 2>/dev/null | sed -n 's/.*"references": *\([0-9]*\).*/\1/p' | head -n 1)
    [ -n "$last" ] && [ "$(total)" = "$last" ] && [ "$(tick)" = "$last" ] && break
    kill -0 "$viewer" 2>/dev/null || fail 'it ended while it recorded a program'
    sleep 0.2
  done
  [ "${last:-0}" -gt 190000 ] && [ "$(total)" = "$last" ] && [ "$(tick)" = "$last" ] ||
    fail "a program of $last references is recorded to $(tick) of $(total)"
  shot start-recorded
  ok "the start page records a program, and the window follows it to its end at $(tick)"
fi
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after the start page: exit code $code"
ok '`orrery` alone opens the start page: by keyboard to a bundled trace, back, and to a path that is typed'

# Loops as a graph and as tiles: boxes are where they are in a window of 1280x720.
(cd "$work" && exec "$orrery" view loops:jacobi --panes graph,tiles) 2>"$work/stderr" >"$work/stdout" &
viewer=$!
await_window
xdotool windowfocus --sync "$window"
xdotool mousemove --window "$window" 480 570
rest loops-opened || fail 'the graph of loops does not come to rest'
# The statement of the second sweep.
xdotool mousemove --window "$window" 318 466 click 1
await_tick 1176 || fail "a click on the second sweep goes to $(tick), not to its first access"
xdotool mousemove --window "$window" 480 570
rest loops-second || fail 'the graph does not come to rest after a click'
[ "$(differ loops-opened loops-second)" -gt 5000 ] || fail 'what is done is not framed'
xdotool mousemove --window "$window" 186 72 click 1
# All boxes do as many operations a byte: only words change.
await_change loops-intensity loops-second 3000 || fail 'a click on `intensity` changes nothing'
xdotool mousemove --window "$window" 457 72 click 1
await_change loops-linear loops-intensity 20000 || fail 'a click on `linear` does not colour anew'
xdotool mousemove --window "$window" 318 332
rest loops-chosen || fail 'the graph does not come to rest after its colours were chosen'
for n in 1 2 3 4; do xdotool keydown ctrl click 4 keyup ctrl; done
await_change loops-closer loops-chosen 20000 || fail 'the wheel with Ctrl does not look closer'
# The slider of the loop over time.
xdotool mousemove --window "$window" 680 131 mousedown 1
for x in 700 720 740 760 770; do xdotool mousemove --window "$window" "$x" 133; done
await_tick 4704 || fail "a drag along the loop over time goes to $(tick), not to the start of its third step"
xdotool mouseup 1
xdotool key ctrl+q
await_end
[ "$code" = 0 ] || fail "after the graph of loops: exit code $code"
ok 'loops as a graph: a click goes to the first access of a statement, measures are chosen, the wheel looks closer, sliders are dragged'

(cd "$work" && env -u DISPLAY "$orrery" view "$trace") >/dev/null 2>"$work/stderr"
code=$?
[ "$code" = 1 ] || fail "without a display the exit code is $code"
for part in 'DISPLAY is not set' 'WAYLAND_DISPLAY is not set' 'orrery record' 'orrery snapshot'; do
  grep -q -- "$part" "$work/stderr" || fail "without a display the message lacks: $part"
done
[ "$(wc -l <"$work/stderr")" = 1 ] || fail 'without a display it says more than one line'
ok 'without a display: exit code 1, and what to do instead'

(cd "$work" && env -u DISPLAY "$orrery") >/dev/null 2>"$work/stderr"
code=$?
[ "$code" = 2 ] && grep -q 'Usage: orrery' "$work/stderr" || fail "without a display \`orrery\` alone: exit code $code"
ok 'without a display `orrery` alone prints its help, exit code 2'

"$orrery" view "$work/gone.orrery" >/dev/null 2>"$work/stderr"
code=$?
[ "$code" = 1 ] && grep -q 'gone.orrery' "$work/stderr" || fail "a missing trace: exit code $code"
ok 'a missing trace is named, exit code 1'
printf 'window-check: all of it holds\n'
