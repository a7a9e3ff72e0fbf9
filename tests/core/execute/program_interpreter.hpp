// SPDX-License-Identifier: BSD-3-Clause
// Runs the programs of all ranks in random order and checks their memory accesses.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/execute/rank_program.hpp"

namespace topoloom {

/// A unit of data: its index, and the ranks that contributed to it.
struct Unit {
    std::int64_t id = -1;  // -1: undefined data that a program may not read
    std::uint64_t weights = 0;
    std::uint32_t begin = 0, end = 0;  // range of contributing ranks, if contiguous

    friend bool operator==(const Unit&, const Unit&) = default;
};

/// The weight of a rank's contribution, different for each rank.
inline std::uint64_t contribution_weight(std::uint32_t rank) { return Rng(rank + 1, 7).next(); }

struct RankMemory {
    std::vector<Unit> input, output, scratch;

    Unit* at(const Location& place) {
        std::vector<Unit>& memory = place.memory == ProgramBuffer::input    ? input
                                    : place.memory == ProgramBuffer::output ? output
                                                                            : scratch;
        return memory.data() + place.offset;
    }
};

/// Runs programs to their end and fails a test if one reads missing data, changes data being sent, combines
/// mismatched units, or deadlocks.
class ProgramInterpreter {
   public:
    ProgramInterpreter(const std::vector<RankProgram>& programs, std::vector<RankMemory>& memories,
                       bool in_rank_order, std::uint32_t seed);
    void run_programs();
    [[nodiscard]] std::uint64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t units() const { return units_; }

   private:
    struct State {
        std::size_t round = 0;
        bool started = false;
    };
    bool advance(std::uint32_t rank);
    void start_round(std::uint32_t rank, const ProgramRound& round);
    bool complete_round(std::uint32_t rank, const ProgramRound& round);
    void run_local_operations(std::uint32_t rank, IndexRange slice);

    const std::vector<RankProgram>& programs_;
    std::vector<RankMemory>& memories_;
    bool in_rank_order_;
    Rng rng_;
    std::vector<State> states_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<Unit>>> in_flight_;
    std::vector<std::vector<std::vector<Unit>>> being_sent_;  // by rank, then by message of its round
    std::uint64_t messages_ = 0;
    std::int64_t units_ = 0;
};

}  // namespace topoloom
