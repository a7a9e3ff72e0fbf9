#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the newest wheel of dist/ in an empty environment, and runs the journeys there, except slurm/, which requires a cluster.
set -euo pipefail
cd "$(dirname "$0")/.."

home=build/wheel/venv
rm -rf $home
python3 -m venv $home
wheel=$(ls -t dist/topoloom-*.whl | head -n 1)
$home/bin/python tools/install_locked.py '.[cli,report,bound]' pytest hypothesis playwright pydantic jsonschema
$home/bin/pip install -q --no-deps "$wheel"
PATH=$PWD/$home/bin:$PATH
python -c 'import topoloom; from pathlib import Path; Path(topoloom.__file__).with_name("_core.pyi").read_text()'
python -m pytest -q tests/journeys --ignore tests/journeys/slurm
