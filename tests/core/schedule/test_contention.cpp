// SPDX-License-Identifier: BSD-3-Clause
// Which permutations are free of congestion on k-ary n-trees: the theory of Kumar (2005, ch. 4), beside real routes.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/cost/contention.hpp"

using namespace topoloom;

namespace {

FatTree fat_tree(const std::string& text) { return std::get<FatTree>(make_machine(text).topology()); }

std::vector<Node> permutation(const FatTree& tree,
                              const std::function<std::uint32_t(std::uint32_t)>& target) {
    std::vector<Node> targets;
    for (std::uint32_t i = 0; i < tree.node_count(); ++i) targets.emplace_back(target(i));
    return targets;
}

std::vector<Node> shift(const FatTree& tree, std::uint32_t by) {
    const auto nodes = static_cast<std::uint32_t>(tree.node_count());
    return permutation(tree, [&](std::uint32_t i) { return (i + by) % nodes; });
}

std::vector<Node> exchange(const FatTree& tree, std::uint32_t with) {
    return permutation(tree, [&](std::uint32_t i) { return i ^ with; });
}

std::set<std::uint32_t> free_shifts(const FatTree& tree) {
    std::set<std::uint32_t> free;
    for (std::uint32_t by = 1; by < tree.node_count(); ++by) {
        if (congestion_free(tree, shift(tree, by))) free.insert(by);
    }
    return free;
}

bool at_most_one_message_a_link(const FatTree& tree, const std::vector<Node>& targets) {
    const HeaviestLinks heaviest = heaviest_links(tree, targets);
    return heaviest.up <= 1 && heaviest.down <= 1;
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, Rng& rng) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span<std::uint32_t>(order));
    return order;
}

/// Nodes first .. first + size on nodes `at` .. at + size, by new orders of the k children at every switch.
void automorphism(std::uint32_t k, std::uint32_t size, std::uint32_t first, std::uint32_t at,
                  std::vector<Node>& targets, Rng& rng) {
    if (size == 1) {
        targets[first] = Node{at};
        return;
    }
    const std::vector<std::uint32_t> order = shuffled(k, rng);
    for (std::uint32_t child = 0; child < k; ++child)
        automorphism(k, size / k, first + child * (size / k), at + order[child] * (size / k), targets, rng);
}

/// On a k-ary tree, whether messages meet on a link down that climb by random ports, no two of them by the same.
/// Down into a subtree they pass the roots that they passed on the way up.
bool random_ascent_collides(std::uint32_t k, const std::vector<Node>& targets, Rng& rng) {
    const auto nodes = static_cast<std::uint32_t>(targets.size());
    std::vector<std::uint32_t> root(nodes,
                                    0);  // that message i has reached, in the subtree of `size` around i
    for (std::uint32_t size = k; size < nodes; size *= k) {
        std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> ports;  // left free, by switch
        std::set<std::array<std::uint32_t, 2>> down;                               // subtree, root above it
        for (const std::uint32_t i : shuffled(nodes, rng)) {
            const std::uint32_t to = targets[i].value;
            if (i / size == to / size) continue;
            auto& left = ports.try_emplace({i / size, root[i]}, shuffled(k, rng)).first->second;
            REQUIRE(!left.empty());
            root[i] += size / k * left.back();
            left.pop_back();
            if (!down.insert({to / size, root[i]}).second) return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("of the shifts on 64 nodes, those of the published list are free of congestion and no others") {
    CHECK(free_shifts(fat_tree("fattree:4:4:4")) ==
          std::set<std::uint32_t>{1, 2, 3, 4, 8, 12, 16, 32, 48, 52, 56, 60, 61, 62, 63});
}

TEST_CASE("of the shifts on 256 nodes, those of the published list are free of congestion and no others") {
    std::set<std::uint32_t> expected;
    for (const std::uint32_t by : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 32U, 48U, 64U, 128U, 192U}) {
        expected.insert(by);
        expected.insert(256 - by);
    }
    CHECK(free_shifts(fat_tree("fattree:4:4:4:4")) == expected);
}

TEST_CASE("a shift by 5 takes two neighbors' messages into each group of four") {
    const FatTree tree = fat_tree("fattree:4:4:4");
    CHECK_FALSE(congestion_free(tree, shift(tree, 5)));
}

TEST_CASE("every exchange p ^ j is free of congestion, and of contention by source and by target") {
    for (const std::string text :
         {"fattree:4:4:4", "fattree:4:4:4:4", "fattree:16:16", "fattree:2:2:2:2:2"}) {
        CAPTURE(text);
        const FatTree by_target = fat_tree(text);
        const FatTree by_source = fat_tree(text + ",routing=s-mod-k");
        for (std::uint32_t with = 1; with < by_target.node_count(); ++with) {
            const auto targets = exchange(by_target, with);
            if (!congestion_free(by_target, targets)) FAIL_CHECK("p ^ ", with);
            if (!at_most_one_message_a_link(by_target, targets)) FAIL_CHECK("p ^ ", with, " by target");
            if (!at_most_one_message_a_link(by_source, targets)) FAIL_CHECK("p ^ ", with, " by source");
        }
    }
}

TEST_CASE("by d-mod-k every shift of a full tree is free, whether the theory promises it or not") {
    for (const std::string text : {"fattree:4:4:4", "fattree:4:4:4:4", "fattree:16:16", "fattree:3:3:3"}) {
        CAPTURE(text);
        const FatTree tree = fat_tree(text);
        for (std::uint32_t by = 1; by < tree.node_count(); ++by) {
            if (!at_most_one_message_a_link(tree, shift(tree, by))) FAIL_CHECK("shift by ", by);
        }
    }
}

TEST_CASE("by d-mod-k every shift is free on real-life fat trees with parallel cables, as Zahavi proves") {
    for (const std::string text :
         {"fattree:4:8,up=1:2,parallel=1:2", "fattree:6:6,up=1:3,parallel=1:2",
          "fattree:4:4:8,up=1:2:4,parallel=1:2:2", "fattree:18:36,up=1:9,parallel=1:2"}) {
        CAPTURE(text);
        const FatTree tree = fat_tree(text);
        for (std::uint32_t by = 1; by < tree.node_count(); ++by) {
            if (!at_most_one_message_a_link(tree, shift(tree, by))) FAIL_CHECK("shift by ", by);
        }
    }
}

TEST_CASE("new orders of the quarters, and of the children at every switch, are free of congestion") {
    Rng rng(3);
    const FatTree tree = fat_tree("fattree:4:4:4");
    for (int round = 0; round < 50; ++round) {
        const auto quarter = shuffled(4, rng);
        CHECK(congestion_free(
            tree, permutation(tree, [&](std::uint32_t i) { return quarter[i / 16] * 16 + i % 16; })));
        std::vector<Node> targets(64);
        automorphism(4, 64, 0, 0, targets, rng);
        CHECK(congestion_free(tree, targets));
        CHECK(at_most_one_message_a_link(tree, targets));
    }
}

TEST_CASE("a shift within every subtree of a level is as free as on a tree of that size") {
    const FatTree tree = fat_tree("fattree:4:4:4:4");
    for (const std::uint32_t by : {1U, 2U, 3U, 4U, 8U, 12U}) {
        CHECK(congestion_free(
            tree, permutation(tree, [&](std::uint32_t i) { return i / 16 * 16 + (i + by) % 16; })));
    }
}

TEST_CASE(
    "a permutation is free of congestion exactly if no ascent without collisions makes its messages "
    "collide") {
    Rng rng(4);
    for (const auto& [k, text] : {std::pair{2U, "fattree:2:2:2"}, std::pair{3U, "fattree:3:3"}}) {
        CAPTURE(text);
        const FatTree tree = fat_tree(text);
        int free = 0;
        const auto count = static_cast<std::uint32_t>(tree.node_count());
        for (int round = 0; round < 300; ++round) {
            const auto order = shuffled(count, rng);
            auto targets = permutation(tree, [&](std::uint32_t i) { return order[i]; });
            if (round % 3 == 0) automorphism(k, count, 0, 0, targets, rng);
            bool collided = false;
            for (int ascent = 0; ascent < 200 && !collided; ++ascent)
                collided = random_ascent_collides(k, targets, rng);
            CHECK(collided != congestion_free(tree, targets));
            free += collided ? 0 : 1;
        }
        CHECK(free >= 100);
        CHECK(free < 300);
    }
}

TEST_CASE("messages that all leave one group at once share its cables where these are too few") {
    const FatTree tree = fat_tree("fattree:4:4,up=1:2");
    const HeaviestLinks heaviest = heaviest_links(tree, shift(tree, 4));
    CHECK(heaviest.up == 2);
    CHECK(heaviest.down == 2);
    const HeaviestLinks spread =
        heaviest_links(fat_tree("fattree:4:4,up=1:4,routing=random"), shift(tree, 4));
    CHECK(spread.up == 1);
    CHECK(spread.down == 1);
}

TEST_CASE("targets that are not a permutation are refused") {
    const FatTree tree = fat_tree("fattree:2");
    CHECK_THROWS_WITH_AS((void)congestion_free(tree, std::vector<Node>(1)),
                         "a permutation of 2 nodes needs as many targets, not 1", Error);
    CHECK_THROWS_WITH_AS((void)congestion_free(tree, std::vector<Node>(2)), "node 0 is a target twice",
                         Error);
    CHECK_THROWS_WITH_AS((void)heaviest_links(tree, std::vector{Node{0}, Node{2}}),
                         "node 2 is a target, but there are only 2 nodes", Error);
}
