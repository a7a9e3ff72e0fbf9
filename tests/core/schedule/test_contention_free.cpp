// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/orders/contention.hpp"

using namespace topoloom;

namespace {

FatTree k_ary_tree(std::uint32_t k, std::size_t levels) {
    return FatTree(
        {.arity = std::vector(levels, k), .up = {}, .parallel = {}, .bandwidth = {}, .latency = {}});
}

std::vector<Node> nodes_without(std::size_t count, const std::set<std::size_t>& missing) {
    std::vector<Node> nodes;
    for (std::size_t i = 0; nodes.size() < count; ++i) {
        if (!missing.contains(i)) nodes.emplace_back(i);
    }
    return nodes;
}

bool is_free(const FatTree& tree, const Step& step, std::size_t ranks,
             const std::set<std::size_t>& missing = {}) {
    return AnyUpwardRoutes(tree).meetings(list_node_messages(step, nodes_without(ranks, missing))).places ==
           0;
}

std::vector<std::size_t> free_shifts_of_ascents(const FatTree& tree) {
    std::vector<std::size_t> found;
    for (std::size_t by = 1; by < tree.node_count(); ++by) {
        if (is_free(tree, shift_step(tree.node_count(), by), tree.node_count())) found.push_back(by);
    }
    return found;
}

Step random_step(Rng& rng, std::size_t ranks) {
    std::vector<std::uint32_t> target(ranks);
    std::iota(target.begin(), target.end(), 0U);
    for (std::size_t i = ranks; i > 1; --i)
        std::swap(target[i - 1], target[rng.below(static_cast<std::uint32_t>(i))]);
    Step step;
    for (const Rank rank : ids<Rank>(ranks)) {
        if (target[rank.value] != rank.value && rng.below(4) > 0)
            step.push_back({rank, Rank{target[rank.value]}});
    }
    return step;
}

/// Whether, on a 2-ary 3-tree, some choice of uplinks without contention leads to contention on the way down.
bool contends_on_some_ascent(const std::vector<NodeMessage>& messages) {
    // Bit j of `ways` selects one of the two parents above level j + 1. The lowest j bits are the number of
    // the switch within its subtree at level j.
    const auto link = [](std::uint32_t subtree, std::uint32_t ways, std::uint32_t level, bool down) {
        return std::array{level, subtree, ways % (1U << level), std::uint32_t{down}};
    };
    bool meet = false;
    for (std::uint32_t all = 0; all < 1U << (2 * messages.size()) && !meet; ++all) {
        std::set<std::array<std::uint32_t, 4>> up, down;
        bool apart = true, descent_apart = true;
        for (std::size_t m = 0; m < messages.size() && apart; ++m) {
            const std::uint32_t ways = all >> (2 * m) & 3;
            for (std::uint32_t level = 0; level < 3; ++level) {
                const std::uint32_t from = messages[m].from.value >> level,
                                    to = messages[m].to.value >> level;
                if (from == to) break;
                apart = apart && up.insert(link(from, ways, level, false)).second;
                descent_apart = down.insert(link(to, ways, level, true)).second && descent_apart;
            }
        }
        meet = apart && !descent_apart;
    }
    return meet;
}

/// Reference: the number of subtrees that messages enter from several subtrees of the same level.
std::size_t count_subtrees_entered_from_several(std::uint32_t k, std::uint32_t nodes,
                                                const std::vector<NodeMessage>& messages) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> sources;
    for (std::uint32_t size = 1; size < nodes; size *= k) {
        for (const auto [from, to] : messages) {
            if (from.value / size != to.value / size)
                sources[{size, to.value / size}].insert(from.value / size);
        }
    }
    return static_cast<std::size_t>(
        std::ranges::count_if(sources, [](const auto& entry) { return entry.second.size() > 1; }));
}

}  // namespace

TEST_CASE("shifts without contention are those of Kumar's lemma 6, and their complements") {
    using List = std::vector<std::size_t>;
    CHECK(free_shifts_of_ascents(k_ary_tree(4, 3)) ==
          List{1, 2, 3, 4, 8, 12, 16, 32, 48, 52, 56, 60, 61, 62, 63});
    CHECK(free_shifts_of_ascents(k_ary_tree(4, 4)) ==
          List{1, 2, 3, 4, 8, 12, 16, 32, 48, 64, 128, 192, 208, 224, 240, 244, 248, 252, 253, 254, 255});
    CHECK(free_shifts_of_ascents(k_ary_tree(3, 3)) == List{1, 2, 3, 6, 9, 18, 21, 24, 25, 26});
}

TEST_CASE(
    "exchanges with rank r xor j share no link, nor do exchanges of whole quarters in their inner order") {
    const FatTree tree = k_ary_tree(4, 3);
    for (std::size_t by = 1; by < 64; ++by) CHECK(is_free(tree, prefix_step(64, by), 64));
    std::vector<std::uint32_t> quarters{0, 1, 2, 3};
    do {
        CHECK(is_free(tree, block_step(64, quarters), 64));
    } while (std::ranges::next_permutation(quarters).found);
    CHECK(is_free(k_ary_tree(3, 3), block_step(27, std::vector<std::uint32_t>{2, 0, 1}), 27));
}

TEST_CASE("permuting nodes by xor changes no shift between contention-free and contended") {
    const FatTree tree = k_ary_tree(4, 3);
    Rng rng(3);
    for (int i = 0; i < 30; ++i) {
        std::vector<Node> moved = nodes_without(64, {});
        const std::uint32_t flip = rng.below(64);
        for (Node& node : moved) node = Node{node.value ^ flip};
        const std::size_t by = 1 + rng.below(63);
        AnyUpwardRoutes ascent(tree);
        CHECK((ascent.meetings(list_node_messages(shift_step(64, by), moved)).places == 0) ==
              is_free(tree, shift_step(64, by), 64));
    }
}

TEST_CASE(
    "if one node is missing, 6 of 8 steps of k-shift have contention, and all of k-prefix and pairwise") {
    const FatTree tree = k_ary_tree(4, 4);
    const auto met = [&](std::string_view schedule, const std::set<std::size_t>& missing) {
        const auto steps =
            list_schedule_steps(make_schedule({Operation::allgather, 128, Bytes{1}}, schedule));
        const auto count = std::ranges::count_if(
            steps, [&](const RepeatedStep& s) { return !is_free(tree, s.step, 128, missing); });
        return std::pair(static_cast<std::size_t>(count), steps.size());
    };
    for (const char* schedule : {"k-shift", "k-prefix", "pairwise"}) CHECK(met(schedule, {}).first == 0);
    CHECK(met("k-shift", {37}) == std::pair<std::size_t, std::size_t>(6, 8));
    CHECK(met("k-prefix", {37}) == std::pair<std::size_t, std::size_t>(8, 8));
    CHECK(met("pairwise", {37}) == std::pair<std::size_t, std::size_t>(127, 127));
}

TEST_CASE("k-shift is contention-free if k is 1, 2, 3, 4 or 8, but for no other k up to 20") {
    for (std::size_t levels : {3U, 4U}) {
        const FatTree tree = k_ary_tree(4, levels);
        std::vector<std::size_t> free;
        for (std::size_t k = 1; k <= 20; ++k) {
            const auto steps = list_schedule_steps(make_schedule(
                {Operation::allgather, tree.node_count(), Bytes{1}}, "k-shift(k=" + std::to_string(k) + ")"));
            if (std::ranges::all_of(steps,
                                    [&](const auto& s) { return is_free(tree, s.step, tree.node_count()); }))
                free.push_back(k);
        }
        CHECK(free == std::vector<std::size_t>{1, 2, 3, 4, 8});
    }
}

TEST_CASE("if no subtree is reported, messages share no link for any ascent, and vice versa") {
    Rng rng(5);
    AnyUpwardRoutes small(k_ary_tree(2, 3)), large(k_ary_tree(4, 3));
    int free = 0;
    for (int i = 0; i < 30; ++i) {
        const auto messages = list_node_messages(
            i % 4 == 0 ? prefix_step(8, 1 + rng.below(7)) : random_step(rng, 3 + rng.below(6)),
            nodes_without(8, {}));
        const Meetings found = small.meetings(messages);
        CHECK(found.places == count_subtrees_entered_from_several(2, 8, messages));
        CHECK((found.places == 0) == !contends_on_some_ascent(messages));
        free += found.places == 0 ? 1 : 0;
    }
    CHECK(free > 5);
    CHECK(free < 28);
    for (int i = 0; i < 60; ++i) {
        const auto messages = list_node_messages(random_step(rng, 2 + rng.below(63)), nodes_without(64, {}));
        CHECK(large.meetings(messages).places == count_subtrees_entered_from_several(4, 64, messages));
    }
}

TEST_CASE("messages can share links if a switch has fewer cables up than nodes below") {
    FatTree thin({.arity = {4, 4}, .up = {1, 2}, .parallel = {}, .bandwidth = {}, .latency = {}});
    AnyUpwardRoutes ascent(thin);
    const auto two = list_node_messages({{Rank{0}, Rank{4}}, {Rank{1}, Rank{5}}}, nodes_without(16, {}));
    CHECK(ascent.meetings(two).places == 0);
    const Meetings four = ascent.meetings(list_node_messages(shift_step(16, 4), nodes_without(16, {})));
    CHECK(four.places == 4);
    CHECK(four.most == 2);
}

TEST_CASE("d-mod-k routes in a full tree carry every shift without contention") {
    const Machine tree = make_machine("fattree:4:4:4");
    const std::vector<Node> all = nodes_without(64, {});
    for (std::size_t by = 1; by < 64; ++by)
        CHECK(meetings_on_routes(tree, list_node_messages(shift_step(64, by), all)).places == 0);
    const std::vector<Node> ragged = nodes_without(48, {5, 17, 18, 40});
    const Meetings met = meetings_on_routes(tree, list_node_messages(shift_step(48, 16), ragged));
    CHECK(met.places > 0);
    CHECK(met.most >= 2);
}

TEST_CASE("on the routes of any machine, meetings are the links whose load exceeds one message") {
    Rng rng(9);
    for (const char* text : {"fattree:4:4:4", "fattree:4:4:4,up=1:2:2,routing=random", "torus:4x4x4",
                             "fattree:2:4:8,up=1:2:3,parallel=1:2:1,routing=s-mod-k"}) {
        const Machine machine = make_machine(text);
        CAPTURE(text);
        for (int i = 0; i < 20; ++i) {
            const auto messages = list_node_messages(random_step(rng, 64), nodes_without(64, {}));
            std::map<std::uint32_t, double> loads;
            with_topology(machine, [&](const auto& t) {
                for (const auto [from, to] : messages)
                    t.route(from, to, [&](Link link, double share) { loads[link.value] += share; });
            });
            const Meetings found = meetings_on_routes(machine, messages);
            double most = 0;
            std::size_t places = 0;
            for (const auto& [link, load] : loads) {
                most = std::max(most, load);
                places += load > 1 + 1e-9 ? 1U : 0U;
            }
            CHECK(found.places == places);
            CHECK(found.most == doctest::Approx(most));
        }
    }
}

TEST_CASE("errors name invalid input") {
    const Machine tree = make_machine("fattree:2:2");
    const std::vector<NodeMessage> outside{{Node{0}, Node{4}}};
    CHECK_THROWS_WITH((void)meetings_on_routes(tree, outside),
                      "a message at node 4: the machine has nodes 0 to 3");
    CHECK_THROWS_WITH((void)block_step(10, std::vector<std::uint32_t>{1, 0, 2, 3}),
                      "10 ranks can't be divided into 4 equal blocks");
    CHECK_THROWS_WITH((void)block_step(8, std::vector<std::uint32_t>{1, 1}),
                      "the targets of 2 blocks are not a permutation of 0 to 1");
}
