#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the compiled module with AddressSanitizer and UBSan in build/asan-python, and makes random calls of its functions.
set -euo pipefail
cd "$(dirname "$0")/.."

site=$PWD/build/asan-python/site
rm -rf "$site"
pip install -q --no-build-isolation --no-deps --target "$site" \
    --config-settings=build-dir=build/asan-python/build --config-settings=cmake.build-type=RelWithDebInfo --config-settings=install.strip=false \
    --config-settings=cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all' \
    .
# Without -S, Python would import the editable package.
packages=$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=8192 \
UBSAN_OPTIONS=print_stacktrace=1 \
PYTHONPATH="$site:$packages" python -S tests/package/core/random_calls.py "$@"
