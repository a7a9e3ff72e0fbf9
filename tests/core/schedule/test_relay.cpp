// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <bit>
#include <string>
#include <vector>

#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/relay.hpp"

using namespace topoloom;

namespace {

/// The ranks to which rank 0 sends, in order.
std::vector<std::uint32_t> peers_of_rank_0(std::size_t ranks, std::string_view schedule) {
    std::vector<std::uint32_t> peers;
    const AnySchedule relay = make_schedule({Operation::allgather, ranks, Bytes{1}}, schedule);
    for (std::uint64_t round = 0; round < relay.rounds(); ++round)
        relay.sends(Rank{0}, round, [&](Rank peer, Bytes) { peers.push_back(peer.value); });
    return peers;
}

}  // namespace

TEST_CASE("relay schedules bring every block to every rank, for any supported k and any number of ranks") {
    for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
        for (const std::size_t k : {1, 2, 3, 4, 5, 8, 16, 64}) {
            for (const RelayOrder order : {RelayOrder::prefix, RelayOrder::shift}) {
                const std::string name = order == RelayOrder::prefix ? "k-prefix" : "k-shift";
                for (const char* barrier : {"message", "stop"}) {
                    const auto make = [&] {
                        return make_schedule({Operation::allgather, ranks, Bytes{7}},
                                             name + "(k=" + std::to_string(k) + ",barrier=" + barrier + ")");
                    };
                    const bool divides = std::has_single_bit(k) && ranks % k == 0;
                    if (order == RelayOrder::prefix ? divides : k <= ranks)
                        check_schedule(make());
                    else
                        CHECK_THROWS_WITH_AS(make(), doctest::Contains("is the largest"), Error);
                }
            }
        }
    }
}

TEST_CASE("every rank sends to each of the k ranks around a stop, and then forwards the block by k ranks") {
    using Peers = std::vector<std::uint32_t>;
    CHECK(peers_of_rank_0(8, "k-shift(k=4)") == Peers{6, 7, 1, 4, 6, 7, 1});
    CHECK(peers_of_rank_0(8, "k-prefix(k=4)") == Peers{1, 2, 3, 4, 1, 2, 3});
    CHECK(peers_of_rank_0(8, "k-prefix(k=1)") == Peers(7, 1));
    // The last stop is incomplete: of the 4 ranks after rank 4, only rank 5 still lacks the block.
    CHECK(peers_of_rank_0(9, "k-shift(k=8)") == Peers{5, 6, 7, 8, 1, 2, 3, 5});
    CHECK(peers_of_rank_0(6, "k-prefix") == Peers{1, 2, 1, 2, 1});
}

TEST_CASE("with a barrier per stop, each stop is a round of k messages") {
    const auto rounds = [](std::string_view text) {
        return make_schedule({Operation::allgather, 64, Bytes{1}}, text).rounds();
    };
    CHECK(rounds("k-prefix") == 63);
    CHECK(rounds("k-prefix(barrier=stop)") == 8);
    CHECK(rounds("k-shift(barrier=stop,k=16)") == 4);
}
