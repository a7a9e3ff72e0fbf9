// SPDX-License-Identifier: BSD-3-Clause
// Permutations on a fat tree: which ones are free of congestion, and what they put on links.
#pragma once

#include <span>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"

namespace topoloom {

/// Whether no two messages can meet on a link down, as long as none meet on the links up: node i sends one message to
/// targets[i], and every subtree is entered from at most one other subtree of its level (Kumar 2005, ch. 4). For trees
/// in which every switch has a port up for each one down, as in k-ary n-trees. Throws Error if `targets` is no
/// permutation of the nodes. O(nodes * levels).
[[nodiscard]] bool congestion_free(const FatTree& tree, std::span<const Node> targets);

/// The most messages on one link; less than whole where they are split.
struct HeaviestLinks {
    double up = 0;
    double down = 0;
};

/// When node i sends one message to targets[i], by the routes of the tree. Throws Error as congestion_free() does.
[[nodiscard]] HeaviestLinks heaviest_links(const FatTree& tree, std::span<const Node> targets);

}  // namespace topoloom
