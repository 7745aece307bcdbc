#!/usr/bin/env bash
# From a clean clone to a clip: installs what is missing, builds, prints the numbers of the bundled 16x16 matrix multiply,
# records it to demo.mp4, and opens the window where there is a display.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/setup.sh

orrery=${CARGO_TARGET_DIR:-target}/release/orrery

step 'set up' set_up_drawing
step 'build (release)' cargo build --release --locked --quiet
step 'adapter' need_adapter "$orrery"
step 'numbers' "$orrery" stats traces/matmul16.orrery --cache paper
step 'record demo.mp4' "$orrery" record traces/matmul16.orrery --cache paper -o demo.mp4 -1280x720 -r 30 --seconds 24 --tail 96
report_steps
printf '\ndemo.mp4 is ready: %s bytes\n' "$(stat -c %s demo.mp4)"

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  set_up_window
  printf 'opening the window: Space plays, ? shows the keys, Esc closes\n'
  exec "$orrery" view traces/matmul16.orrery --cache paper --play --speed 40 --tail 96
fi
printf 'no display here, so no window; where there is one:\n  %s view traces/matmul16.orrery\n' "$orrery"
