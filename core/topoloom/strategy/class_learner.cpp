// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/class_learner.hpp"

#include <algorithm>
#include <utility>

namespace topoloom {

namespace {

constexpr std::uint64_t most_explored = 19;  // calls
constexpr std::uint64_t most_between = 512;  // calls between fences
constexpr std::size_t enough_times = 3;
constexpr double least_gain = 0.03;
/// Limits of how much slower a trial may be than the fastest schedule.
constexpr double most_loss = 0.75, most_lost = 6, most_loss_per_call = 0.004;

}  // namespace

ClassLearner::ClassLearner(std::vector<TimedSchedule> schedules, Bytes bytes, std::size_t first,
                           const TimeFactors* factors)
    : schedules_(std::move(schedules)),
      bytes_(bytes),
      known_(schedules_.size()),
      before_(factors != nullptr ? *factors : TimeFactors{1, 1, 1}),
      factors_(before_),
      trust_(factors != nullptr ? 2 : 0.5),
      leader_(first),
      next_(first) {
    for_fit_.reserve(schedules_.size());
}

double ClassLearner::compute_time_scale(std::size_t schedule, Bytes bytes) const {
    if (bytes == bytes_) return 1;
    const double size = static_cast<double>(bytes.value) / static_cast<double>(bytes_.value);
    ScheduleParts parts = schedules_[schedule].parts;
    parts.bytes *= size;
    parts.routes *= size;
    return expected_time(schedule) / predicted_time(parts, factors_);
}

bool ClassLearner::count_call() { return ++calls_ >= due_; }

void ClassLearner::learn(std::size_t schedule, double seconds) noexcept {
    ScheduleRecord& record = known_[schedule];
    if (record.times.empty()) ++measured_;
    record.times.add(seconds);
    record.time = record.times.median();
    record.tried = calls_;
}

void ClassLearner::find_leader() {
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].time == 0) continue;
        if (known_[leader_].time == 0 || known_[i].time < known_[leader_].time) leader_ = i;
    }
}

TimeFit ClassLearner::fit_times() {
    for_fit_.clear();
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].time > 0) for_fit_.push_back({schedules_[i].parts, known_[i].time});
    return TimeFit(before_, trust_, for_fit_);
}

/// The untried schedule with the lowest optimistic time; the leader if no schedule could gain enough.
std::size_t ClassLearner::find_most_promising(const TimeFit& fit) const {
    std::pair best{known_[leader_].time * (1 - least_gain), leader_};
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].tried == 0) best = std::min(best, {fit.optimistic_time(schedules_[i].parts), i});
    return best.second;
}

/// The schedule with the fewest measurements among those whose times differ from the leader's by no more than
/// noise; the leader if all have enough measurements.
std::size_t ClassLearner::find_schedule_to_repeat() const {
    const RecentTimes<5>& times = known_[leader_].times;
    if (times.size() < 2) return leader_;
    const auto [least, most] = std::ranges::minmax(times);
    const double close = known_[leader_].time + 2 * (most - least);
    std::pair best{enough_times, leader_};
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].time > 0 && known_[i].time < close) best = std::min(best, {known_[i].times.size(), i});
    return best.second;
}

/// The untried schedule with the smallest predicted time; the leader if that schedule is predicted to be much
/// slower.
std::size_t ClassLearner::find_closest_untried(const TimeFit& fit) const {
    const auto untried = static_cast<double>(std::ranges::count(known_, 0U, &ScheduleRecord::tried));
    const double loss = std::max(
        {most_loss, most_lost / std::max(untried, 1.0), static_cast<double>(calls_) * most_loss_per_call});
    // If the leader is faster than predicted, other schedules may be, too.
    const double usual =
        std::max(known_[leader_].time, predicted_time(schedules_[leader_].parts, fit.factors()));
    std::pair best{(1 + loss) * usual, leader_};
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].tried == 0)
            best = std::min(best, {predicted_time(schedules_[i].parts, fit.factors()), i});
    return best.second;
}

/// The least recently tried schedule among those that are not much slower than the leader.
std::size_t ClassLearner::find_runner_up() const {
    std::pair best{calls_ + 1, leader_};
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (i != leader_ && known_[i].time > 0 && known_[i].time <= (1 + most_loss) * known_[leader_].time)
            best = std::min(best, {known_[i].tried, i});
    return best.second;
}

void ClassLearner::choose_next() noexcept {
    if (std::exchange(decided_, calls_) == calls_) return;
    find_leader();
    const TimeFit fitted = fit_times();
    factors_ = fitted.factors();
    const bool tried = std::exchange(tries_, false);
    next_ = leader_;
    if (explores_) {
        next_ = find_most_promising(fitted);
        if (next_ == leader_ && known_[leader_].times.size() >= 2) next_ = find_schedule_to_repeat();
        if (next_ == leader_ && known_[leader_].times.size() >= 2) next_ = find_closest_untried(fitted);
        explores_ =
            calls_ < most_explored && !(next_ == leader_ && known_[leader_].times.size() >= enough_times);
        due_ = calls_ + 1;
        if (!explores_) next_ = leader_;
    }
    if (explores_ || calls_ < due_) return;
    if (!tried) {
        next_ = find_closest_untried(fitted);
        if (next_ == leader_) next_ = find_runner_up();
        tries_ = next_ != leader_;
    }
    due_ = calls_ + (tries_ ? 1 : std::clamp<std::uint64_t>(calls_ / 4, 1, most_between));
}

}  // namespace topoloom
