// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics with patches and computes, as NAMD divides it: cells of the box, and the pairs that interact.
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

/// As many cells along each axis as fit when none is narrower than `width`, the cutoff and a margin: then only
/// neighbors interact. At least one. Throws Error for a width below 1.
[[nodiscard]] std::array<std::uint32_t, 3> molecular_cells(const MolecularSystem& system, double width = 16);

/// First a rank for every cell, row-major: a patch; then a rank for every pair that interacts: a compute. Pairs are a
/// patch and itself, and two patches that are among each other's 26 neighbors, by the first patch and then by the
/// second. A patch sends a position of 24 bytes per atom to each of its computes, which sends as large forces back.
/// Load of a compute: pairs of atoms; of a patch: atoms. Atoms are spread uniformly, drawn from the seed. With proxies the
/// patches are CommGraph::proxied(), since NAMD sends a patch once to each process, and the forces of its computes there
/// come back added up; without, every compute gets a copy of its own. Throws Error for cells without extent and 2^31 or
/// more ranks. Memory and time O(atoms + ranks). Source: A. Bhatele, L. V. Kale,
/// Benefits of Topology Aware Mapping for Mesh Interconnects, PPL 18(4), 2008, sec. 5.
[[nodiscard]] CommGraph molecular_dynamics(const std::array<std::uint32_t, 3>& cells, std::size_t atoms,
                                           std::uint64_t seed, bool proxies = true);

}  // namespace topoloom
