// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/tree_scan.hpp"

#include <bit>
#include <cstddef>

namespace topoloom {

namespace {

std::uint64_t lowest_bit(std::uint64_t number) { return number & (~number + 1); }

Payload concatenate(Payload first, const Payload& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace

TreePosition tree_position(std::uint32_t place, std::uint32_t count) {
    const std::uint64_t own = std::uint64_t{place} + 1;
    const std::uint64_t step = lowest_bit(own);
    TreePosition found;
    if (step > 1) found.left = static_cast<std::uint32_t>(own - step / 2 - 1);
    for (std::uint64_t half = step / 2; half > 0 && !found.right; half /= 2) {
        if (own + half <= count) found.right = static_cast<std::uint32_t>(own + half - 1);
    }
    const std::uint64_t root = std::bit_floor(std::uint64_t{count});
    for (std::uint64_t at = own; at != root && !found.parent;) {
        const std::uint64_t level = lowest_bit(at);
        at = (at - level) | (2 * level);
        if (at <= count) found.parent = static_cast<std::uint32_t>(at - 1);
    }
    return found;
}

Coroutine<ScanResult> tree_scan(PeerChannel& channel, std::uint32_t place, std::uint32_t count,
                                TreeTopics topics, Payload own, ScanOperator addition) {
    const TreePosition tree = tree_position(place, count);
    Payload left = addition.nothing;
    Payload right = addition.nothing;
    if (tree.left) left = co_await channel.receive(tree.left, topics.up);
    if (tree.right) right = co_await channel.receive(tree.right, topics.up);
    Payload beyond_left = addition.nothing;
    Payload beyond_right = addition.nothing;
    if (tree.parent) {
        channel.send(*tree.parent, topics.up, addition.add(addition.add(left, own), right));
        const Payload got = co_await channel.receive(tree.parent, topics.down);
        const auto half = got.begin() + static_cast<std::ptrdiff_t>(addition.nothing.size());
        beyond_left.assign(got.begin(), half);
        beyond_right.assign(half, got.end());
    }
    ScanResult around{addition.add(beyond_left, left), addition.add(right, beyond_right)};
    if (tree.left)
        channel.send(*tree.left, topics.down, concatenate(beyond_left, addition.add(own, around.after)));
    if (tree.right)
        channel.send(*tree.right, topics.down, concatenate(addition.add(around.before, own), beyond_right));
    co_return around;
}

}  // namespace topoloom
