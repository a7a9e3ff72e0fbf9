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

/// Each rank has one. Ranks agree as all of them make the same timed calls in the same order, and what they learn from is the sum
/// over ranks of what they have seen: integers, so that it is the same in whatever order it is added up. What a rank's
/// own clock says leads to nothing before that. From when a call has been tried until the end of the next fence nothing needs
/// memory, so that no rank lacks what the others have learned. Sizes from one power of two to the next are one class. As in
/// S. Kumar, Optimizing Communication for Massively Parallel Processing, PhD thesis, UIUC, 2005, sec. 6.4 (adaptive switching
/// at fences). Not for several threads at once.
class Learner {
   public:
    static constexpr std::size_t max_observations = 1024;  // numbers

    explicit Learner(std::shared_ptr<Strategy> strategy);

    /// The fastest schedule so far, for an untimed call; as Strategy::choose() returns it. Local: not all ranks need
    /// call it.
    [[nodiscard]] const std::string& choose(Operation operation, Bytes bytes, bool in_rank_order) const;
    /// The schedule for a timed call, which may be a trial; record_time() must follow before the next call.
    [[nodiscard]] const std::string& choose_trial(Operation operation, Bytes bytes, bool in_rank_order);
    /// Records the time of that call; ignores NaN and other values that are no times.
    void record_time(double seconds) noexcept;

    /// Whether there has to be a fence before the next call.
    [[nodiscard]] bool is_due() const { return is_due_; }
    /// Writes the observations of this rank since the last fence; returns their number, the same on every rank.
    std::size_t write_observations(std::span<std::int64_t, max_observations> numbers) const noexcept;
    /// A fence: learns from the sums of write_observations() over ranks. Throws Error for another number of them, and nothing else.
    void learn(std::span<const std::int64_t> sums);

   private:
    using Key = std::tuple<Operation, bool, int>;  // a class: what is asked, and the power of two
    /// Calls of one schedule since the last fence.
    struct Observation {
        ClassLearner* of;
        std::size_t schedule;
        RecentTimes<15> times;  // of the size of the class
    };

    /// Null if nothing can be learned.
    [[nodiscard]] ClassLearner* find_class(Operation operation, Bytes bytes, bool in_rank_order);
    [[nodiscard]] static Key key_of(Operation operation, Bytes size, bool in_rank_order);
    [[nodiscard]] const TimeFactors* factors_near(const Key& key) const;

    std::shared_ptr<Strategy> strategy_;
    std::map<Key, ClassLearner> classes_;
    std::vector<Observation> observations_;  // with room for the most
    std::optional<std::size_t> open_;        // of observations_: the call whose time comes next
    double scale_ = 1;                       // of that time
    bool is_due_ = false;
};

}  // namespace topoloom
