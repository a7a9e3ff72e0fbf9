// SPDX-License-Identifier: BSD-3-Clause
#include "execute/program_interpreter.hpp"

#include <doctest.h>

#include <algorithm>

namespace topoloom {

ProgramInterpreter::ProgramInterpreter(const std::vector<RankProgram>& programs,
                                       std::vector<RankMemory>& memories, bool in_rank_order,
                                       std::uint32_t seed)
    : programs_(programs),
      memories_(memories),
      in_rank_order_(in_rank_order),
      rng_(seed),
      states_(programs.size()),
      being_sent_(programs.size()) {
    for (std::size_t rank = 0; rank < programs.size(); ++rank)
        memories[rank].scratch.resize(static_cast<std::size_t>(programs[rank].scratch_units));
}

void ProgramInterpreter::run_programs() {
    std::vector<std::uint32_t> unfinished;
    for (std::uint32_t rank = 0; rank < programs_.size(); ++rank) unfinished.push_back(rank);
    std::size_t stuck = 0;
    while (!unfinished.empty()) {
        const std::uint32_t any = rng_.below(static_cast<std::uint32_t>(unfinished.size()));
        const std::uint32_t rank = unfinished[any];
        stuck = advance(rank) ? 0 : stuck + 1;
        if (states_[rank].round == programs_[rank].rounds.size()) {
            unfinished[any] = unfinished.back();
            unfinished.pop_back();
        }
        // Random selection may, for a long time, miss the only rank that can advance.
        REQUIRE_MESSAGE(stuck < 10000 * programs_.size(), "all ranks wait");
    }
    for (const auto& [ends, messages] : in_flight_) CHECK(messages.empty());
}

bool ProgramInterpreter::advance(std::uint32_t rank) {
    State& state = states_[rank];
    const ProgramRound& round = programs_[rank].rounds[state.round];
    if (!state.started) {
        start_round(rank, round);
        state.started = true;
        return true;
    }
    if (!complete_round(rank, round)) return false;
    state = {state.round + 1, false};
    return true;
}

void ProgramInterpreter::start_round(std::uint32_t rank, const ProgramRound& round) {
    const RankProgram& program = programs_[rank];
    run_local_operations(rank, round.before);
    being_sent_[rank].clear();
    for (const BufferMessage& message : program.messages_of(round.sends)) {
        const Unit* data = memories_[rank].at(message.at);
        being_sent_[rank].emplace_back(data, data + message.units);
        REQUIRE(std::ranges::none_of(being_sent_[rank].back(), [](const Unit& u) { return u.id < 0; }));
        in_flight_[{rank, message.peer.value}].push_back(being_sent_[rank].back());
        ++messages_;
        units_ += message.units;
    }
    // From here on, receive buffers may change at any time.
    for (const BufferMessage& message : program.messages_of(round.receives)) {
        REQUIRE((message.units == 0 || message.at.memory != ProgramBuffer::input));
        std::fill_n(memories_[rank].at(message.at), message.units, Unit{});
    }
    run_local_operations(rank, round.meanwhile);
}

bool ProgramInterpreter::complete_round(std::uint32_t rank, const ProgramRound& round) {
    const RankProgram& program = programs_[rank];
    std::map<std::uint32_t, std::size_t> wanted;
    for (const BufferMessage& message : program.messages_of(round.receives)) ++wanted[message.peer.value];
    for (const auto& [peer, count] : wanted)
        if (in_flight_[{peer, rank}].size() < count) return false;
    for (const BufferMessage& message : program.messages_of(round.receives)) {
        auto& queue = in_flight_[{message.peer.value, rank}];
        REQUIRE(queue.front().size() == static_cast<std::size_t>(message.units));
        std::ranges::copy(queue.front(), memories_[rank].at(message.at));
        queue.pop_front();
    }
    std::size_t i = 0;
    for (const BufferMessage& message : program.messages_of(round.sends)) {
        const Unit* data = memories_[rank].at(message.at);
        REQUIRE(std::equal(data, data + message.units, being_sent_[rank][i++].begin()));
    }
    run_local_operations(rank, round.after);
    return true;
}

void ProgramInterpreter::run_local_operations(std::uint32_t rank, IndexRange slice) {
    for (const LocalOperation& work : programs_[rank].operations_of(slice)) {
        REQUIRE(work.to.memory != ProgramBuffer::input);
        const Unit* from = memories_[rank].at(work.from);
        Unit* to = memories_[rank].at(work.to);
        for (std::int64_t i = 0; i < work.units; ++i) {
            REQUIRE(from[i].id >= 0);
            if (!work.combines) {
                to[i] = from[i];
                continue;
            }
            REQUIRE(to[i].id == from[i].id);
            if (in_rank_order_) REQUIRE(from[i].end == to[i].begin);
            to[i] = {to[i].id, from[i].weights + to[i].weights, std::min(from[i].begin, to[i].begin),
                     std::max(from[i].end, to[i].end)};
        }
    }
}

}  // namespace topoloom
