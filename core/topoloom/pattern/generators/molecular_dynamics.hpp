// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics as in NAMD: patches are cells of the box, computes are interacting pairs of patches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// Atoms in a box that is periodic along every axis.
struct MolecularSystem {
    std::size_t atoms;
    std::array<double, 3> box;  // angstrom
};

/// The size of the ApoA1 benchmark.
inline constexpr MolecularSystem apoa1{92'224, {108.86, 108.86, 77.76}};

/// Returns the maximum number of cells along each axis, at least one, such that no cell is narrower than
/// `width` (in angstrom). `width` is the cutoff plus a margin, so only neighbors interact. Throws Error for a
/// width below 1.
[[nodiscard]] std::array<std::uint32_t, 3> molecular_cells(const MolecularSystem& system, double width = 16);

/// Makes the pattern. The first ranks are patches, one per cell, row-major. The other ranks are computes, one
/// per interacting pair, sorted by first and second patch. A pair is a patch with itself, or with one of its
/// 26 neighbors. A patch sends positions of 24 bytes per atom to each of its computes, which returns forces
/// of the same size. The load of a compute is its number of atom pairs, the load of a patch its number of
/// atoms. Atom positions are uniformly random. With proxies, the patches are CommGraph::proxied(): NAMD sends
/// a patch once to each process, and receives the summed forces of its computes. Without proxies, every
/// compute receives a separate copy. Throws Error for empty cell extents and 2^31 or more ranks. Memory and
/// time O(atoms + ranks). Source: A. Bhatele, L. V. Kale, Benefits of Topology Aware Mapping for Mesh
/// Interconnects, PPL 18(4), 2008, sec. 5.
[[nodiscard]] CommGraph molecular_dynamics(const std::array<std::uint32_t, 3>& cells, std::size_t atoms,
                                           std::uint64_t seed, bool proxies = true);

}  // namespace topoloom
