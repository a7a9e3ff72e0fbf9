// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/learner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/strategy/median.hpp"

namespace topoloom {

namespace {

constexpr double most_seconds = 3600;
/// What one rank says moves what all learn by no more than this from what was to be expected.
constexpr double most_surprise = 16;
constexpr std::size_t most_between_fences = 15;  // of a schedule between fences
constexpr std::size_t numbers_each = 2;

}  // namespace

const TimeFactors* Learner::factors_near(const Key& key) const {
    const auto& [operation, in_rank_order, size] = key;
    std::pair<int, const TimeFactors*> nearest{std::numeric_limits<int>::max(), nullptr};
    for (const auto& [other, learner] : classes_) {
        const int far = (std::get<0>(other) != operation ? 100 : 0) + std::abs(std::get<2>(other) - size);
        if (learner.factors() != nullptr && far < nearest.first) nearest = {far, learner.factors()};
    }
    return nearest.second;
}

ClassLearner* Learner::find_class(Operation operation, Bytes bytes, bool in_rank_order) {
    const Key key{operation, in_rank_order, std::bit_width(static_cast<std::uint64_t>(bytes.value))};
    if (const auto found = classes_.find(key); found != classes_.end()) return &found->second;
    if (is_many_to_many(operation) || strategy_->is_named(operation, in_rank_order)) return nullptr;
    const std::string& first = strategy_->choose(operation, bytes, in_rank_order);
    std::vector<TimedSchedule> schedules = strategy_->timed_schedules(operation, bytes, in_rank_order);
    const auto at = std::ranges::find(schedules, &first, &TimedSchedule::text);
    if (at == schedules.end()) return nullptr;  // of a decision table, and nobody else would try it
    const auto index = static_cast<std::size_t>(at - schedules.begin());
    ClassLearner made(std::move(schedules), bytes, index, factors_near(key));
    return &classes_.emplace(key, std::move(made)).first->second;
}

const std::string& Learner::choose(Operation operation, Bytes bytes, bool in_rank_order) {
    ClassLearner* known = find_class(operation, Strategy::size_of(operation, bytes), in_rank_order);
    if (known == nullptr) return strategy_->choose(operation, bytes, in_rank_order);
    return known->text(known->leader());
}

const std::string& Learner::try_one(Operation operation, Bytes bytes, bool in_rank_order) {
    open_.reset();
    const Bytes size = Strategy::size_of(operation, bytes);
    ClassLearner* known = find_class(operation, size, in_rank_order);
    if (known == nullptr) return strategy_->choose(operation, bytes, in_rank_order);
    const std::size_t schedule = known->next();
    const auto same = [&](const Seen& one) { return one.of == known && one.schedule == schedule; };
    const auto index = static_cast<std::size_t>(std::ranges::find_if(seen_, same) - seen_.begin());
    is_due_ = known->count_call() || is_due_ || numbers_each * (seen_.size() + 1) >= most_seen;
    if (index == seen_.size()) {
        if (numbers_each * seen_.size() == most_seen) return known->text(schedule);  // a fence was left out
        seen_.push_back({known, schedule, {}});
    }
    open_ = index;
    scale_ = known->scale(schedule, size);
    return known->text(schedule);
}

void Learner::saw(double seconds) {
    if (!open_) return;
    Seen& seen = seen_[*open_];
    open_.reset();
    if (!(seconds > 0 && seconds < most_seconds)) return;
    if (seen.times.size() == most_between_fences) seen.times.erase(seen.times.begin());
    seen.times.push_back(seconds * scale_);
}

std::size_t Learner::seen(std::span<std::int64_t, most_seen> numbers) const {
    std::ranges::fill(numbers, 0);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const Seen& one = seen_[i];
        if (one.times.empty()) continue;
        double time = median(one.times);
        if (one.of->has_times()) {
            const double expected = one.of->expected(one.schedule);
            time = std::clamp(time, expected / most_surprise, expected * most_surprise);
        }
        // So short that the sum over a million ranks is a number, too.
        const std::int64_t whole = std::llround(std::min(time, most_seconds) * 1e9);
        numbers[numbers_each * i] = std::max<std::int64_t>(whole, 1);
        numbers[numbers_each * i + 1] = 1;
    }
    return numbers_each * seen_.size();
}

void Learner::learn(std::span<const std::int64_t> sums) {
    if (sums.size() != numbers_each * seen_.size())
        fail("what ranks have seen is ", numbers_each * seen_.size(), " numbers, not ", sums.size());
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const std::int64_t time = sums[numbers_each * i], ranks = sums[numbers_each * i + 1];
        if (time > 0 && ranks > 0) {
            seen_[i].of->learn(seen_[i].schedule, static_cast<double>(time) / static_cast<double>(ranks) / 1e9);
        } else {
            seen_[i].of->learn_nothing(seen_[i].schedule);
        }
    }
    for (const Seen& one : seen_) one.of->decide();
    seen_.clear();
    open_.reset();
    is_due_ = false;
}

}  // namespace topoloom
