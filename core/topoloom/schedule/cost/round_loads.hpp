// SPDX-License-Identifier: BSD-3-Clause
// Accumulated loads of a round on links and ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/schedule/cost/message_times.hpp"

namespace topoloom {

/// Seconds that a rank needs to send. Copying blocks into a message overlaps with sending the previous
/// message, if any.
inline double sending_time(double sending, double copying, double staging, std::uint64_t messages) {
    return staging + (messages > 1 ? std::max(sending, copying) : sending + copying);
}

/// A sparse array of loads that is reused for every round.
class RoundLoads {
   public:
    explicit RoundLoads(std::size_t count) : load_(count) {}
    void add(std::size_t index, double amount) {
        if (amount == 0) return;
        if (load_[index] == 0) touched_.push_back(static_cast<std::uint32_t>(index));
        load_[index] += amount;
    }
    double operator[](std::size_t index) const { return load_[index]; }
    /// Returns the largest measure(index, load) and resets all loads.
    template <class Measure>
    double drain(const Measure& measure) {
        double most = 0;
        for (const std::uint32_t index : touched_) {
            most = std::max(most, measure(index, load_[index]));
            load_[index] = 0;
        }
        touched_.clear();
        return most;
    }

   private:
    std::vector<double> load_;
    std::vector<std::uint32_t> touched_;
};

/// Arrivals at ranks, reused for every round.
class RoundArrivals {
   public:
    explicit RoundArrivals(std::size_t ranks) : of_rank_(ranks) {}
    Arrivals& arrivals_of(Rank rank) {
        Arrivals& arrivals = of_rank_[rank.value];
        if (arrivals.is_empty()) touched_.push_back(rank);
        return arrivals;
    }
    /// Calls visit(rank, end time) for ranks with arrivals, and resets them.
    template <class Visit>
    void drain(const Visit& visit) {
        for (const Rank rank : touched_) {
            visit(rank, of_rank_[rank.value].end_time());
            of_rank_[rank.value] = {};
        }
        touched_.clear();
    }

   private:
    std::vector<Arrivals> of_rank_;
    std::vector<Rank> touched_;
};

/// The cost of the barrier after a round.
struct BarrierCost {
    double time = 0, cpu = 0;
};

}  // namespace topoloom
