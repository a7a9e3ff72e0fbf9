// SPDX-License-Identifier: BSD-3-Clause
// Combined messages on a mesh with holes, and their cost compared with published equations.
#include <doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/virtual_mesh.hpp"
#include "topoloom/schedule/cost/combining_cost.hpp"

using namespace topoloom;

namespace {

AnySchedule make_combining_schedule(std::string_view name, Operation operation, std::size_t ranks) {
    return make_schedule({operation, ranks, Bytes{1}}, name);
}

std::vector<std::uint32_t> list_receivers(std::string_view name, std::size_t ranks, Rank rank,
                                          std::uint64_t round) {
    std::vector<std::uint32_t> to;
    make_combining_schedule(name, Operation::alltoall, ranks).sends(rank, round, [&](Rank peer, Bytes) {
        to.push_back(peer.value);
    });
    return to;
}

/// Additional messages that a rank receives because of holes: those from other lines of the mesh.
std::size_t max_extra_messages(std::size_t ranks, int axes) {
    const VirtualMesh mesh(ranks, axes);
    std::size_t most = 0;
    for (const Rank rank : ids<Rank>(ranks)) {
        const VirtualMesh::Cell cell = mesh.cell(rank);
        std::size_t extra = 0;
        for (std::uint64_t round = 0; round < mesh.rounds(); ++round) {
            const int axis = mesh.axis(round);
            mesh.each_sender(cell, axis, [&](const VirtualMesh::Cell& from) {
                extra += axis != 2 && from[2] != cell[2] ? 1 : 0;
            });
        }
        most = std::max(most, extra);
    }
    return most;
}

struct MessageCounts {
    double messages = 0, bytes = 0, copied = 0;
};

/// The largest numbers of messages, bytes and copied bytes of a rank, summed over rounds. A block has one
/// byte.
MessageCounts count_messages(const AnySchedule& any) {
    MessageCounts all;
    for (std::uint64_t round = 0; round < any.rounds(); ++round) {
        MessageCounts most;
        any.busiest_senders(round, [&](Rank rank) {
            MessageCounts now;
            any.sends(rank, round, [&](Rank, Bytes bytes) {
                now.messages += 1;
                now.bytes += static_cast<double>(bytes.value);
            });
            now.copied = static_cast<double>(copies(any, rank, round).bytes.value);
            most = {std::max(most.messages, now.messages), std::max(most.bytes, now.bytes),
                    std::max(most.copied, now.copied)};
        });
        all = {all.messages + most.messages, all.bytes + most.bytes, all.copied + most.copied};
    }
    return all;
}

MessageCounts count_messages(std::string_view name, Operation operation, std::size_t ranks) {
    return count_messages(make_combining_schedule(name, operation, ranks));
}

bool is_power(std::size_t ranks, int of) {
    const auto root = std::lround(std::pow(static_cast<double>(ranks), 1.0 / of));
    return static_cast<std::size_t>(of == 2 ? root * root : root * root * root) == ranks;
}

constexpr CombiningCosts per_message{.alpha = 1};
constexpr CombiningCosts byte{.beta = 1};
constexpr CombiningCosts copy{.gamma = 1};

}  // namespace

TEST_CASE("a rank sends to its neighbor first, and data for a hole to the replacement cell") {
    CHECK(list_receivers("mesh", 14, Rank{12}, 0) == std::vector{13U, 2U, 3U});
    CHECK(list_receivers("mesh", 14, Rank{13}, 0) == std::vector{6U, 7U, 12U});
    CHECK(list_receivers("grid", 23, Rank{20}, 1) == std::vector{5U, 8U});
}

TEST_CASE("holes cost a rank at most 2 more messages on 2 axes, and 4 on 3 axes") {
    for (std::size_t ranks = 2; ranks <= 1500; ++ranks) {
        const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(ranks))));
        CAPTURE(ranks);
        const std::size_t extra = max_extra_messages(ranks, 2);
        CHECK(extra <= 2);
        CHECK((extra == 2) == (ranks == side * (side - 1) - 1));
        CHECK(max_extra_messages(ranks, 3) <= (ranks == 30 ? 5 : ranks == 31 ? 6 : 4));
    }
}

TEST_CASE(
    "counted messages and bytes equal those of the published equations, up to small differences with holes") {
    using enum Operation;
    const auto messages = [](const auto& time, CombiningStrategy strategy, std::size_t ranks) {
        return time(strategy, ranks, 1.0, per_message, FormulaVariant::counted);
    };
    const auto bytes = [](const auto& time, CombiningStrategy strategy, std::size_t ranks) {
        return time(strategy, ranks, 1.0, byte, FormulaVariant::counted);
    };
    for (std::size_t ranks = 2; ranks <= 300; ++ranks) {
        CAPTURE(ranks);
        const double side = std::ceil(std::sqrt(static_cast<double>(ranks)));
        const double edge = std::ceil(std::cbrt(static_cast<double>(ranks)) - 1e-9);
        MessageCounts found = count_messages("mesh", alltoall, ranks);
        const double more = is_power(ranks, 2) ? 0 : 1;
        CHECK(found.messages <= messages(alltoall_time, CombiningStrategy::mesh, ranks));
        CHECK(found.messages >= messages(alltoall_time, CombiningStrategy::mesh, ranks) - more);
        CHECK(found.bytes <= bytes(alltoall_time, CombiningStrategy::mesh, ranks));
        CHECK(found.bytes >= bytes(alltoall_time, CombiningStrategy::mesh, ranks) - more * 2 * side);
        found = count_messages("mesh", allgather, ranks);
        CHECK(std::abs(found.bytes - bytes(allgather_time, CombiningStrategy::mesh, ranks)) <= more * side);

        found = count_messages("grid", alltoall, ranks);
        const double holes = is_power(ranks, 3) ? 0 : 1;
        CHECK(found.messages <= messages(alltoall_time, CombiningStrategy::grid, ranks));
        CHECK(found.messages >= messages(alltoall_time, CombiningStrategy::grid, ranks) - holes * 5);
        CHECK(found.bytes <= bytes(alltoall_time, CombiningStrategy::grid, ranks));
        CHECK(found.bytes >= bytes(alltoall_time, CombiningStrategy::grid, ranks) - holes * 5 * edge * edge);
        found = count_messages("grid", allgather, ranks);
        CHECK(std::abs(found.bytes - bytes(allgather_time, CombiningStrategy::grid, ranks)) <=
              holes * (edge * edge + 1));

        found = count_messages("hypercube", alltoall, ranks);
        const bool full = (ranks & (ranks - 1)) == 0;
        CHECK(found.messages == messages(alltoall_time, CombiningStrategy::hypercube, ranks));
        CHECK(found.copied == found.bytes);
        CHECK(copy.gamma * alltoall_time(CombiningStrategy::hypercube, ranks, 1, copy) ==
              bytes(alltoall_time, CombiningStrategy::hypercube, ranks));
        const double part = found.bytes / bytes(alltoall_time, CombiningStrategy::hypercube, ranks);
        CHECK(part >= (full ? 1 : 0.78));
        CHECK(part <= (full ? 1 : 1.13));
        found = count_messages("hypercube-direct(direct=0)", allgather, ranks);
        CHECK(found.messages == messages(allgather_time, CombiningStrategy::hypercube, ranks));
        CHECK(found.bytes <= bytes(allgather_time, CombiningStrategy::hypercube, ranks));
        CHECK(found.bytes >= (full ? 1 : 0.5) * bytes(allgather_time, CombiningStrategy::hypercube, ranks));
    }
}

TEST_CASE("direct sends in the last d dimensions take 2^d - 1 - d more messages, but copy less") {
    for (const auto& [name, more] :
         {std::pair("hypercube-direct(direct=2)", 1.0), {"hypercube-direct", 4.0}}) {
        const MessageCounts pure = count_messages("hypercube-direct(direct=0)", Operation::allgather, 64);
        const MessageCounts found = count_messages(name, Operation::allgather, 64);
        CHECK(found.messages == pure.messages + more);
        CHECK(found.bytes == pure.bytes);
        CHECK(found.copied < pure.copied);
        const auto direct = more == 1 ? 2U : 3U;
        CHECK(found.messages == nic_allgather_time(CombiningStrategy::hypercube, 64, 1, per_message, direct));
        CHECK(found.copied == nic_allgather_time(CombiningStrategy::hypercube, 64, 1, copy, direct));
    }
}

TEST_CASE("direct messages and a square mesh cost the same at alpha / beta bytes, for any number of ranks") {
    const CombiningCosts costs{.alpha = 11e-6, .beta = 8e-9};
    for (const std::size_t side : {2U, 5U, 16U, 32U}) {
        const std::size_t ranks = side * side;
        CHECK(alltoall_time(CombiningStrategy::direct, ranks, 1375, costs) ==
              doctest::Approx(alltoall_time(CombiningStrategy::mesh, ranks, 1375, costs)));
        CHECK(alltoall_time(CombiningStrategy::direct, ranks, 1376, costs) <
              alltoall_time(CombiningStrategy::mesh, ranks, 1376, costs));
    }
}

TEST_CASE("the best many-to-many strategy of 2048 ranks depends on degree and size") {
    const auto best = [](double degree, double bytes, const CombiningCosts& costs) {
        CombiningStrategy found = CombiningStrategy::direct;
        for (const CombiningStrategy other : {CombiningStrategy::mesh, CombiningStrategy::grid}) {
            if (many_to_many_time(other, 2048, degree, bytes, costs) <
                many_to_many_time(found, 2048, degree, bytes, costs))
                found = other;
        }
        return found;
    };
    const CombiningCosts small{.alpha = 11e-6, .beta = 8e-9};
    const CombiningCosts large{.alpha = 16e-6, .beta = 5e-9};
    CHECK(best(32, 76, small) == CombiningStrategy::direct);
    CHECK(best(64, 76, small) == CombiningStrategy::grid);
    CHECK(best(512, 76, small) == CombiningStrategy::grid);
    CHECK(best(64, 476, large) == CombiningStrategy::grid);
    CHECK(best(352, 476, large) == CombiningStrategy::grid);
    CHECK(best(353, 476, large) == CombiningStrategy::mesh);
    CHECK(best(1024, 476, large) == CombiningStrategy::mesh);
    CHECK(many_to_many_time(CombiningStrategy::hypercube, 2048, 2048, 8, byte) ==
          doctest::Approx(alltoall_time(CombiningStrategy::hypercube, 2048, 8, byte)));
    CHECK(many_to_many_time(CombiningStrategy::hypercube, 2048, 64, 8, byte, FormulaVariant::printed) ==
          2 * many_to_many_time(CombiningStrategy::hypercube, 2048, 64, 8, byte));
}

TEST_CASE(
    "a many-to-many has as many messages as the alltoall, and at most the bytes of the printed equation") {
    const auto demand = std::make_shared<Demand>(64, 16, Bytes{1});
    for (const std::string_view name : {"mesh", "grid", "hypercube"}) {
        const MessageCounts all = count_messages(name, Operation::alltoall, 64);
        const MessageCounts many =
            count_messages(make_schedule({Operation::many_to_many, 64, Bytes{1}, Rank{0}, demand}, name));
        CHECK(many.messages == all.messages);
        CHECK(many.bytes <= many_to_many_time(name == "mesh"   ? CombiningStrategy::mesh
                                              : name == "grid" ? CombiningStrategy::grid
                                                               : CombiningStrategy::hypercube,
                                              64, 16, 1, byte, FormulaVariant::printed));
    }
}

TEST_CASE("schedules of a million ranks can be enumerated, because they store no messages") {
    using enum Operation;
    for (const std::string_view name : {"mesh", "grid", "hypercube"})
        CHECK(count_messages(name, alltoall, 1'000'000).bytes > 1'000'000);
    CHECK(count_messages("mesh", alltoall, 1'000'000).bytes == 2.0 * 999 * 1000);
}

TEST_CASE("an impossible demand is refused") {
    CHECK_THROWS_WITH(Demand(4, 4, Bytes{1}),
                      "many-to-many: 4 partners of each of 4 ranks; there are 0 to 3");
    CHECK_THROWS_WITH(Demand(4, 1, Bytes{-1}),
                      "many-to-many: -1 bytes per pair; there must be 0 or more, at most 2^62 per rank");
    CHECK_THROWS_WITH(Collective(Operation::many_to_many, 4, Bytes{1}),
                      "many-to-many: it needs a demand: the ranks to which each rank sends");
    CHECK_THROWS_WITH((void)alltoall_time(CombiningStrategy::mesh, 0, 1, per_message),
                      "combining: no ranks; there must be 1 or more");
}
