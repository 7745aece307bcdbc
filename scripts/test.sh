#!/usr/bin/env bash
# Everything that must hold: formatting, lints, all tests with real drawing (an adapter is required, so that no picture
# test is skipped), the bundled traces as recorded, the window under Xvfb.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/setup.sh
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"
export REQUIRE_ADAPTER=1
# Warnings are errors, in dependencies' eyes unchanged (they are capped), so nothing is built twice for it.
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"
# A clean clone is built once: what the compiler would keep for a second build is gigabytes and of no use to it.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"

set_up_tests() {
  set_up_drawing || return 1
  local want=()
  command -v Xvfb >/dev/null 2>&1 || want+=(xvfb)
  command -v openbox >/dev/null 2>&1 || want+=(openbox)
  command -v xclip >/dev/null 2>&1 || want+=(xclip)
  /usr/bin/python3 -c 'import Xlib' 2>/dev/null || want+=(python3-xlib)
  command -v xdotool >/dev/null 2>&1 || want+=(xdotool)
  command -v import >/dev/null 2>&1 && [ "$(convert -version 2>/dev/null | head -c 20)" = 'Version: ImageMagick' ] ||
    want+=(imagemagick)
  command -v ffprobe >/dev/null 2>&1 || want+=(ffmpeg)
  command -v pngcheck >/dev/null 2>&1 || want+=(pngcheck)
  command -v rsvg-convert >/dev/null 2>&1 || want+=(librsvg2-bin)
  command -v pdftoppm >/dev/null 2>&1 || want+=(poppler-utils)
  command -v valgrind >/dev/null 2>&1 || want+=(valgrind)
  command -v gcc >/dev/null 2>&1 || want+=(gcc libc6-dev)
  command -v make >/dev/null 2>&1 || want+=(make)
  command -v gfortran >/dev/null 2>&1 || want+=(gfortran)
  command -v objcopy >/dev/null 2>&1 || want+=(binutils)
  [ "${#want[@]}" = 0 ] || apt_install "${want[@]}" || return 1
  set_up_window || return 1
  set_up_python
}

# A Python with DuckDB, NumPy and Polars, for the tests that others read our files; they fail where these are missing.
set_up_python() {
  local needs='import duckdb, numpy, polars' venv=${CARGO_TARGET_DIR:-target}/python
  case $venv in /*) ;; *) venv=$PWD/$venv ;; esac
  export ORRERY_REQUIRE_PYTHON=1
  if python3 -c "$needs" 2>/dev/null; then
    export ORRERY_PYTHON=python3
    return 0
  fi
  export ORRERY_PYTHON="$venv/bin/python3"
  "$ORRERY_PYTHON" -c "$needs" 2>/dev/null && return 0
  # Debian's Python comes without what makes environments.
  python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3 python3-venv || return 1
  rm -rf "$venv"
  printf 'installing for Python: duckdb numpy polars\n'
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check duckdb numpy polars; }; then
    printf 'DuckDB, NumPy and Polars are not to be had; check the network, or set up a python3 that has them\n' >&2
    return 1
  fi
  "$ORRERY_PYTHON" -c "$needs"
}

run_tests() {
  if command -v cargo-nextest >/dev/null 2>&1; then
    cargo nextest run --locked --no-fail-fast "$@"
  else
    cargo test --locked --no-fail-fast "$@"
  fi
}

# Without graphics only the command differs, which tests/architecture.rs holds: what it does is run. All else is the same lines,
# linted for both and run once, with graphics.
test_without_graphics() {
  # A quick build counts for more than quick code. What computes for long does so with graphics.
  local slim=(--no-default-features --features cli --config 'profile.dev.package.orrery.opt-level=0')
  local long=(--skip random_kernels:: --skip many_items_and_events_share_marks)
  # Built at once, on all processors.
  cargo test --locked --no-run --quiet "${slim[@]}" --test commands --test capture || return 1
  run_tests "${slim[@]}" --test commands -- "${long[@]}" || return 1
  run_tests "${slim[@]}" --test capture run::
}

# What other programs build on: simulator and timeline without a feature. It must stay free of what is heavy.
light_library() {
  # What runs of it is little: a quick build counts for more than quick code.
  local light=(--locked --no-default-features --config 'profile.dev.package.orrery.opt-level=0') heavy
  heavy=$(cargo tree "${light[@]}" --edges normal,build --prefix none |
    grep -E '^(parquet|arrow-|clap|gimli|addr2line|object|iced-x86|indicatif|zstd|liblzma|bzip2|ctrlc|naga |cc |[a-z0-9-]+-sys )')
  if [ -n "$heavy" ]; then
    printf 'without features nothing needs these, and yet they are built:\n%s\n' "$heavy" >&2
    return 1
  fi
  cargo clippy "${light[@]}" --all-targets --quiet -- -D warnings || return 1
  cargo test "${light[@]}" --doc --quiet || return 1
  cargo run "${light[@]}" --quiet --example observer >/dev/null || return 1
  cargo run "${light[@]}" --quiet --example own_format >/dev/null
}

step 'set up' set_up_tests
step 'format' cargo fmt --check
step 'lints' cargo clippy --locked --all-targets --quiet -- -D warnings
step 'lints, without graphics' cargo clippy --locked --no-default-features --features cli --all-targets --quiet -- -D warnings
step 'light library' light_library
# With what tests need: a build without it would make half of the crates once more.
step 'build' cargo build --locked --bins --tests --quiet
step 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --quiet
step 'documentation examples' cargo test --locked --doc --quiet
step 'window' scripts/window-check.sh
step 'window, a sitting' scripts/window-story.sh
step 'kills' env KILLS=16 scripts/kill-writers.sh
step 'kills of films' env KILLS=8 scripts/kill-writers.sh films
step 'tests, without graphics' test_without_graphics
step 'tests' run_tests
report_steps
