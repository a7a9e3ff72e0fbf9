# SPDX-License-Identifier: BSD-3-Clause
# Main targets: make demo, make test. Each installs what it needs.
SHELL := /bin/bash
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Tests start about a thousand Python processes: let them share compiled modules.
unexport PYTHONDONTWRITEBYTECODE

stamps      := build/stamps
# One build tree for the package, its wheel, the core's tests and its benchmarks.
tree        := build/release
pip_options := --no-build-isolation $(addprefix --config-settings=,build-dir=$(tree) cmake.define.TOPOLOOM_TESTS=ON cmake.define.TOPOLOOM_WARNINGS=ON)
# The wheel in dist/ if it was built from this commit, else empty.
wheel       := $(shell tools/wheel_of_commit.sh)
sources     := $(shell find core bindings mpi -type f) CMakeLists.txt pyproject.toml
python      := python tests bench docs tools
code        := $(shell find core bindings mpi nccl apps bench tests -name '*.[ch]' -o -name '*.[ch]pp')

.PHONY: help build demo test test-all core-test package-test mpi-test bench-core bench-record bench-reorder bench-peers bench-contention bench-tiles bench-axes bench-ai bench-ring-bus bench-balance bench-collectives bench-exchange bench-grids bench-persistent bench-preloaded bench-probe bench-remap bench-applications bench-learning bench-network bench-programs bench-switches bench-defaults bench-objects bench-stream bench-report bench-validation bench-published bench-readings wheel wheels test-wheel test-lowest lock fuzz fuzz-mutants fuzz-calls fuzz-collectives fuzz-network fuzz-runs fuzz-signals checked asan tsan fmt lint tidy docs docs-blocks clean

help:                        ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

build: $(stamps)/package     ## build and install .venv/bin/topoloom

demo: $(if $(or $(wildcard $(stamps)/package),$(if $(wheel),,none)),build,$(stamps)/wheel)  ## record, place, judge and export a real MPI program; pictures in out/demo
	tools/setup.sh demo
	topoloom demo

test: core-test package-test mpi-test   ## everything a commit must pass

test-all: $(stamps)/test-tools   ## make test plus tests marked full, every MPI, sanitizers, fuzzing, docs; prints the time of each part
	tools/test_all.sh

core-test: $(stamps)/test-tools
	cmake --build $(tree) --target core_tests fuzz_network
	ctest --test-dir $(tree) --output-on-failure --no-tests=error -j 2

package-test: $(stamps)/test-tools
	pytest -q -n 2 $(FULL) tests/package tests/layers

mpi-test: $(stamps)/test-tools
	pytest -q -n 2 $(FULL) tests/journeys --ignore tests/journeys/slurm
	pytest -q -n 4 --dist loadgroup $(FULL) tests/mpi tests/journeys/slurm

bench-core: build            ## measure the speed of the core against its limits
	tools/setup.sh bench
	cmake $(tree) -DTOPOLOOM_BENCH=ON >/dev/null && cmake --build $(tree) --target core_benchmarks
	for program in $(tree)/bench/core/bench_*; do $$program || exit 1; done

bench-record: build          ## cost of recording a call; ARGS=world: cost of run --apply world
	PYTHONPATH=bench python bench/record/run.py $(ARGS)

bench-reorder: build         ## 100,000 ranks through the C interface: time, memory per rank, cost of a wrapped call
	PYTHONPATH=bench python bench/reorder/run.py

bench-peers: build           ## compare with other mappers; ARGS='--sets stencils --tools ours,scotch' takes a minute
	tools/setup.sh peers
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m peers $(or $(ARGS),--scale)
	[ -n '$(ARGS)' ] || python bench/qaplib/run.py ../shared/data/qaplib

bench-applications: build    ## studies of the applications in SimGrid; ARGS='--docs docs' renews the page
	tools/setup.sh test
	PYTHONPATH=bench python -m applications $(ARGS)

bench-contention: build      ## placements with the least congestion, compared with others; ARGS='--docs docs' renews the pages
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m contention $(ARGS)

bench-axes: build            ## best orders of the axes of AI training; ARGS='--docs docs' renews the page
	PYTHONPATH=bench python -m axes $(ARGS)

bench-ai: build              ## AI jobs: compare with frameworks and published NCCL times; ARGS='--only groups --settings 20' takes seconds
	tools/setup.sh ai
	PYTHONPATH=bench python -m ai $(ARGS)

bench-ring-bus: build        ## threads on the ring bus of the Cell processor; ARGS='--docs docs' renews the page
	PYTHONPATH=bench python -m ring_bus $(ARGS)

bench-collectives: build     ## simulated collectives compared with MPI's, and best orders; ARGS='--ranks 64' takes minutes
	tools/setup.sh test
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m collectives $(ARGS)

bench-balance: build         ## balancers: guarantees, exact search, near partners, times; ARGS=--quick takes a minute
	PYTHONPATH=bench python -m balance $(ARGS)

bench-exchange: build        ## simulated sparse exchanges; ARGS='--calls 20000000' makes calls between two real ranks
	tools/setup.sh test
	PYTHONPATH=bench python -m exchange $(ARGS)

bench-grids: build           ## collectives on rows and columns of tiled process grids, simulated; ARGS='--docs docs' renews the page
	tools/setup.sh test
	PYTHONPATH=bench python -m process_grids $(ARGS)

bench-persistent: build      ## persistent collectives compared with one-shot ones and MPI's; ARGS='--docs docs' renews the page
	tools/setup.sh test
	PYTHONPATH=bench python -m persistent $(ARGS)

bench-remap: build           ## scatters in orders by measured messages, on simulated nodes; ARGS='--docs docs' renews the page
	tools/setup.sh test
	PYTHONPATH=bench python -m remap $(ARGS)

bench-preloaded: build       ## applications with replaced collectives; ARGS='--nas FOLDER --docs docs' renews the page
	tools/setup.sh test
	PYTHONPATH=bench python -m preloaded $(ARGS)

bench-learning: build        ## schedules learned from wrong models; ARGS='--calls 1000000' counts disagreements of real ranks
	tools/setup.sh bench
	cmake $(tree) -DTOPOLOOM_BENCH=ON >/dev/null && cmake --build $(tree) --target bench_learning
	PYTHONPATH=bench python -m learning $(ARGS)

bench-network: build         ## packet simulator compared with BookSim 2 and CAMINOS; BOOKSIM=FOLDER is a clone of booksim/booksim2
	tools/setup.sh network
	PYTHONPATH=bench python -m network --booksim $(or $(BOOKSIM),$(error BOOKSIM=FOLDER must name a clone of booksim/booksim2)) $(ARGS)

bench-programs: build         ## programs of 4,096 and 65,536 ranks, packet by packet; ARGS='--docs docs' renews the table
	PYTHONPATH=bench python -m programs $(ARGS)

bench-switches: build        ## multicasts and reductions in switches compared with published ones; ARGS='--docs docs' renews the tables
	PYTHONPATH=bench python -m switches $(ARGS)

bench-validation: build      ## objectives compared with times simulated by SimGrid; ARGS='--docs docs' renews the page
	tools/setup.sh validation
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m validation $(ARGS)

bench-defaults: build        ## gains of the defaults on real machines, simulated; ARGS='--every 40' takes minutes
	tools/setup.sh validation
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m defaults $(ARGS)

bench-objects: build         ## messages between objects, migrations under traffic, overlap in SimGrid; ARGS='--only messages' takes seconds
	tools/setup.sh test
	PYTHONPATH=bench python -m objects $(ARGS)

bench-stream: build          ## cost of an item of a stream; ARGS='--model 1000000' checks its termination detection; ARGS='--docs docs' renews the table
	tools/setup.sh test
	PYTHONPATH=bench python -m stream $(ARGS)

bench-tiles: build           ## compare tile with other mappers of process grids; ARGS='--every 10' takes seconds
	PYTHONPATH=bench python -m tiles $(ARGS)

bench-probe: build           ## machines that the probe should recover, in SimGrid; ARGS='--machines 20' takes minutes
	PYTHONPATH=bench python -m probe $(ARGS)

bench-report: build          ## size of the report page, and its speed in a browser, at 10,000 ranks
	tools/setup.sh test
	tools/install_locked.py playwright
	python bench/report.py $(ARGS)

bench-published: build       ## compare with every known published value; ARGS='stencils'
	tools/install_locked.py scipy
	PYTHONPATH=bench python -m published ../shared/data/published.csv $(ARGS)

bench-readings: build        ## readings of models whose source contradicts itself, compared with its measurements
	PYTHONPATH=bench python -m readings ../shared/data/published.csv

# Files in a wheel get the time of the commit: the same commit and compiler give the same bytes.
wheel wheels: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
wheel: build                 ## dist/: a manylinux wheel with the core inside
	tools/setup.sh wheel
	rm -rf build/wheel dist
	pip wheel -q $(pip_options) --no-deps -w build/wheel .
	auditwheel repair -w dist build/wheel/*.whl
	tools/wheel_of_commit.sh --record

wheels: $(stamps)/package    ## dist/: the wheels of a release, for each Python; ARGS=3.12 builds one
	tools/wheels.sh $(ARGS)

test-wheel: wheel $(stamps)/test-tools   ## that wheel in an empty environment, on the journeys that need no cluster
	tools/test_wheel.sh

test-lowest: wheel $(stamps)/test-tools   ## the package's tests with the lowest versions that pyproject.toml allows
	tools/test_lowest.sh

lock:                        ## renew tools/requirements.lock: the newest versions of all Python packages, and their hashes
	tools/install_locked.py uv
	UV_CUSTOM_COMPILE_COMMAND='make lock' uv pip compile -q --universal --python-version 3.10 --generate-hashes \
	  --all-extras -U -o tools/requirements.lock pyproject.toml tools/requirements.in

fuzz: $(stamps)/test-tools   ## ten minutes of odd files for every reader; ARGS='--seconds 60 --only tofu'
	tools/install_locked.py atheris || echo "without atheris: at random" >&2
	python tests/fuzz/fuzz_machines.py $(ARGS)

fuzz-mutants: $(stamps)/test-tools   ## damage each part of sample machine files; ARGS='--count 100 --only hwloc'
	python tests/fuzz/mutate_machines.py $(ARGS)

fuzz-calls: $(stamps)/test-tools   ## 10^5 calls of Python functions with wrong arguments under AddressSanitizer; ARGS='--seed 2'
	tools/fuzz_calls.sh $(ARGS)

fuzz-collectives: build       ## 10^5 drawn collectives on each MPI, beside its own; ARGS='--cases 5000 --only mpich'
	tools/setup.sh test
	python tests/fuzz/fuzz_collectives.py $(ARGS)

fuzz-signals: build          ## 100 random signals to recorded jobs of each kind of MPI; ARGS='--count 20 --only mpich'
	tools/setup.sh test
	python tests/fuzz/fuzz_signals.py $(ARGS)

fuzz-runs: build             ## kill 100 jobs of `topoloom run` that share a run store; ARGS='--count 20'
	tools/setup.sh test
	unshare --mount $(if $(filter 0,$(shell id -u)),,--map-root-user) python tests/fuzz/fuzz_runs.py $(ARGS)

fuzz-network: build          ## simulate switches in 10^6 random configurations; ARGS='COUNT SEED'
	cmake --build $(tree) --target fuzz_network
	$(tree)/tests/fuzz/fuzz_network $(ARGS)

checked asan tsan:           ## run the core's tests with assertions or under a sanitizer
	cmake --workflow --preset $@

fmt: $(stamps)/test-tools    ## format everything
	ruff format $(python) && ruff check --fix $(python)
	clang-format -i $(code)

lint: $(stamps)/test-tools   ## formatting, style, types, spelling, unused Python
	ruff format --check $(python)
	ruff check $(python)
	@clang-format --dry-run --Werror $(code)
	codespell core bindings mpi nccl apps python tests bench docs machines packaging README.md CHANGELOG.md CONTRIBUTING.md CODE_OF_CONDUCT.md SECURITY.md
	tools/check_functions.py
	mypy
	vulture

tidy: $(stamps)/test-tools   ## clang-tidy over the core (slow)
	cmake --preset checked -DTOPOLOOM_UNITY=OFF && clang-tidy --quiet -p build/checked $(shell find core -name '*.cpp')

docs: $(stamps)/test-tools   ## the documentation as a site
	tools/install_locked.py mkdocs-material latex2mathml && NO_MKDOCS_2_WARNING=1 mkdocs build --strict -d build/site

docs-blocks: $(stamps)/test-tools   ## run the commands in README and docs, compare what they print; ARGS='--write docs/tutorial.md'
	PYTHONPATH=tools python -m doc_blocks $(ARGS)

clean:                       ## everything that was made, except the environment
	rm -rf build out

$(stamps)/package: $(sources)
	tools/setup.sh build
	tools/install_locked.py '.[cli,report]'
	pip install -q $(pip_options) --no-deps -e .
	python -m nanobind.stubgen -q -m topoloom._core -o python/topoloom/_core.pyi
	@mkdir -p $(@D) && rm -f $(stamps)/wheel && touch $@

$(stamps)/wheel: $(wheel)
	tools/setup.sh demo
	tools/install_locked.py '.[cli,report]'
	pip install -q --force-reinstall --no-deps '$(wheel)'
	@mkdir -p $(@D) && rm -f $(stamps)/package && touch $@

$(stamps)/test-tools: $(stamps)/package tools/setup.sh tools/requirements.lock
	tools/setup.sh test
	tools/install_locked.py '.[dev]'
	@touch $@
