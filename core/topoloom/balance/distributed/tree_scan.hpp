// SPDX-License-Identifier: BSD-3-Clause
// What is before and after each place of a line, put together along a binary tree.
#pragma once

#include <cstdint>
#include <optional>

#include "topoloom/balance/distributed/conversation.hpp"

namespace topoloom {

/// A place in the search tree over the places 0 to count - 1: those to its left are before it.
struct TreePlace {
    std::optional<std::uint32_t> parent, left, right;
};

[[nodiscard]] TreePlace tree_place(std::uint32_t place, std::uint32_t count);

/// How words of neighboring stretches of the line become those of both; associative.
struct Addition {
    Words nothing;  // of no places
    Words (*add)(const Words& left, const Words& right);
};

struct TreeTopics {
    Topic up, down;
};

struct Around {
    Words before, after;
};

/// Each place sends at most three messages; in a row there are about 2 log2(count).
Dialog<Around> tree_scan(Conversation& conversation, std::uint32_t place, std::uint32_t count,
                         TreeTopics topics, Words own, Addition addition);

}  // namespace topoloom
