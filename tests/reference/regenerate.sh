#!/bin/sh
# Makes every file of counts and every trace in this folder again, from the peers themselves.
#
#   tests/reference/regenerate.sh            in place
#   tests/reference/regenerate.sh --check    into a temporary folder, then compare with what is here
#   ORRERY=path/to/orrery ...                with a binary that is built already
#
# Needs gcc, valgrind 3.19.0, setarch (util-linux), python3 (3.11 or later, with venv and its headers), and a CPU with AVX. One
# program maps the page at address 0: run as root, or with vm.mmap_min_addr = 0. README.md says what each step is for.
set -eu
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")"
here=$PWD
out=$here
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
check=
if [ "${1:-}" = --check ]; then
    check=yes
    out=$work/out
    mkdir -p "$out/traces"
fi
for tool in gcc valgrind setarch python3; do
    command -v "$tool" >/dev/null || {
        echo "regenerate.sh: found no $tool; install gcc, valgrind, util-linux and python3" >&2
        exit 1
    }
done
version=$(valgrind --version)
[ "$version" = valgrind-3.19.0 ] || {
    echo "regenerate.sh: found $version; the counts are those of valgrind-3.19.0: install that, or change this line and the README" >&2
    exit 1
}
if [ -z "${ORRERY:-}" ]; then
    cargo build --quiet --release --no-default-features --features cli --manifest-path ../../Cargo.toml
    ORRERY=${CARGO_TARGET_DIR:-../../target}/release/orrery
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-binary :all: pycachesim==0.3.1

# The same bytes everywhere: no library, no path, no date in the binaries; no environment and no random addresses at run time.
flags='-O1 -mavx -static -no-pie -nostdlib -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables
    -fno-delete-null-pointer-checks -ffreestanding -fno-pic -Wall -Wextra -Werror -Wl,--build-id=none'
# shellcheck disable=SC2086
build() {
    case $1 in
    tidy)
        { echo '.bundle_align_mode 5'; gcc $flags -Iprograms -S -o - programs/tidy.c; } >"$work/tidy.s"
        gcc $flags -o "$work/tidy" "$work/tidy.s"
        ;;
    untidy) gcc $flags -Iprograms -o "$work/untidy" programs/untidy.c ;;
    c*) gcc $flags -DEXAMPLE="${1#c}" -o "$work/$1" programs/examples.S ;;
    esac
}
observe() {
    # The geometries are those of caches/cg_*.toml; regenerate.py checks that.
    (cd "$work" && env -i setarch -R valgrind --quiet "$@") || {
        echo "regenerate.sh: a program failed; where it maps address 0, run as root or with vm.mmap_min_addr = 0" >&2
        exit 1
    }
}
for program in tidy untidy c1 c2 c3 c4 c5 c6; do
    build "$program"
    observe --tool=lackey --trace-mem=yes --log-file="$work/$program.log" "./$program"
    for cache in "small 512,1,64 1024,2,64 4096,4,64" "mid 1024,2,64 2048,4,64 16384,8,64" "grow 1024,2,32 1024,2,32 8192,4,64"; do
        # shellcheck disable=SC2086
        set -- $cache
        observe --tool=cachegrind --cache-sim=yes --I1="$2" --D1="$3" --LL="$4" \
            --cachegrind-out-file="$work/$program.cg_$1.out" "./$program" 2>/dev/null
    done
    "$ORRERY" convert "$work/$program.log" -o "$out/traces/$program.orrery" 2>/dev/null
done
"$work/venv/bin/python3" regenerate.py "$work" "$out"
if [ -n "$check" ]; then
    failed=
    for file in "$out"/*.csv "$out"/traces/*.orrery; do
        cmp "$file" "$here/${file#"$out"/}" || failed=yes
    done
    # Packed by another zlib the bytes may differ; the references may not.
    for file in "$out"/traces/*.gz; do
        gunzip -c "$file" >"$work/one"
        gunzip -c "$here/traces/${file##*/}" | cmp "$work/one" - || failed=yes
    done
    [ -z "$failed" ] || exit 1
    echo "regenerate.sh: everything is as it was"
fi
