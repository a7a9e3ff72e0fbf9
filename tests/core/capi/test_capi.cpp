// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "topoloom/capi/topoloom.h"

namespace {

/// Processes in groups, as C programs describe them.
class ProcessMap {
   public:
    static ProcessMap from_groups(std::size_t levels, std::size_t node_level,
                                  const std::vector<std::int64_t>& groups) {
        ProcessMap process_map;
        process_map.failed_ = topoloom_process_map_from_groups(
                                  groups.size() / levels, levels, node_level, groups.data(),
                                  &process_map.map_, process_map.error_, sizeof process_map.error_) != 0;
        return process_map;
    }
    static ProcessMap on_machine(const char* machine, std::size_t levels,
                                 const std::vector<std::int64_t>& groups) {
        ProcessMap process_map;
        process_map.failed_ = topoloom_process_map_on_machine(
                                  machine, groups.size() / levels, levels, groups.data(), &process_map.map_,
                                  process_map.error_, sizeof process_map.error_) != 0;
        return process_map;
    }
    ~ProcessMap() { topoloom_process_map_free(map_); }
    ProcessMap(ProcessMap&& other) noexcept : map_(other.map_), failed_(other.failed_) {
        std::copy_n(other.error_, sizeof error_, error_);
        other.map_ = nullptr;
    }
    [[nodiscard]] std::string machine() const {
        return failed_ ? error_ : topoloom_process_map_machine(map_);
    }
    [[nodiscard]] std::string error() const { return failed_ ? error_ : ""; }
    [[nodiscard]] const topoloom_process_map* get() const { return map_; }

   private:
    ProcessMap() = default;
    topoloom_process_map* map_ = nullptr;
    bool failed_ = false;
    char error_[256] = "";
};

struct OrderResult {
    std::vector<std::uint32_t> process_of_rank;
    topoloom_gain gain{};
    std::string error;
};

/// A pattern in which rank u sends 10 bytes to each of sends[u].
OrderResult order_ranks(const ProcessMap& process_map, const std::vector<std::vector<std::uint32_t>>& sends,
                        const char* options = nullptr) {
    std::vector<std::uint64_t> first{0};
    std::vector<std::uint32_t> peers;
    for (const auto& row : sends) {
        peers.insert(peers.end(), row.begin(), row.end());
        first.push_back(peers.size());
    }
    const std::vector<std::int64_t> bytes(peers.size(), 10);
    const topoloom_pattern pattern{sends.size(), first.data(), peers.data(), bytes.data()};
    OrderResult done{std::vector<std::uint32_t>(sends.size()), {}, {}};
    char error[256] = "";
    if (topoloom_order(process_map.get(), &pattern, options, done.process_of_rank.data(), &done.gain, error,
                       sizeof error) != 0)
        done.error = error;
    return done;
}

using Groups = std::vector<std::int64_t>;

/// A pattern in which rank i exchanges messages with rank i + stride.
std::vector<std::vector<std::uint32_t>> make_pair_pattern(std::uint32_t ranks, std::uint32_t stride) {
    std::vector<std::vector<std::uint32_t>> sends(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) sends[i] = {i < stride ? i + stride : i - stride};
    return sends;
}

}  // namespace

TEST_CASE("ranks that communicate are placed on the same node") {
    // Processes 0, 1 are on node 5, processes 2, 3 on node 9; ranks 0 and 2 communicate, and 1 and 3.
    const ProcessMap process_map = ProcessMap::from_groups(1, 0, {5, 5, 9, 9});
    CHECK(process_map.machine() == "tree:2+node:2,distance=16:16");
    const OrderResult ordered = order_ranks(process_map, make_pair_pattern(4, 2));
    REQUIRE(ordered.error.empty());
    const auto& process = ordered.process_of_rank;
    CHECK(process[0] / 2 == process[2] / 2);
    CHECK(process[1] / 2 == process[3] / 2);
    CHECK(ordered.gain.inter_node_bytes_before == 40);
    CHECK(ordered.gain.inter_node_bytes_after == 0);
    CHECK(ordered.gain.before == 40 * 32);
    CHECK(ordered.gain.after == 40 * 16);
}

TEST_CASE("the order is unchanged if reordering gains nothing") {
    const ProcessMap process_map = ProcessMap::from_groups(1, 0, {5, 5, 9, 9});
    const OrderResult ordered = order_ranks(process_map, {{1}, {0}, {3}, {2}}, "mapper=random");
    CHECK(ordered.process_of_rank == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(ordered.gain.after == ordered.gain.before);
}

TEST_CASE("a job with uneven groups is modeled as a part of a regular tree") {
    // Two switches with 2 and 1 nodes, with 3, 1 and 2 processes; on the first node two of them share a
    // package.
    const ProcessMap process_map =
        ProcessMap::from_groups(3, 1, {1, 10, 0, 1, 10, 0, 1, 10, 1, 1, 11, 0, 2, 12, 0, 2, 12, 1});
    CHECK(process_map.machine() == "tree:2:2+node:2:2,distance=8:16:16");
    const OrderResult ordered = order_ranks(process_map, make_pair_pattern(6, 3));
    auto sorted = ordered.process_of_rank;
    std::ranges::sort(sorted);
    CHECK(sorted == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
    CHECK(ordered.gain.after < ordered.gain.before);
}

TEST_CASE("equal group numbers below different parents denote different groups") {
    CHECK(ProcessMap::from_groups(2, 1, {0, 0, 1, 0}).machine() == "tree:2");
    CHECK(ProcessMap::from_groups(2, 1, {0, 0, 0, 1}).machine() == "tree:2");
    CHECK(ProcessMap::from_groups(2, 0, {0, 0, 0, 1}).machine() == "tree:1+node:2,distance=16:16");
}

TEST_CASE("switches are left out if a regular tree that contains them would be too large") {
    // Each level has one large group of 1000 switches, nodes or processes.
    Groups groups;
    for (std::int64_t i = 0; i < 1000; ++i) groups.insert(groups.end(), {i, 0, 0, 0});
    for (std::int64_t i = 0; i < 1000; ++i) groups.insert(groups.end(), {0, i, 0, 0});
    for (std::int64_t i = 0; i < 1000; ++i) groups.insert(groups.end(), {0, 0, i, 0});
    CHECK(ProcessMap::from_groups(4, 3, groups).machine() == "tree:1000:1999+node:3,distance=16:16");
}

TEST_CASE("processes of a described machine use its node numbers") {
    // A ring of four ranks uses a ring of four nodes in the order 0, 2, 1, 3.
    const ProcessMap process_map = ProcessMap::on_machine("torus:4", 1, {0, 2, 1, 3});
    const OrderResult ordered = order_ranks(process_map, {{1}, {2}, {3}, {0}});
    CHECK(ordered.gain.before == 60);
    CHECK(ordered.gain.after == 40);
}

TEST_CASE("slots are subdivided if a node has more processes than slots") {
    CHECK(ProcessMap::on_machine("torus:2", 1, {0, 0, 0, 1}).machine() == "torus:2+node:3");
    CHECK(ProcessMap::on_machine("torus:2+node:2:2,distance=1:8", 1, {0, 0, 0, 0, 0, 1}).machine() ==
          "torus:2+node:2:2:2,distance=0:1:8");
}

TEST_CASE("processes of a node that share resources get communicating ranks") {
    // Cores 0 and 2 are in package 0, bound round-robin: processes 0 and 2 share it.
    const ProcessMap process_map =
        ProcessMap::on_machine("torus:1+node:2:2,distance=1:8", 2, {0, 0, 0, 1, 0, 0, 0, 1});
    const OrderResult ordered = order_ranks(process_map, make_pair_pattern(4, 2));
    CHECK(ordered.gain.before == 40);
    CHECK(ordered.gain.after == 40);
}

TEST_CASE("ranks can be placed on any processes if there are more processes than ranks") {
    const ProcessMap process_map = ProcessMap::from_groups(1, 0, {1, 2, 2, 3});
    const OrderResult ordered = order_ranks(process_map, {{1}, {0}});
    CHECK(ordered.process_of_rank[0] + ordered.process_of_rank[1] == 3);
    CHECK(ordered.gain.inter_node_bytes_after == 0);
}

TEST_CASE("invalid input gives a one-line message") {
    CHECK(ProcessMap::on_machine("tours:4", 1, {0}).error().find("'tours'") != std::string::npos);
    CHECK(ProcessMap::on_machine("torus:4", 1, {4}).error() ==
          "process 0 is on node 4, but the machine has 4 nodes");
    CHECK(ProcessMap::from_groups(1, 0, {}).error() == "there are no processes");
    CHECK(ProcessMap::from_groups(1, 1, {0}).error() == "the node is level 1 of only 1 levels");
    const ProcessMap process_map = ProcessMap::from_groups(1, 0, {0, 1});
    CHECK(order_ranks(process_map, {{1}, {0}, {0}}).error.find("3 ranks do not fit") != std::string::npos);
    CHECK(order_ranks(process_map, {{7}, {0}}).error.find("only 2 ranks") != std::string::npos);
    CHECK(order_ranks(process_map, {{1}, {0}}, "sede=1").error.find("'sede'") != std::string::npos);
    CHECK(order_ranks(process_map, {{1}, {0}}, "mapper=atuo").error.find("'atuo'") != std::string::npos);
    char error[8] = "";
    topoloom_process_map* none = nullptr;
    CHECK(topoloom_process_map_from_groups(0, 1, 0, nullptr, &none, error, sizeof error) == 1);
    CHECK(std::string(error) == "there a");
}

TEST_CASE("the same input gives the same order on any number of threads" * doctest::test_suite("threads")) {
    Groups groups;
    for (std::int64_t i = 0; i < 64; ++i) groups.push_back(i * 7 % 8);
    const ProcessMap process_map = ProcessMap::from_groups(1, 0, groups);
    const auto one = order_ranks(process_map, make_pair_pattern(64, 32), "threads=1"),
               two = order_ranks(process_map, make_pair_pattern(64, 32), "threads=2");
    CHECK(one.process_of_rank == two.process_of_rank);
}

TEST_CASE("the C interface returns the process at every position of a binomial tree") {
    std::vector<double> seconds;
    const std::vector<int> group{0, 1, 0, 0, 1, 0, 1, 1};
    for (const int one : group) {
        for (const int other : group) seconds.push_back(one == other ? 1 : 2);
    }
    std::vector<std::uint32_t> order(8);
    char error[256] = "";
    CHECK(topoloom_binomial_order(8, seconds.data(), "channel-aware", 0, 2, 1, order.data(), error,
                                  sizeof error) == 0);
    CHECK(order == std::vector{0U, 3U, 1U, 6U, 2U, 5U, 4U, 7U});
    CHECK(topoloom_binomial_order(8, nullptr, "standard", 6, 1, 1, order.data(), error, sizeof error) == 0);
    CHECK(order == std::vector{6U, 7U, 0U, 1U, 2U, 3U, 4U, 5U});
    CHECK(topoloom_binomial_order(8, nullptr, "channel-aware", 0, 1, 1, order.data(), error, sizeof error) ==
          1);
    CHECK(std::string(error) == "this order depends on message costs");
}
