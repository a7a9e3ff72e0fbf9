// SPDX-License-Identifier: BSD-3-Clause
// How long a search may run: work units, seconds, or until someone says stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace topoloom {

/// Limits of a search. Work counts evaluated candidates, so a budget in work gives the same answer everywhere.
struct Budget {
    std::uint64_t work = std::numeric_limits<std::uint64_t>::max();
    double seconds = std::numeric_limits<double>::infinity();
    /// Called now and then with the work done so far; false asks the search to return the best it has.
    std::function<bool(std::uint64_t)> keep_going = nullptr;
};

/// Counts work against a Budget. One thread only.
class Meter {
   public:
    explicit Meter(const Budget& budget) : budget_(budget), start_(Clock::now()) {}

    /// Adds work; false once the budget is spent. The clock and the caller are asked every 2^14 units.
    bool spend(std::uint64_t units) {
        done_ += units;
        if (done_ >= budget_.work) exhausted_ = true;
        if (done_ >= next_poll_ && !exhausted_) poll_limits();
        return !exhausted_;
    }
    /// What share of the budget is used up, of work or of time, whichever is more; 0 where nothing is limited. By
    /// the clock now, so the same on every run only if the budget is one of work.
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
    /// Asks clock and caller at once; false once the budget is spent.
    bool poll() {
        if (!exhausted_) poll_limits();
        return !exhausted_;
    }
    /// The same where seconds are limited; elsewhere no one is asked, so that budgets in work end where they did.
    bool poll_clock() {
        if (budget_.seconds == std::numeric_limits<double>::infinity()) return !exhausted_;
        return poll();
    }
    /// For searches that prove something: nothing has a lower value of the objective than this.
    void set_lower_bound(double bound) { lower_bound_ = bound; }
    [[nodiscard]] std::optional<double> lower_bound() const { return lower_bound_; }
    /// What is left, for searches side by side. Whether to go on, only the thread of this meter may ask: poll().
    [[nodiscard]] Budget remaining() const {
        const std::chrono::duration<double> passed = Clock::now() - start_;
        return {.work = budget_.work - std::min(done_, budget_.work),
                .seconds = budget_.seconds - passed.count()};
    }
    /// A share of what is left, for one step of a larger search in this thread; what is unlimited stays so.
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

    const Budget& budget_;
    Clock::time_point start_;
    std::uint64_t done_ = 0;
    std::uint64_t next_poll_ = 0;
    bool exhausted_ = false;
    std::optional<double> lower_bound_;
};

}  // namespace topoloom
