// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/execute/compile.hpp"

#include <cstdint>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/execute/program_builder.hpp"

namespace topoloom {

namespace {

/// The last round in which the rank sends, plus one.
std::uint64_t find_end_of_sends(const AnySchedule& schedule, Rank rank) {
    for (std::uint64_t round = schedule.rounds(); round > 0; --round) {
        bool sends = false;
        schedule.sends(rank, round - 1, [&](Rank, Bytes) { sends = true; });
        if (sends) return round;
    }
    return 0;
}

RankProgram compile_schedule(const AnySchedule& schedule, const BlockLayout& layout, bool in_rank_order) {
    const Rank rank = layout.rank();
    const std::uint64_t sending = find_end_of_sends(schedule, rank);
    ProgramBuilder builder(layout, in_rank_order);
    std::vector<std::uint64_t> blocks;
    const auto list = [&](Rank from, Rank to, std::uint64_t round) {
        blocks.clear();
        schedule.blocks(from, to, round, [&](std::uint64_t block) { blocks.push_back(block); });
    };
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
        builder.begin_round();
        schedule.sends(rank, round, [&](Rank to, Bytes) {
            list(rank, to, round);
            builder.send(to, blocks);
        });
        schedule.receives(rank, round, [&](Rank from, Bytes) {
            list(from, rank, round);
            builder.receive(from, blocks, schedule.transfer(round));
        });
        builder.end_round(schedule.transfer(round), round + 1 < sending);
        if (has_barrier(schedule, round)) builder.add_barrier();
    }
    return builder.finish();
}

}  // namespace

RankProgram compile(const AnySchedule& schedule, const BlockLayout& layout, OperandOrder operands) {
    const bool in_rank_order = operands == OperandOrder::by_rank;
    if (in_rank_order && !keeps_rank_order(schedule))
        fail("this schedule does not combine in rank order, which the operator needs; take another one");
    return compile_schedule(schedule, layout, in_rank_order);
}

}  // namespace topoloom
