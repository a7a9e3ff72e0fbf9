// SPDX-License-Identifier: BSD-3-Clause
// Every schedule that is registered does what its collective promises.
#include <doctest.h>

#include <string>

#include "topoloom/base/rng.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/play.hpp"

using namespace topoloom;

namespace {

bool is_rooted(Operation operation) {
    using enum Operation;
    return operation == broadcast || operation == reduce || operation == scatter || operation == gather;
}

bool is_many(Operation operation) {
    return operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
}

/// Regular for even numbers of ranks; else of uneven sizes, where some want nothing and some data are wanted by nobody.
std::shared_ptr<const Demand> demand_of(std::size_t ranks, Bytes bytes) {
    if (ranks % 2 == 0) return std::make_shared<Demand>(ranks, std::min(ranks - 1, 1 + ranks / 3), bytes);
    Rng rng(ranks);
    const auto any = [&] { return Rank{rng.below(static_cast<std::uint32_t>(ranks))}; };
    std::vector<Rank> from, to;
    std::vector<Bytes> sizes;
    for (std::size_t i = 0; i < 2 * ranks; ++i) {
        from.push_back(any());
        to.push_back(any());
        sizes.push_back(bytes + Bytes{static_cast<std::int64_t>(rng.below(100))});
    }
    return std::make_shared<Demand>(CommGraph::from_edges(ranks, from, to, sizes));
}

template <class Use>
void each_schedule(std::size_t ranks, Rank root, Bytes bytes, const Use& use) {
    for (const ScheduleEntry& entry : schedules()) {
        if (!entry.is_for(ranks)) continue;
        for (const Operation operation : entry.operations) {
            if (root.value > 0 && !is_rooted(operation)) continue;
            CAPTURE(entry.name);
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            const Bytes carried = operation == Operation::barrier ? Bytes{0} : bytes;
            const auto demand = is_many(operation) ? demand_of(ranks, bytes) : nullptr;
            with_schedule(make_schedule({operation, ranks, carried, root, demand}, entry.name), use);
        }
    }
}

/// What a rank's sends take where a message of so many bytes takes alpha + beta bytes, and larger ones a little less.
template <Schedule S>
double send_time(const S& schedule, Rank rank, std::uint64_t round, double alpha, double beta) {
    double time = 0;
    schedule.sends(rank, round, [&](Rank, Bytes bytes) {
        const auto size = static_cast<double>(bytes.value);
        time += alpha + beta * size - (size > 1000 ? beta * (size - 1000) / 2 : 0);
    });
    return time;
}

}  // namespace

TEST_CASE("every schedule does what its collective promises, whatever the number of ranks") {
    for (std::size_t ranks = 1; ranks <= 130; ++ranks) {
        each_schedule(ranks, Rank{0}, Bytes{101}, [](const auto& schedule) { check_schedule(schedule); });
    }
}

TEST_CASE("and whatever the root, and for more ranks") {
    Rng rng(7);
    for (int i = 0; i < 12; ++i) {
        const std::size_t ranks = 2 + rng.below(i < 10 ? 60 : 250);
        const Rank root{rng.below(static_cast<std::uint32_t>(ranks))};
        each_schedule(ranks, root, Bytes{static_cast<std::int64_t>(rng.below(5000))},
                      [](const auto& schedule) { check_schedule(schedule); });
    }
}

TEST_CASE("the busiest ranks of a round are among those that are named") {
    for (const std::size_t ranks : {2U, 3U, 7U, 8U, 12U, 13U, 14U, 23U, 64U, 65U, 99U, 128U}) {
        each_schedule(ranks, Rank{ranks / 3}, Bytes{300}, [&](const auto& schedule) {
            for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {0.0, 1.0}, {50.0, 1.0}}) {
                for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
                    double most = 0;
                    for (const Rank rank : ids<Rank>(ranks))
                        most = std::max(most, send_time(schedule, rank, round, alpha, beta));
                    double named = 0;
                    schedule.busiest(round, [&](Rank rank) {
                        named = std::max(named, send_time(schedule, rank, round, alpha, beta));
                    });
                    CHECK(named == doctest::Approx(most));
                }
            }
        });
    }
}

TEST_CASE("those that send in a round are all named, once") {
    for (const std::size_t ranks : {1U, 2U, 5U, 8U, 13U}) {
        each_schedule(ranks, Rank{ranks / 2}, Bytes{20'000}, [&](const auto& schedule) {
            for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
                std::vector<int> named(ranks);
                each_sender(schedule, round, [&](Rank rank) { ++named[rank.value]; });
                for (const Rank rank : ids<Rank>(ranks)) {
                    CHECK(named[rank.value] <= 1);
                    if (named[rank.value] == 0)
                        schedule.sends(rank, round, [](Rank, Bytes) { FAIL("not named"); });
                }
            }
        });
    }
}
