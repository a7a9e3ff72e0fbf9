// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/molecular_dynamics.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

namespace {

using Cells = std::array<std::uint32_t, 3>;

constexpr std::int64_t bytes_of_atom = 24;  // three doubles
constexpr std::size_t max_patches = ((std::size_t{1} << 31) - 1) / 15;

std::uint32_t count_patches(const Cells& cells) {
    std::size_t patches = 1;
    for (const std::uint32_t extent : cells) {
        if (extent == 0)
            fail("cells of ", cells[0], "x", cells[1], "x", cells[2],
                 " have an axis of 0 cells; give at least 1 per axis");
        if (extent > max_patches / patches)
            fail("cells of ", cells[0], "x", cells[1], "x", cells[2],
                 " have too many patches and computes: at most 2^31 - 1 ranks are supported");
        patches *= extent;
    }
    return static_cast<std::uint32_t>(patches);
}

/// Returns the patches that share a compute with `patch`: the patch itself and its neighbors. Omits patches
/// with lower numbers.
std::vector<std::uint32_t> list_partner_patches(std::uint32_t patch, const Cells& cells) {
    const Cells at{patch / cells[2] / cells[1], patch / cells[2] % cells[1], patch % cells[2]};
    std::vector<std::uint32_t> partners;
    const auto along = [&](std::size_t axis, std::uint32_t step) {
        return (at[axis] + cells[axis] - 1 + step) % cells[axis];
    };
    for (std::uint32_t i = 0; i < 3; ++i) {
        for (std::uint32_t j = 0; j < 3; ++j) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t other = (along(0, i) * cells[1] + along(1, j)) * cells[2] + along(2, k);
                if (other >= patch) partners.push_back(other);
            }
        }
    }
    // On a short axis several neighbors are the same patch.
    std::ranges::sort(partners);
    partners.erase(std::ranges::unique(partners).begin(), partners.end());
    return partners;
}

}  // namespace

Cells molecular_cells(const MolecularSystem& system, double width) {
    if (!(width >= 1)) fail("cells cannot be ", width, " angstrom wide; give 1 or more");
    Cells cells{};
    for (std::size_t axis = 0; axis < 3; ++axis)
        cells[axis] = std::max(1U, static_cast<std::uint32_t>(system.box[axis] / width));
    return cells;
}

CommGraph molecular_dynamics(const Cells& cells, std::size_t atoms, std::uint64_t seed, bool proxies) {
    const std::uint32_t patches = count_patches(cells);
    std::vector<double> load(patches, 0);
    Rng rng(seed);
    for (std::size_t atom = 0; atom < atoms; ++atom) ++load[rng.below(patches)];
    std::vector<Rank> sources;
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    const auto both_ways = [&](std::uint32_t patch, Rank compute) {
        const Bytes sent{static_cast<std::int64_t>(load[patch]) * bytes_of_atom};
        sources.insert(sources.end(), {Rank{patch}, compute});
        peers.insert(peers.end(), {compute, Rank{patch}});
        bytes.insert(bytes.end(), {sent, sent});
    };
    for (std::uint32_t patch = 0; patch < patches; ++patch) {
        for (const std::uint32_t other : list_partner_patches(patch, cells)) {
            const Rank compute{load.size()};
            both_ways(patch, compute);
            if (other != patch) both_ways(other, compute);
            load.push_back(other == patch ? load[patch] * std::max(0.0, load[patch] - 1) / 2
                                          : load[patch] * load[other]);
        }
    }
    CommGraph graph = CommGraph::from_edges(load.size(), sources, peers, bytes, {}, load);
    return proxies ? std::move(graph).with_proxies(id_list<Rank>(patches)) : graph;
}

}  // namespace topoloom
