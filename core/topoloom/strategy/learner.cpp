// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/learner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr double most_seconds = 3600;
/// A histogram counts ranks by the ratio of measured to expected time, with a bin per power of two. The first
/// bin includes all smaller ratios, and the last all larger ones.
constexpr std::size_t bins = 16;
constexpr double most_surprise = 256;
constexpr std::size_t numbers_each = 2 * bins;  // sums of times by bin, then counts of ranks

std::size_t find_bin(double ratio) {
    std::size_t bin = 0;
    for (double end = 2 / most_surprise; bin + 1 < bins && ratio >= end; end *= 2) ++bin;
    return bin;
}

/// The mean time, in seconds, of ranks in the median's bin and the two next to it; 0 without times. Robust
/// against wrong clocks on fewer than half of the ranks.
double compute_agreed_time(std::span<const std::int64_t> times, std::span<const std::int64_t> counts) {
    const std::int64_t ranks = std::reduce(counts.begin(), counts.end());
    if (ranks <= 0) return 0;
    std::size_t middle = 0;
    for (std::int64_t below = counts[0]; 2 * below < ranks; below += counts[middle]) ++middle;
    std::int64_t time = 0, number = 0;
    for (std::size_t bin = middle - std::min<std::size_t>(middle, 1); bin < std::min(middle + 2, bins);
         ++bin) {
        time += times[bin];
        number += counts[bin];
    }
    return static_cast<double>(time) / static_cast<double>(number) / 1e9;
}

}  // namespace

Learner::Learner(std::shared_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {
    observations_.reserve(max_observations / numbers_each);
}

Learner::Key Learner::key_of(Operation operation, Bytes size, bool in_rank_order) {
    return {operation, in_rank_order, std::bit_width(static_cast<std::uint64_t>(size.value))};
}

const TimeFactors* Learner::find_nearest_factors(const Key& key) const {
    const auto& [operation, in_rank_order, size] = key;
    std::pair<int, const TimeFactors*> nearest{std::numeric_limits<int>::max(), nullptr};
    for (const auto& [other, learner] : classes_) {
        const int far = (std::get<0>(other) != operation ? 100 : 0) + std::abs(std::get<2>(other) - size);
        if (learner.factors() != nullptr && far < nearest.first) nearest = {far, learner.factors()};
    }
    return nearest.second;
}

ClassLearner* Learner::find_class(Operation operation, Bytes bytes, bool in_rank_order) {
    const Key key = key_of(operation, bytes, in_rank_order);
    if (const auto found = classes_.find(key); found != classes_.end()) return &found->second;
    if (is_many_to_many(operation) || strategy_->is_schedule_named(operation, in_rank_order)) return nullptr;
    const std::string& first = strategy_->choose(operation, bytes, in_rank_order);
    std::vector<TimedSchedule> schedules = strategy_->timed_schedules(operation, bytes, in_rank_order);
    const auto at = std::ranges::find(schedules, &first, &TimedSchedule::text);
    if (at == schedules.end()) return nullptr;  // prescribed by the decision table
    const auto index = static_cast<std::size_t>(at - schedules.begin());
    ClassLearner learner(std::move(schedules), bytes, index, find_nearest_factors(key));
    return &classes_.emplace(key, std::move(learner)).first->second;
}

const std::string& Learner::choose(Operation operation, Bytes bytes, bool in_rank_order) const {
    const auto found =
        classes_.find(key_of(operation, Strategy::round_size(operation, bytes), in_rank_order));
    if (found == classes_.end()) return strategy_->choose(operation, bytes, in_rank_order);
    return found->second.text(found->second.leader());
}

const std::string& Learner::choose_trial(Operation operation, Bytes bytes, bool in_rank_order) {
    open_.reset();
    const Bytes size = Strategy::round_size(operation, bytes);
    ClassLearner* known = find_class(operation, size, in_rank_order);
    if (known == nullptr) return strategy_->choose(operation, bytes, in_rank_order);
    const std::size_t schedule = known->next_trial();
    const auto same = [&](const Observation& one) { return one.of == known && one.schedule == schedule; };
    const auto index =
        static_cast<std::size_t>(std::ranges::find_if(observations_, same) - observations_.begin());
    is_due_ = known->count_call() || is_due_ || numbers_each * (observations_.size() + 1) >= max_observations;
    if (index == observations_.size()) {
        if (numbers_each * observations_.size() == max_observations)
            return known->text(schedule);  // a fence was skipped
        observations_.push_back({known, schedule, {}});
    }
    open_ = index;
    scale_ = known->compute_time_scale(schedule, size);
    return known->text(schedule);
}

void Learner::record_time(double seconds) noexcept {
    if (!open_) return;
    Observation& seen = observations_[*open_];
    open_.reset();
    if (!(seconds > 0 && seconds < most_seconds)) return;
    seen.times.add(seconds * scale_);
}

std::size_t Learner::write_observations(std::span<std::int64_t, max_observations> numbers) const noexcept {
    std::ranges::fill(numbers, 0);
    for (std::size_t i = 0; i < observations_.size(); ++i) {
        const Observation& one = observations_[i];
        if (one.times.empty()) continue;
        const double expected = one.of->expected_time(one.schedule);
        const double time =
            std::clamp(one.times.median(), expected / most_surprise, expected * most_surprise);
        const std::size_t bin = numbers_each * i + find_bin(time / expected);
        // Times are limited so that the sum over a million ranks fits 64 bits.
        numbers[bin] = std::max<std::int64_t>(std::llround(std::min(time, most_seconds) * 1e9), 1);
        numbers[bin + bins] = 1;
    }
    return numbers_each * observations_.size();
}

void Learner::learn(std::span<const std::int64_t> sums) {
    if (sums.size() != numbers_each * observations_.size())
        fail("the observations are ", numbers_each * observations_.size(), " numbers, but there are ",
             sums.size(), " sums");
    for (std::size_t i = 0; i < observations_.size(); ++i) {
        const std::span one = sums.subspan(numbers_each * i, numbers_each);
        const double time = compute_agreed_time(one.first(bins), one.last(bins));
        if (time > 0) {
            observations_[i].of->learn(observations_[i].schedule, time);
        } else {
            observations_[i].of->mark_tried(observations_[i].schedule);
        }
    }
    for (const Observation& one : observations_) one.of->choose_next();
    observations_.clear();
    open_.reset();
    is_due_ = false;
}

}  // namespace topoloom
