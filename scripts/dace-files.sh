#!/bin/sh
# Writes dataflow graphs by DaCe of PyPI, its newest version and 0.16, to target/dace/new and target/dace/old, for the test
# graphs_that_dace_writes_are_opened (tests/commands/nests.rs). Needs python3 with venv, and the network the first time.
set -eu
cd "$(dirname "$0")/.."
here=$PWD
folder=${CARGO_TARGET_DIR:-$here/target}/dace
for which in new old; do
  case $which in
    new) package=dace ;;
    old) package='dace==0.16.1' ;;
  esac
  python=$folder/venv-$which/bin/python
  if ! "$python" -c 'import dace' 2>/dev/null; then
    python3 -m venv "$folder/venv-$which"
    # Both versions fail with newer releases of networkx when a graph has a loop.
    "$python" -m pip install --quiet --disable-pip-version-check "$package" 'networkx<3.3'
  fi
  rm -rf "$folder/$which"
  (cd "$folder" && HOME="$PWD" "venv-$which/bin/python" "$here/scripts/dace_files.py" "$which" 2>"$which.log") || {
    cat "$folder/$which.log" >&2
    exit 1
  }
done
