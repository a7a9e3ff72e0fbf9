// SPDX-License-Identifier: BSD-3-Clause
// Limits of a search: work units, seconds, or a callback that stops it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace topoloom {

/// Limits of a search. Work counts evaluated candidates, so a search with a work budget gives the same result
/// on any machine.
struct Budget {
    std::uint64_t work = std::numeric_limits<std::uint64_t>::max();
    double seconds = std::numeric_limits<double>::infinity();
    /// Called periodically with the work done so far. If it returns false, the search stops and returns its
    /// best result.
    std::function<bool(std::uint64_t)> keep_going = nullptr;
};

/// A placement that a search found but did not return, because its predicted time rules it out.
struct Rejection {
    /// slower: than block order. no_gain: block order is slower only by less than the error of the model.
    enum class Reason { slower, no_gain };
    Reason reason;
    double value;       // of the objective
    double seconds;     // predicted time
    double kept_value;  // of the returned placement
    double kept_seconds;
};

/// Counts work against a Budget. For use by one thread only.
class Meter {
   public:
    explicit Meter(Budget budget) : budget_(std::move(budget)), start_(Clock::now()) {}

    /// Adds work; returns false once the budget is spent. Checks the clock and the callback every 2^14 units.
    bool spend(std::uint64_t units) {
        done_ += units;
        if (done_ >= budget_.work) exhausted_ = true;
        if (done_ >= next_poll_ && !exhausted_) poll_limits();
        return !exhausted_;
    }
    /// The share of the work limit or time limit that is used up, whichever is larger; 0 without limits. With
    /// a time limit, it depends on the clock.
    [[nodiscard]] double used_share() const {
        const std::chrono::duration<double> passed = Clock::now() - start_;
        const double by_time = passed.count() / budget_.seconds;
        return budget_.work == std::numeric_limits<std::uint64_t>::max()
                   ? by_time
                   : std::max(by_time, static_cast<double>(done_) / static_cast<double>(budget_.work));
    }
    [[nodiscard]] bool is_limited() const {
        return budget_.work != std::numeric_limits<std::uint64_t>::max() ||
               budget_.seconds != std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool is_exhausted() const { return exhausted_; }
    [[nodiscard]] std::uint64_t work_done() const { return done_; }
    /// Checks the clock and the callback now; returns false once the budget is spent.
    bool poll() {
        if (!exhausted_) poll_limits();
        return !exhausted_;
    }
    /// Like poll() if time is limited. Without a time limit it checks nothing, so that results under a work
    /// budget stay reproducible.
    bool poll_clock() {
        if (budget_.seconds == std::numeric_limits<double>::infinity()) return !exhausted_;
        return poll();
    }
    /// Records a proven lower bound on the objective.
    void set_lower_bound(double bound) { lower_bound_ = bound; }
    [[nodiscard]] std::optional<double> lower_bound() const { return lower_bound_; }
    void set_rejection(const Rejection& rejection) { rejection_ = rejection; }
    [[nodiscard]] const std::optional<Rejection>& rejection() const { return rejection_; }
    /// The remaining work and time, for parallel searches. The result has no callback, because only the
    /// thread of this meter may call it.
    [[nodiscard]] Budget remaining() const {
        const std::chrono::duration<double> passed = Clock::now() - start_;
        return {.work = budget_.work - std::min(done_, budget_.work),
                .seconds = budget_.seconds - passed.count()};
    }
    /// A share of the remaining budget, for one step of a larger search in this thread. Unlimited budgets
    /// stay unlimited.
    [[nodiscard]] Budget sub_budget(double share) {
        constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
        const Budget left = remaining();
        return {.work = budget_.work == unlimited
                            ? unlimited
                            : static_cast<std::uint64_t>(share * static_cast<double>(left.work)),
                .seconds = share * left.seconds,
                .keep_going = [this](std::uint64_t) { return poll(); }};
    }

   private:
    using Clock = std::chrono::steady_clock;

    void poll_limits() {
        next_poll_ = done_ + (1U << 14);
        const std::chrono::duration<double> passed = Clock::now() - start_;
        exhausted_ = passed.count() >= budget_.seconds || (budget_.keep_going && !budget_.keep_going(done_));
    }

    Budget budget_;
    Clock::time_point start_;
    std::uint64_t done_ = 0;
    std::uint64_t next_poll_ = 0;
    bool exhausted_ = false;
    std::optional<double> lower_bound_;
    std::optional<Rejection> rejection_;
};

}  // namespace topoloom
