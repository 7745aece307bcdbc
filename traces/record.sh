#!/bin/sh
# Records the bundled traces again: compiles each program, runs it under Valgrind's lackey, and keeps the references to
# its named regions between its start and stop marks. Needs gcc, valgrind and cargo.
#
#   traces/record.sh                 all programs, into traces/
#   traces/record.sh mpm             one program
#   traces/record.sh --check         record into a temporary folder and compare with traces/ byte for byte
#   ORRERY=path/to/orrery traces/record.sh    with a binary that is built already
set -eu
cd "$(dirname "$0")"
out=.
if [ "${1:-}" = --check ]; then
    check=yes
    shift
else
    check=
fi
for tool in gcc valgrind; do
    command -v "$tool" >/dev/null || {
        echo "record.sh: found no $tool; install the packages gcc, binutils and valgrind" >&2
        exit 1
    }
done
if [ -z "${ORRERY:-}" ]; then
    cargo build --quiet --release --no-default-features --manifest-path ../Cargo.toml
    ORRERY=${CARGO_TARGET_DIR:-../target}/release/orrery
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
[ -z "$check" ] || out=$work

[ $# -gt 0 ] || set -- matmul16 matmul16_transposed matmul16_blocked matmul12_blocked array_init bubble_sort merge_sort mpm \
    false_sharing false_sharing_padded
for name; do
    # -O1 keeps sums in registers and arrays in memory (README.md says what each flag is for); the section's fixed
    # address and the prefix map make the result independent of machine and folder.
    gcc -g -O1 -std=c11 -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. \
        -no-pie -Wl,--section-start=orrery_memory=0x10000000 -o "$work/$name" "programs/$name.c" -lm
    # The log has a file of its own, so that nothing the program prints can end up in it.
    ORRERY_TABLES="$work/tables.json" valgrind --quiet --tool=lackey --trace-mem=yes --log-file="$work/$name.log" \
        "$work/$name" || {
        echo "record.sh: $name failed its own check" >&2
        exit 1
    }
    "$ORRERY" convert "$work/$name.log" -o "$out/$name.orrery" \
        --tables "$work/tables.json" --only-regions --program "$work/$name"
    rm "$work/$name.log"
    if [ -n "$check" ] && ! cmp "$out/$name.orrery" "$name.orrery"; then
        failed=yes
    fi
done
[ -z "${failed:-}" ] || exit 1
