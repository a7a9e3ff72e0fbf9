// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/steps.hpp"

#include <algorithm>
#include <map>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/cost/messages.hpp"

namespace topoloom {

Step shift_step(std::size_t ranks, std::size_t by) {
    Step step;
    for (const Rank rank : ids<Rank>(ranks)) {
        const Rank to{(rank.value + by) % ranks};
        if (to != rank) step.push_back({rank, to});
    }
    return step;
}

Step prefix_step(std::size_t ranks, std::size_t by) {
    Step step;
    for (const Rank rank : ids<Rank>(ranks)) {
        const std::size_t to = rank.value ^ by;
        if (to < ranks && by > 0) step.push_back({rank, Rank{to}});
    }
    return step;
}

Step block_step(std::size_t ranks, std::span<const std::uint32_t> block_to) {
    const std::size_t blocks = block_to.size();
    if (blocks == 0 || ranks % blocks != 0)
        fail(ranks, " ranks can't be divided into ", blocks, " equal blocks");
    std::vector<std::uint32_t> sorted_targets(block_to.begin(), block_to.end());
    std::ranges::sort(sorted_targets);
    for (std::size_t b = 0; b < blocks; ++b) {
        if (sorted_targets[b] != b)
            fail("the targets of ", blocks, " blocks are not a permutation of 0 to ", blocks - 1);
    }
    Step step;
    const std::size_t length = ranks / blocks;
    for (const Rank rank : ids<Rank>(ranks)) {
        const Rank to{block_to[rank.value / length] * length + rank.value % length};
        if (to != rank) step.push_back({rank, to});
    }
    return step;
}

std::vector<RepeatedStep> list_schedule_steps(const AnySchedule& schedule) {
    std::vector<RepeatedStep> steps;
    std::map<Step, std::size_t> known;
    std::vector<SentMessage> messages;
    const std::uint64_t rounds = schedule.rounds();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        list_messages(schedule, round, messages);
        Step step;
        for (const SentMessage& message : messages) step.push_back({message.from, message.to});
        const auto [found, is_new] = known.emplace(step, steps.size());
        if (is_new) steps.push_back({std::move(step), 0});
        ++steps[found->second].rounds;
    }
    return steps;
}

}  // namespace topoloom
