// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/schedule_program.hpp"

#include <algorithm>
#include <bit>

namespace topoloom {

ScheduleProgram::ScheduleProgram(const AnySchedule& schedule) : schedule_(schedule) {
    ranks_ = schedule.collective().ranks();
    const auto barrier = static_cast<std::uint64_t>(std::bit_width(ranks_ - 1));
    first_step_.push_back(0);
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round)
        first_step_.push_back(first_step_.back() + 1 + (has_barrier(schedule, round) ? barrier : 0));
}

ScheduleProgram::RoundStep ScheduleProgram::round_step(std::uint64_t step) const {
    const auto after = std::ranges::upper_bound(first_step_, step);
    const auto round = static_cast<std::uint64_t>(after - first_step_.begin()) - 1;
    return {round, step - first_step_[round]};
}

void ScheduleProgram::list_sends(Rank rank, std::uint64_t step, std::vector<ProgramMessage>& messages) const {
    const auto [round, behind] = round_step(step);
    if (behind > 0) {
        const std::uint64_t far = std::uint64_t{1} << (behind - 1);
        messages.push_back({Rank{(rank.value + far) % ranks_}, Bytes{0}});
        return;
    }
    schedule_.sends(rank, round, [&](Rank to, Bytes bytes) { messages.push_back({to, bytes}); });
}

void ScheduleProgram::list_receives(Rank rank, std::uint64_t step,
                                    std::vector<ProgramMessage>& messages) const {
    const auto [round, behind] = round_step(step);
    if (behind > 0) {
        const std::uint64_t far = std::uint64_t{1} << (behind - 1);
        messages.push_back({Rank{(rank.value + ranks_ - far) % ranks_}, Bytes{0}});
        return;
    }
    schedule_.receives(rank, round, [&](Rank from, Bytes bytes) { messages.push_back({from, bytes}); });
}

}  // namespace topoloom
