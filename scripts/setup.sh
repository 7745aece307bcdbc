# Sourced by demo.sh and test.sh: finds out what the machine lacks and installs it with apt, as root or through sudo.
# shellcheck shell=bash

# The stopwatch: `step NAME COMMAND...` runs the command and remembers how long it took.
steps=()
step() {
  local name=$1 begun=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@" || { local code=$?; printf '%s failed (exit %s)\n' "$name" "$code" >&2; exit "$code"; }
  steps+=("$(printf '%-34s %4s s' "$name" "$((SECONDS - begun))")")
}

report_steps() {
  printf '\nHow long each step took:\n'
  printf '  %s\n' "${steps[@]}"
}

# Whether a Vulkan driver and the loader are installed.
has_vulkan() {
  local icd
  ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
  [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return 0
  for icd in /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json /usr/local/share/vulkan/icd.d/*.json; do
    [ -e "$icd" ] && return 0
  done
  return 1
}

# apt_install PACKAGE...: installs, or says what to run and fails.
apt_install() {
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      sudo=(sudo)
    else
      printf 'This needs a package manager run as root. Please run:\n  sudo apt-get install -y %s\n' "$*" >&2
      return 1
    fi
  fi
  if ! command -v apt-get >/dev/null 2>&1; then
    printf 'No apt-get here. Please install what these Debian packages hold: %s\n' "$*" >&2
    return 1
  fi
  printf 'installing: %s\n' "$*"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
    { "${sudo[@]}" apt-get update -qq >/dev/null &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
}

need_cargo() {
  if ! command -v cargo >/dev/null 2>&1; then
    # rustup's own place, where the shell was not told of it.
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH="$HOME/.cargo/bin:$PATH" && return 0
    printf 'cargo is not installed: get the Rust toolchain (1.95 or newer) from rustup\n' >&2
    return 1
  fi
}

# What building and drawing need: a C++ compiler (the video encoder is built from source; with nasm it encodes twice as
# fast) and a Vulkan driver.
set_up_drawing() {
  need_cargo || return 1
  local want=()
  command -v cc >/dev/null 2>&1 && command -v c++ >/dev/null 2>&1 || want+=(g++)
  command -v nasm >/dev/null 2>&1 || want+=(nasm)
  has_vulkan || want+=(libvulkan1 mesa-vulkan-drivers)
  if [ "${#want[@]}" = 0 ]; then
    printf 'a C++ compiler, nasm and a Vulkan driver are here\n'
  else
    apt_install "${want[@]}"
  fi
}

# What a window under X needs at run time.
set_up_window() {
  local want=()
  ldconfig -p | grep -q 'libX11\.so\.6' || want+=(libx11-6)
  ldconfig -p | grep -q 'libXcursor\.so\.1' || want+=(libxcursor1)
  ldconfig -p | grep -q 'libXi\.so\.6' || want+=(libxi6)
  ldconfig -p | grep -q 'libxkbcommon-x11\.so\.0' || want+=(libxkbcommon-x11-0)
  [ "${#want[@]}" = 0 ] || apt_install "${want[@]}"
}

# need_adapter ORRERY: draws one small picture; where no driver answers, installs the software one and draws again.
need_adapter() {
  local try=("$1" snapshot traces/array_init.orrery -64x64 -o -)
  if "${try[@]}" >/dev/null 2>&1; then
    printf 'a graphics adapter answers\n'
    return 0
  fi
  apt_install libvulkan1 mesa-vulkan-drivers && "${try[@]}" >/dev/null
}
