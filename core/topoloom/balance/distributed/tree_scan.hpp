// SPDX-License-Identifier: BSD-3-Clause
// Prefix and suffix sums along a line, computed on a binary tree.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/balance/distributed/channel.hpp"

namespace topoloom {

/// A position as a vertex of the search tree over positions 0 .. count - 1: its left subtree contains lower
/// positions.
struct TreePosition {
    std::optional<std::uint32_t> parent, left, right;
};

[[nodiscard]] TreePosition tree_position(std::uint32_t place, std::uint32_t count);

/// Combines the payloads of two adjacent ranges. Must be associative.
struct ScanOperator {
    Payload nothing;  // identity
    Payload (*add)(const Payload& left, const Payload& right);
};

struct TreeTopics {
    Topic up, down;
};

struct ScanResult {
    Payload before, after;
};

/// Combines the payloads of all positions before one position, and of all after it. Each position sends at
/// most three messages; about 2 log2(count) messages are on the critical path.
Coroutine<ScanResult> tree_scan(PeerChannel& channel, std::uint32_t place, std::uint32_t count,
                                TreeTopics topics, Payload own, ScanOperator addition);

}  // namespace topoloom
