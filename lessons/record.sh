#!/bin/sh
# Records all lessons: lessons/record.sh [FOLDER], or ORRERY=path/to/orrery lessons/record.sh. FOLDER is `films` unless it is named.
# What is said is written beside each film as .vtt, and as a transcript.
set -eu
cd "$(dirname "$0")/.."
out=${1:-films}
mkdir -p "$out"
orrery=${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}
for story in lessons/*.story.toml; do
	name=$(basename "$story" .story.toml)
	"$orrery" record "$story" --allow-run -o "$out/$name.mp4" --captions "$out/$name.vtt" --captions "$out/$name.md"
done
