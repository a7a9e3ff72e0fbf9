#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the newest wheel of dist/ with exactly the lowest versions that pyproject.toml allows, and runs the package's tests.
set -euo pipefail
cd "$(dirname "$0")/.."

home=build/lowest/venv
rm -rf $home
python3 -m venv $home
$home/bin/python tools/install_locked.py pytest pytest-xdist hypothesis pydantic jsonschema otf2
ln -s ../../../.venv/megatron $home/megatron  # wheels that tests read
PYTHONPATH=tools $home/bin/python - >$home/lowest.txt <<'PY'
from install_locked import ROOT, tomllib

project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
runtime = (extras[name] for name in ("cli", "report", "bound", "networkx"))
for requirement in sum(runtime, project["dependencies"]):
    print(requirement.replace(">=", "=="))
PY
$home/bin/pip install -q -r $home/lowest.txt
$home/bin/pip install -q --no-deps "$(ls -t dist/topoloom-*.whl | head -n 1)"
PATH=$PWD/$home/bin:$PATH
python -m pytest -q -n 2 tests/package
