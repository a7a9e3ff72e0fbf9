// SPDX-License-Identifier: BSD-3-Clause
// The programs of all ranks perform the collective of their schedule.
#include <doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "execute/program_interpreter.hpp"
#include "topoloom/execute/compile.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

using namespace topoloom;

namespace {

using enum Operation;

struct ProgramCase {
    Call call;
    std::string schedule;
    bool in_place = false;
    bool in_rank_order = false;
};

bool is_rooted(Operation operation) {
    return operation == bcast || operation == reduce || operation == scatter || operation == gather;
}

std::size_t count_units(const Call& call) { return static_cast<std::size_t>(call.bytes.value) * call.ranks; }

/// The initial value of the i-th unit of a block on a rank.
Unit make_initial_unit(const Collective& collective, std::uint32_t rank, std::uint64_t block,
                       std::int64_t i) {
    const auto id = static_cast<std::int64_t>(block << 20) + i;
    if (!collective.reduces()) return {id, 0, 0, 0};
    return {id, contribution_weight(rank), rank, rank + 1};
}

void fill_input(RankMemory& memory, const BlockLayout& layout) {
    for (std::uint64_t block = 0; block < layout.collective().block_count(); ++block) {
        const auto first = layout.initial_location(block);
        if (!first) continue;
        for (std::int64_t i = 0; i < layout.units(block); ++i)
            memory.at(*first)[i] = make_initial_unit(layout.collective(), layout.rank().value, block, i);
    }
}

void check_result(RankMemory& memory, const BlockLayout& layout) {
    const Collective& collective = layout.collective();
    std::uint64_t weights = 0;
    const auto shares = static_cast<std::uint32_t>(collective.promised_shares(layout.rank()));
    for (std::uint32_t rank = 0; rank < shares; ++rank) weights += contribution_weight(rank);
    if (collective.reduces() && shares == 0) return;
    layout.for_each_final_block([&](std::uint64_t block) {
        for (std::int64_t i = 0; i < layout.units(block); ++i) {
            Unit expected = make_initial_unit(collective, layout.rank().value, block, i);
            if (collective.reduces()) expected = {expected.id, weights, 0, shares};
            const Unit& found = memory.at(*layout.final_location(block))[i];
            CHECK(found.id == expected.id);
            CHECK(found.weights == expected.weights);
        }
    });
}

struct TransferTotals {
    std::uint64_t messages = 0;
    std::int64_t units = 0;
};

TransferTotals count_transfers(const AnySchedule& schedule) {
    TransferTotals sum;
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
        for (const Rank rank : ids<Rank>(schedule.collective().ranks())) {
            schedule.sends(rank, round, [&](Rank, Bytes bytes) {
                if (bytes.value > 0 || schedule.collective().operation() == barrier) ++sum.messages;
                sum.units += bytes.value;
            });
        }
        if (!has_barrier(schedule, round)) continue;
        for (std::size_t step = 1; step < schedule.collective().ranks(); step *= 2)
            sum.messages += schedule.collective().ranks();
    }
    return sum;
}

void run_programs(const ProgramCase& one) {
    CAPTURE(one.schedule);
    CAPTURE(operation_name(one.call.operation));
    CAPTURE(one.call.ranks);
    CAPTURE(one.call.bytes.value);
    CAPTURE(one.call.root.value);
    CAPTURE(one.in_place);
    const AnySchedule schedule = make_schedule(one.call, one.schedule);
    const Collective& collective = schedule.collective();
    std::vector<BlockLayout> layouts;
    std::vector<RankProgram> programs;
    std::vector<RankMemory> memories(one.call.ranks);
    for (const Rank rank : ids<Rank>(one.call.ranks)) {
        // MPI_IN_PLACE applies only to the root in rooted operations, and to all ranks in others.
        const bool in_place = one.in_place && (!is_rooted(one.call.operation) || rank == one.call.root);
        layouts.emplace_back(collective, rank, in_place);
        programs.push_back(
            compile(schedule, layouts.back(), one.in_rank_order ? OperandOrder::by_rank : OperandOrder::any));
        memories[rank.value].input.resize(count_units(one.call));
        memories[rank.value].output.resize(count_units(one.call));
        fill_input(memories[rank.value], layouts.back());
    }
    ProgramInterpreter interpreter(programs, memories, one.in_rank_order,
                                   static_cast<std::uint32_t>(one.call.ranks + one.call.root.value));
    interpreter.run_programs();
    for (const Rank rank : ids<Rank>(one.call.ranks)) check_result(memories[rank.value], layouts[rank.value]);
    const TransferTotals expected = count_transfers(schedule);
    CHECK(interpreter.messages() == expected.messages);
    CHECK(interpreter.units() == expected.units);
}

const std::vector<std::size_t> rank_counts{1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24};

template <class Use>
void for_each_call(const Use& use) {
    for (const ScheduleEntry& entry : schedules()) {
        for (const Operation operation : entry.operations) {
            for (const std::size_t ranks : rank_counts) {
                if (!entry.supports_ranks(ranks)) continue;
                for (const std::int64_t units : {0, 1, 11, 40}) {
                    if (operation == barrier && units > 0) continue;
                    if (operation == many_to_many || operation == many_to_many_multicast) continue;
                    for (const std::size_t root : {std::size_t{0}, ranks / 2, ranks - 1}) {
                        if (root > 0 && (!is_rooted(operation) || units == 1)) continue;
                        use(ProgramCase{{operation, ranks, Bytes{units}, Rank{root}},
                                        std::string(entry.name)});
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("the programs of all ranks perform the collective and send the schedule's messages") {
    for_each_call([](const ProgramCase& one) { run_programs(one); });
}

TEST_CASE("results may overwrite the input") {
    for_each_call([](ProgramCase one) {
        const Operation operation = one.call.operation;
        if (operation == alltoall || operation == reduce_scatter) return;
        one.in_place = true;
        run_programs(one);
    });
}

TEST_CASE("a non-commutative operator gets its operands in rank order") {
    std::size_t checked = 0;
    for_each_call([&](ProgramCase one) {
        if (!keeps_rank_order(make_schedule(one.call, one.schedule))) return;
        one.in_rank_order = true;
        run_programs(one);
        one.in_place = one.call.operation != reduce_scatter && one.call.operation != alltoall;
        run_programs(one);
        ++checked;
    });
    CHECK(checked > 100);
}

TEST_CASE("schedules with non-default options perform their collectives") {
    for (const std::size_t ranks : rank_counts) {
        for (const std::string_view fold : {"even", "odd", "last"}) {
            const std::string options = "(fold=" + std::string(fold) + ")";
            for (const Operation operation : {allreduce, allgather})
                run_programs({{operation, ranks, Bytes{24}}, "recursive-doubling" + options});
            for (const Operation operation : {allreduce, reduce, reduce_scatter})
                run_programs({{operation, ranks, Bytes{24}}, "halving" + options});
        }
        run_programs({{bcast, ranks, Bytes{40}}, "chain(segment=7)"});
        run_programs({{reduce, ranks, Bytes{40}}, "chain(segment=7)"});
        run_programs({{bcast, ranks, Bytes{19}}, "scatter-allgather(cut=rounded-up)"});
        run_programs({{allgather, ranks, Bytes{5}}, "k-prefix(barrier=stop)"});
        for (const Operation operation : {bcast, reduce})
            run_programs({{operation, ranks, Bytes{40}, Rank{ranks / 2}}, "two-trees(segment=7)"});
        for (const std::string_view radix : {"(radix=3)", "(radix=4)", "(radix=1000)"}) {
            const std::string options(radix);
            for (const Operation operation : {bcast, reduce, scatter, gather})
                run_programs({{operation, ranks, Bytes{11}, Rank{ranks / 2}}, "binomial" + options});
            for (const Operation operation : {allgather, alltoall})
                run_programs({{operation, ranks, Bytes{11}}, "bruck" + options});
            for (const Operation operation : {allgather, allreduce})
                run_programs({{operation, ranks, Bytes{11}}, "recursive-doubling" + options});
            run_programs({{barrier, ranks, Bytes{0}}, "dissemination" + options});
        }
    }
}

TEST_CASE("exchanges between neighboring groups of ranks preserve rank order") {
    for (const std::size_t ranks : rank_counts) {
        CAPTURE(ranks);
        CHECK(keeps_rank_order(make_schedule({allreduce, ranks, Bytes{8}}, "recursive-doubling(fold=even)")));
        CHECK(keeps_rank_order(
            make_schedule({allreduce, ranks, Bytes{8}}, "recursive-doubling(fold=even,radix=3)")));
        CHECK(keeps_rank_order(make_schedule({reduce, ranks, Bytes{8}}, "binomial")));
        CHECK(keeps_rank_order(make_schedule({reduce, ranks, Bytes{8}}, "binomial(radix=4)")));
        CHECK(keeps_rank_order(make_schedule({reduce_scatter, ranks, Bytes{8}}, "at-once")));
    }
    CHECK_FALSE(keeps_rank_order(make_schedule({allreduce, 5, Bytes{8}}, "ring")));
    CHECK_FALSE(keeps_rank_order(make_schedule({reduce, 5, Bytes{8}, Rank{2}}, "binomial")));
}
