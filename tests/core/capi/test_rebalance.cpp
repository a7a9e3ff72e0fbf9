// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <string>
#include <vector>

#include "topoloom/capi/topoloom_rebalance.h"

namespace {

/// A ring of objects, each of which sends 100 bytes to the next, on four processes of a mesh of 2 x 2 nodes.
struct ObjectRing {
    explicit ObjectRing(std::vector<std::uint32_t> present, std::vector<std::int64_t> nodes = {0, 1, 2, 3})
        : process(std::move(present)) {
        const std::size_t objects = process.size();
        for (std::size_t i = 0; i < objects; ++i) {
            first.push_back(i);
            peers.push_back(static_cast<std::uint32_t>((i + 1) % objects));
        }
        first.push_back(objects);
        bytes.assign(objects, 100);
        seconds.assign(objects, 1);
        moved_bytes.assign(objects, 1000);
        REQUIRE(topoloom_process_map_on_machine("mesh:2x2", 4, 1, nodes.data(), &process_map, error,
                                                sizeof error) == 0);
    }
    ~ObjectRing() { topoloom_process_map_free(process_map); }
    ObjectRing(const ObjectRing&) = delete;
    ObjectRing& operator=(const ObjectRing&) = delete;

    bool rebalance(const char* policy, topoloom_rebalance_options options = {0, 1, 0.05, 1}) {
        const topoloom_objects objects{{process.size(), first.data(), peers.data(), bytes.data()},
                                       seconds.data(),
                                       moved_bytes.data(),
                                       process.data(),
                                       is_proxied.empty() ? nullptr : is_proxied.data()};
        found.assign(process.size(), 99);
        return topoloom_rebalance(process_map, &objects, policy, &options, found.data(), &result, error,
                                  sizeof error) == 0;
    }

    topoloom_process_map* process_map = nullptr;
    std::vector<std::uint64_t> first;
    std::vector<std::uint32_t> peers, process, found;
    std::vector<std::int64_t> bytes, moved_bytes;
    std::vector<double> seconds;
    std::vector<std::uint8_t> is_proxied;
    topoloom_rebalance_result result{};
    char error[256] = "";
};

}  // namespace

TEST_CASE("processes that are all on one node of a machine without distances in nodes are refused") {
    ObjectRing one_node({0, 1, 2, 3}, {2, 2, 2, 2});
    CHECK_FALSE(one_node.rebalance("place"));
    CHECK(std::string(one_node.error).starts_with("all 4 processes are on node 2 of mesh:2x2"));
}

TEST_CASE("policies balance loads") {
    for (const char* policy : {"greedy", "few-bytes", "alias", "diffusion", "repartition", "place"}) {
        INFO(std::string(policy));
        ObjectRing ring({0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3});
        REQUIRE(ring.rebalance(policy));
        CHECK(ring.result.busiest_before == 6);
        // Further diffusion would move half an object.
        CHECK(ring.result.busiest_after == (std::string(policy) == "diffusion" ? 4 : 3));
        CHECK(ring.result.average == 3);
        CHECK(ring.result.moved_bytes == 1000 * ring.result.moved);
    }
}

TEST_CASE("objects stay if moving gains less than it costs") {
    const std::vector<std::uint32_t> uneven{0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3};
    ObjectRing ring(uneven);
    REQUIRE(ring.rebalance("none"));
    CHECK(ring.found == uneven);
    // Each period gains three seconds, and three objects leave process 0.
    REQUIRE(ring.rebalance("greedy", {1.1e-3, 1, 0.05, 1}));
    CHECK(ring.result.moved == 0);
    REQUIRE(ring.rebalance("greedy", {1.1e-3, 2, 0.05, 1}));
    CHECK(ring.result.moved == 3);
    ObjectRing even({0, 1, 2, 3, 0, 1, 2, 3});
    REQUIRE(even.rebalance("alias"));
    CHECK(even.found == even.process);
}

TEST_CASE("neighboring objects are moved to the same process") {
    for (const char* policy : {"place", "repartition"}) {
        INFO(std::string(policy));
        ObjectRing ring({0, 3, 0, 3, 1, 2, 1, 2});
        REQUIRE(ring.rebalance(policy, {0, 1000, 0.05, 1}));
        CHECK(ring.result.busiest_after == 2);
        // Two objects on each process, and messages only between neighboring processes: four messages over
        // one link.
        CHECK(ring.result.hop_bytes_after == 400);
        CHECK(ring.result.hop_bytes_before > 1000);
    }
}

TEST_CASE("messages between a proxied object and a process count once") {
    // Object 0 sends to three objects at one hop and to one object at two hops; all reply.
    ObjectRing star({0, 1, 1, 1, 3});
    star.first = {0, 4, 5, 6, 7, 8};
    star.peers = {1, 2, 3, 4, 0, 0, 0, 0};
    star.bytes = {100, 100, 100, 100, 10, 10, 10, 10};
    REQUIRE(star.rebalance("none"));
    CHECK(star.result.hop_bytes_before == 3 * 110 + 2 * 110);
    star.is_proxied = {1, 0, 0, 0, 0};
    REQUIRE(star.rebalance("none"));
    CHECK(star.result.hop_bytes_before == 110 + 2 * 110);
    REQUIRE(star.rebalance("place", {0, 1000, 1, 1}));
    CHECK(star.result.hop_bytes_after <= star.result.hop_bytes_before);
}

TEST_CASE("errors name invalid policies and processes") {
    ObjectRing ring({0, 1, 2, 3});
    CHECK_FALSE(ring.rebalance("gredy"));
    CHECK(std::string(ring.error).starts_with("no policy 'gredy' (did you mean 'greedy'?)"));
    CHECK_FALSE(ring.rebalance("alias(no=1)"));
    CHECK_FALSE(ring.rebalance("bricks"));
    ObjectRing outside({0, 4});
    CHECK_FALSE(outside.rebalance("greedy"));
    CHECK(std::string(outside.error) == "object 1 is on process 4, and there are 4");
}
