// SPDX-License-Identifier: BSD-3-Clause
// What the messages of a round add up to on links and ranks, and what a round costs beside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/schedule/cost/overlap.hpp"

namespace topoloom {

/// Seconds that a rank needs to send: it copies blocks into a message while it sends the one before, if there is one.
inline double busy(double sending, double copying, double staging, std::uint64_t messages) {
    return staging + (messages > 1 ? std::max(sending, copying) : sending + copying);
}

/// Largest entry, and the entries that are not 0, of an array that is emptied again and again.
class RoundLoads {
   public:
    explicit RoundLoads(std::size_t count) : load_(count) {}
    void add(std::size_t index, double amount) {
        if (amount == 0) return;
        if (load_[index] == 0) touched_.push_back(static_cast<std::uint32_t>(index));
        load_[index] += amount;
    }
    double operator[](std::size_t index) const { return load_[index]; }
    /// The largest of measure(index, load); all are 0 then.
    template <class Measure>
    double empty(const Measure& measure) {
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

/// What comes to ranks, emptied again and again.
class RoundArrivals {
   public:
    explicit RoundArrivals(std::size_t ranks) : of_rank_(ranks) {}
    Arrivals& to(Rank rank) {
        Arrivals& arrivals = of_rank_[rank.value];
        if (arrivals.none()) touched_.push_back(rank);
        return arrivals;
    }
    /// Calls visit(rank, when all that comes to it has been taken).
    template <class Visit>
    void empty(const Visit& visit) {
        for (const Rank rank : touched_) {
            visit(rank, of_rank_[rank.value].taken());
            of_rank_[rank.value] = {};
        }
        touched_.clear();
    }

   private:
    std::vector<Arrivals> of_rank_;
    std::vector<Rank> touched_;
};

/// Of a round that ends with one.
struct Barrier {
    double time = 0, cpu = 0;
};

}  // namespace topoloom
