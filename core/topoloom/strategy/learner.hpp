// SPDX-License-Identifier: BSD-3-Clause
// Learns the schedules of one communicator from measured call times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/strategy/class_learner.hpp"
#include "topoloom/strategy/recent_times.hpp"
#include "topoloom/strategy/strategy.hpp"

namespace topoloom {

/// Each rank has its own object. Ranks agree because all of them make the same timed calls in the same order
/// and learn from the same sums over all ranks. The sums are integers, so that the order of summation does
/// not matter. A rank's own clock affects nothing else.
///
/// No memory is allocated between choose_trial() and the end of the next fence, so that no rank can miss what
/// the others learn. A class contains the sizes from one power of two to the next. Method: S. Kumar,
/// Optimizing Communication for Massively Parallel Processing, PhD thesis, UIUC, 2005, sec. 6.4 (adaptive
/// switching at fences). Not thread-safe.
class Learner {
   public:
    static constexpr std::size_t max_observations = 1024;  // numbers

    explicit Learner(std::shared_ptr<Strategy> strategy);

    /// The fastest schedule so far, for an untimed call; a text of Strategy::choose(). Local: not all ranks
    /// need to call it.
    [[nodiscard]] const std::string& choose(Operation operation, Bytes bytes, bool in_rank_order) const;
    /// The schedule for a timed call, possibly a trial. record_time() must follow before the next call.
    [[nodiscard]] const std::string& choose_trial(Operation operation, Bytes bytes, bool in_rank_order);
    /// Records the time of that call in seconds; ignores NaN and other invalid times.
    void record_time(double seconds) noexcept;

    /// Whether a fence is due before the next call.
    [[nodiscard]] bool is_due() const { return is_due_; }
    /// Writes the observations of this rank since the last fence; returns how many numbers were written:
    /// equally many on all ranks.
    std::size_t write_observations(std::span<std::int64_t, max_observations> numbers) const noexcept;
    /// Completes a fence: learns from the sums of write_observations() over all ranks. Throws Error only if
    /// the number of sums is wrong.
    void learn(std::span<const std::int64_t> sums);

   private:
    using Key = std::tuple<Operation, bool, int>;  // size class: operation, rank order, log2 of bytes
    /// The times of one schedule since the last fence.
    struct Observation {
        ClassLearner* of;
        std::size_t schedule;
        RecentTimes<15> times;  // measured times, scaled to the size of the class
    };

    /// Finds or creates the class of a call; null if there is nothing to learn for it.
    [[nodiscard]] ClassLearner* find_class(Operation operation, Bytes bytes, bool in_rank_order);
    [[nodiscard]] static Key key_of(Operation operation, Bytes size, bool in_rank_order);
    [[nodiscard]] const TimeFactors* find_nearest_factors(const Key& key) const;

    std::shared_ptr<Strategy> strategy_;
    std::map<Key, ClassLearner> classes_;
    std::vector<Observation> observations_;  // capacity is reserved for the maximum number
    std::optional<std::size_t> open_;        // index, in observations_, of the call being timed
    double scale_ = 1;                       // factor by which the next recorded time is scaled
    bool is_due_ = false;
};

}  // namespace topoloom
