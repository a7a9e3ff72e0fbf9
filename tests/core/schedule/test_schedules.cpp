// SPDX-License-Identifier: BSD-3-Clause
// Every registered schedule performs its collective.
#include <doctest.h>

#include <bit>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../base/sanitized.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

using namespace topoloom;

namespace {

bool is_rooted(Operation operation) {
    using enum Operation;
    return operation == bcast || operation == reduce || operation == scatter || operation == gather;
}

bool is_many_to_many_operation(Operation operation) {
    return operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
}

/// A regular demand for even numbers of ranks. For odd numbers, an uneven demand in which some ranks receive
/// nothing.
std::shared_ptr<const Demand> make_demand(std::size_t ranks, Bytes bytes) {
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

/// A schedule with options that change its messages.
struct ScheduleVariant {
    std::string_view text;
    std::vector<Operation> operations;
    bool powers_of_two_only = false;
};

const std::vector<ScheduleVariant>& variants() {
    using enum Operation;
    static const std::vector<ScheduleVariant> list{
        {"recursive-doubling(fold=even)", {allgather, allreduce}},
        {"recursive-doubling(fold=odd)", {allgather, allreduce}},
        {"recursive-doubling(radix=3)", {allgather, allreduce}},
        {"recursive-doubling(radix=4,fold=odd)", {allgather, allreduce}},
        {"recursive-doubling(radix=7,fold=even)", {allgather, allreduce}},
        {"binomial(radix=3)", {bcast, reduce, scatter, gather}},
        {"binomial(radix=4)", {bcast, reduce, scatter, gather}},
        {"binomial(radix=1000)", {bcast, reduce, scatter, gather}},
        {"bruck(radix=3)", {allgather, alltoall}},
        {"bruck(radix=4)", {allgather, alltoall}},
        {"bruck(radix=1073741824)", {allgather, alltoall}},
        {"chain(segment=40)", {bcast, reduce}},
        {"two-trees(segment=7)", {bcast, reduce}},
        {"two-trees(segment=40)", {bcast, reduce}},
        {"two-trees(segment=101)", {bcast, reduce}},
        {"disjoint-trees(segment=3)", {bcast, reduce}},
        {"disjoint-trees(segment=40)", {bcast, reduce}},
        {"disjoint-trees(lines=open,segment=4)", {bcast, reduce}},
        {"dissemination(radix=3)", {barrier}},
        {"dissemination(radix=5)", {barrier}},
        {"halving(fold=even)", {reduce_scatter, allreduce, reduce}},
        {"halving(fold=odd)", {reduce_scatter, allreduce, reduce}},
        {"halving(order=near)", {allreduce, reduce}},
        {"halving(cut=last)", {allreduce, reduce}},
        {"halving(fold=even,order=near,cut=last)", {allreduce, reduce}},
        {"halving(fold=odd,order=near,cut=last)", {allreduce, reduce}},
        {"scatter-allgather(cut=rounded-up)", {bcast, reduce}},
        {"scatter-allgather(gather=doubling)", {bcast, reduce}, true},
        {"scatter-allgather(gather=doubling,cut=rounded-up)", {bcast, reduce}, true},
    };
    return list;
}

template <class Use>
void for_each_variant(std::size_t ranks, Rank root, Bytes bytes, const Use& use) {
    for (const ScheduleVariant& variant : variants()) {
        if (variant.powers_of_two_only && !std::has_single_bit(ranks)) continue;
        for (const Operation operation : variant.operations) {
            if (root.value > 0 && !is_rooted(operation)) continue;
            CAPTURE(variant.text);
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            const Bytes carried = operation == Operation::barrier ? Bytes{0} : bytes;
            use(make_schedule({operation, ranks, carried, root}, variant.text));
        }
    }
}

/// Collectives with blocks of different sizes, and bytes that do not divide evenly.
template <class Use>
void for_each_uneven_schedule(std::size_t ranks, Bytes bytes, const Use& use) {
    using enum Operation;
    const std::vector<ScheduleVariant> list{
        {"ring", {allgather, reduce_scatter}},
        {"recursive-doubling", {allgather}},
        {"recursive-doubling(fold=even)", {allgather}},
        {"recursive-doubling(radix=3,fold=odd)", {allgather}},
        {"bine", {allgather, reduce_scatter}},
        {"bruck", {allgather}},
        {"bruck(radix=4)", {allgather}},
        {"halving", {reduce_scatter}},
        {"halving(fold=even)", {reduce_scatter}},
        {"cyclic", {allgather, reduce_scatter}},
        {"pairwise", {allgather, reduce_scatter}},
        {"at-once", {allgather, reduce_scatter}},
    };
    for (const ScheduleVariant& variant : list) {
        for (const Operation operation : variant.operations) {
            CAPTURE(variant.text);
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            const Call call{.operation = operation, .ranks = ranks, .bytes = bytes, .in_all = true};
            use(make_schedule(call, variant.text));
        }
    }
}

/// The schedule with numbered seats for ranks: every third seat is empty, and so are two at the end.
std::string with_empty_seats(std::string_view schedule, std::size_t ranks) {
    std::string text;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        text += (rank == 0 ? "" : ":") + std::to_string(rank + rank / 2);
    return std::string(schedule) + "(seats=" + text + "/" + std::to_string(2 + ranks + ranks / 2) + ")";
}

template <class Use>
void for_each_schedule_with_seats(std::size_t ranks, Bytes bytes, const Use& use) {
    for (const std::string_view name : {"cyclic", "pairwise"}) {
        for (const Operation operation :
             {Operation::alltoall, Operation::allgather, Operation::reduce_scatter}) {
            CAPTURE(name);
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            use(make_schedule({operation, ranks, bytes}, with_empty_seats(name, ranks)));
        }
    }
}

template <class Use>
void for_each_schedule(std::size_t ranks, Rank root, Bytes bytes, const Use& use) {
    for_each_variant(ranks, root, bytes, use);
    if (root.value == 0) for_each_uneven_schedule(ranks, bytes, use);
    if (root.value == 0) for_each_schedule_with_seats(ranks, bytes, use);
    for (const ScheduleEntry& entry : schedules()) {
        if (!entry.supports_ranks(ranks)) continue;
        for (const Operation operation : entry.operations) {
            if (root.value > 0 && !is_rooted(operation)) continue;
            CAPTURE(entry.name);
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            const Bytes carried = operation == Operation::barrier ? Bytes{0} : bytes;
            const auto demand = is_many_to_many_operation(operation) ? make_demand(ranks, bytes) : nullptr;
            use(make_schedule({operation, ranks, carried, root, demand}, entry.name));
        }
    }
}

/// The time of a rank's sends: alpha + beta * bytes per message, and less for bytes beyond 1000.
template <Schedule S>
double send_time(const S& schedule, Rank rank, std::uint64_t round, double alpha, double beta) {
    double time = 0;
    schedule.sends(rank, round, [&](Rank, Bytes bytes) {
        const auto size = static_cast<double>(bytes.value);
        time += alpha + beta * size - (size > 1000 ? beta * (size - 1000) / 2 : 0);
    });
    return time;
}

RankWork work_of(const AnySchedule& schedule, Rank rank, std::uint64_t round) {
    RankWork work;
    work.transfer = schedule.transfer(round);
    work.is_pipelined = schedule.is_pipelined(round);
    work.has_barrier = schedule.has_barrier(round);
    work.staged_bytes = schedule.staged_bytes(rank, round);
    MessageSizes sends(work.sends), receives(work.receives);
    schedule.sends(rank, round, [&](Rank, Bytes bytes) { sends.add(bytes); });
    schedule.receives(rank, round, [&](Rank, Bytes bytes) { receives.add(bytes); });
    sends.finish();
    receives.finish();
    if (!work.sends.is_empty()) work.copies = schedule.copies(rank, round);
    return work;
}

}  // namespace

TEST_CASE("every schedule performs its collective, for any number of ranks") {
    for (std::size_t ranks = 1; ranks <= 130; ranks += is_sanitized ? 3 : 1) {
        for_each_schedule(ranks, Rank{0}, Bytes{101}, [](const auto& schedule) { check_schedule(schedule); });
    }
}

TEST_CASE("every schedule performs its collective for any root, and for more ranks") {
    Rng rng(7);
    for (int i = 0; i < 12; ++i) {
        const std::size_t ranks = 2 + rng.below(i < 10 ? 60 : 250);
        const Rank root{rng.below(static_cast<std::uint32_t>(ranks))};
        for_each_schedule(ranks, root, Bytes{static_cast<std::int64_t>(rng.below(5000))},
                          [](const auto& schedule) { check_schedule(schedule); });
    }
}

TEST_CASE("busiest_senders() includes a busiest rank of the round, for any costs") {
    for (const std::size_t ranks : {2U, 3U, 7U, 8U, 12U, 13U, 14U, 23U, 64U, 65U, 99U, 128U}) {
        for_each_schedule(ranks, Rank{ranks / 3}, Bytes{300}, [&](const auto& schedule) {
            for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {0.0, 1.0}, {50.0, 1.0}}) {
                for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
                    double most = 0;
                    for (const Rank rank : ids<Rank>(ranks))
                        most = std::max(most, send_time(schedule, rank, round, alpha, beta));
                    double named = 0;
                    schedule.busiest_senders(round, [&](Rank rank) {
                        named = std::max(named, send_time(schedule, rank, round, alpha, beta));
                    });
                    CHECK(named == doctest::Approx(most));
                }
            }
        });
    }
}

TEST_CASE("senders() lists all senders of a round once") {
    for (const std::size_t ranks : {1U, 2U, 5U, 8U, 13U}) {
        for_each_schedule(ranks, Rank{ranks / 2}, Bytes{20'000}, [&](const auto& schedule) {
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

TEST_CASE("messages() lists the sends of all senders of its rounds") {
    for (const std::size_t ranks : {1U, 2U, 5U, 13U, 23U}) {
        for_each_schedule(ranks, Rank{ranks / 2}, Bytes{1009}, [&](const AnySchedule& schedule) {
            const std::uint64_t end = schedule.rounds(), begin = end / 3;
            std::vector<MessageKey> sent, listed;
            for (std::uint64_t round = begin; round < end; ++round) {
                each_sender(schedule, round, [&](Rank from) {
                    schedule.sends(from, round,
                                   [&](Rank to, Bytes bytes) { sent.push_back({from, to, bytes}); });
                });
            }
            schedule.messages(begin, end, [&](std::span<const SentMessage> batch) {
                for (const auto& [from, to, bytes] : batch) listed.push_back({from, to, bytes});
            });
            CHECK(listed == sent);
        });
    }
}

TEST_CASE("busiest_work() joins the rounds of busiest_senders() with equal work") {
    for (const std::size_t ranks : {1U, 2U, 5U, 8U, 13U}) {
        for_each_schedule(ranks, Rank{ranks / 2}, Bytes{1009}, [&](const AnySchedule& schedule) {
            std::vector<std::vector<RankWork>> expected(schedule.rounds()), found(schedule.rounds());
            for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
                schedule.busiest_senders(round, [&](Rank rank) {
                    const RankWork work = work_of(schedule, rank, round);
                    // Ranks of a round that follow each other are joined, too.
                    if (expected[round].empty() || expected[round].back() != work)
                        expected[round].push_back(work);
                });
            }
            std::uint64_t last = 0;
            const auto expand = [&](const RankWork& work, std::uint64_t first, std::uint64_t count) {
                CHECK((first == last || first == last + 1));
                for (last = first; last + 1 < first + count; ++last) found[last].push_back(work);
                found[last].push_back(work);
            };
            schedule.busiest_work(0, schedule.rounds(), expand);
            CHECK(found == expected);
        });
    }
}

TEST_CASE("totals() equals the sum of a rank's sends over its rounds") {
    using Sums = std::map<Rank, std::pair<Bytes, std::int64_t>>;
    for (const std::size_t ranks : {1U, 2U, 3U, 5U, 8U, 13U, 16U}) {
        for (const Rank root : {Rank{0}, Rank{ranks - 1}}) {
            for_each_schedule(ranks, root, Bytes{1009}, [&](const auto& schedule) {
                for (const Rank rank : ids<Rank>(ranks)) {
                    Sums sums, totals;
                    const auto add = [](Sums& to, Rank peer, Bytes bytes, std::int64_t messages) {
                        to[peer].first += bytes;
                        to[peer].second += messages;
                    };
                    for (std::uint64_t round = 0; round < schedule.rounds(); ++round)
                        schedule.sends(rank, round, [&](Rank to, Bytes bytes) { add(sums, to, bytes, 1); });
                    each_total(schedule, rank, [&](Rank to, Bytes bytes, std::int64_t messages) {
                        add(totals, to, bytes, messages);
                    });
                    CHECK(totals == sums);
                }
            });
        }
    }
}

TEST_CASE("options that a collective or a number of ranks does not permit are refused") {
    const Call scatter{Operation::reduce_scatter, 12, Bytes{8}};
    CHECK_THROWS_AS((void)make_schedule(scatter, "halving(order=near)"), Error);
    CHECK_THROWS_AS((void)make_schedule(scatter, "halving(cut=last)"), Error);
    const Call bcast{Operation::bcast, 12, Bytes{8}};
    CHECK_THROWS_WITH_AS(
        (void)make_schedule(bcast, "scatter-allgather(gather=doubling)"),
        "schedule 'scatter-allgather(gather=doubling)' is for powers of two of ranks, not for 12", Error);
}

TEST_CASE(
    "bytes of all ranks can be given for allgather and reduce_scatter; some schedules cannot divide them") {
    const auto call = [](Operation operation, std::int64_t bytes) {
        return Call{.operation = operation, .ranks = 6, .bytes = Bytes{bytes}, .in_all = true};
    };
    CHECK_THROWS_AS((void)make_schedule(call(Operation::bcast, 12), "binomial"), Error);
    CHECK_THROWS_WITH_AS(
        (void)make_schedule(call(Operation::allgather, 13), "neighbor-exchange"),
        "schedule 'neighbor-exchange' requires equal blocks; 13 bytes are not divisible by 6", Error);
    const AnySchedule schedule = make_schedule(call(Operation::allgather, 12), "neighbor-exchange");
    CHECK(schedule.collective().bytes() == Bytes{2});
    check_schedule(schedule);
}

TEST_CASE("with at-once, every rank first sends to the rank half of all ranks away") {
    const auto peers = [](std::size_t ranks) {
        std::vector<std::uint32_t> found;
        make_schedule({Operation::alltoall, ranks, Bytes{1}}, "at-once")
            .sends(Rank{1}, 0, [&](Rank peer, Bytes) { found.push_back(peer.value); });
        return found;
    };
    CHECK(peers(2) == std::vector<std::uint32_t>{0});
    CHECK(peers(6) == std::vector<std::uint32_t>{4, 5, 0, 2, 3});
    CHECK(peers(5) == std::vector<std::uint32_t>{4, 0, 2, 3});
}
