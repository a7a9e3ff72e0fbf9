// SPDX-License-Identifier: BSD-3-Clause
// Random cases for learning: known costs differ from true costs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/strategy/candidates.hpp"
#include "topoloom/strategy/learner.hpp"

namespace topoloom {

/// A case whose true costs per message and per byte are a tenth to ten times the known ones. In half of the
/// cases with a machine, the machine is not known.
struct PlantedCase {
    std::shared_ptr<Strategy> known;
    CostBasis truth;
    Operation operation;
    std::size_t ranks;
    Bytes bytes;

    [[nodiscard]] double time_of(const std::string& schedule) const {
        return schedule_cost(make_schedule({operation, ranks, bytes}, schedule), truth).time;
    }
    [[nodiscard]] double best_time() const {
        double best = std::numeric_limits<double>::infinity();
        for (const std::string& text : candidates({operation, ranks, bytes}))
            best = std::min(best, time_of(text));
        return best;
    }
};

inline PlantedCase draw_case(std::uint64_t seed) {
    using enum Operation;
    Rng rng(seed);
    const auto one_of = [&](const auto& values) {
        return values[rng.below(static_cast<std::uint32_t>(values.size()))];
    };
    const auto tenths = [&] {  // from 0.1 to 10, equally likely below and above 1
        const double factor = 1 + 9 * rng.uniform();
        return rng.below(2) == 0 ? factor : 1 / factor;
    };
    const std::size_t ranks = one_of(std::array<std::size_t, 7>{4, 7, 16, 24, 32, 48, 64});
    const std::string machine = one_of(std::array<std::string, 3>{
        "", "machine torus:4x4x4,bandwidth=10GB/s\n", "machine tree:8:8,bandwidth=10GB/s\n"});
    const Operation operation =
        one_of(std::array{bcast, reduce, allgather, allreduce, reduce_scatter, alltoall, barrier, scan});
    const Bytes bytes{operation == barrier ? 0 : 1 + rng.below(1U << rng.below(21))};
    const auto costs = [](double starts, double per_byte) {
        return "message - " + std::to_string(starts) + "e-6 " + std::to_string(per_byte) +
               "e-10\ncost latency " + std::to_string(starts / 2) + "e-6\n";
    };
    Setting right, wrong;
    right.ranks = wrong.ranks = ranks;
    right.machine = machine + costs(tenths(), tenths());
    wrong.machine = (rng.below(2) == 0 ? machine : "") + costs(1, 1);
    return {std::make_shared<Strategy>(wrong), find_cost_basis(right), operation, ranks, bytes};
}

/// Results of a sequence of calls; times are relative to the best schedule.
struct LearningResult {
    int calls_until_close = 0;  // calls after which the schedule is always within 5 % of the best
    double after_20_calls = 1;
    double regret = 0;  // mean excess time per call
};

/// Learns from call times with normally distributed noise.
inline LearningResult learn_planted(const PlantedCase& planted, int calls, double noise, std::uint64_t seed) {
    std::map<std::string, double> times;
    const auto time_of = [&](const std::string& schedule) {
        const auto [known, is_new] = times.try_emplace(schedule);
        if (is_new) known->second = planted.time_of(schedule);
        return known->second;
    };
    const double best = planted.best_time();
    Learner learner(planted.known);
    Rng rng(seed, 1);
    LearningResult learned;
    for (int call = 1; call <= calls; ++call) {
        const double time = time_of(learner.choose_trial(planted.operation, planted.bytes, false));
        learned.regret += (time / best - 1) / calls;
        double normal = -6;
        for (int i = 0; i < 12; ++i) normal += rng.uniform();
        learner.record_time(time * std::max(1 + noise * normal, 0.1));
        if (learner.is_due()) {
            std::array<std::int64_t, Learner::max_observations> seen{};
            learner.learn({seen.data(), learner.write_observations(seen)});
        }
        const double now = time_of(learner.choose(planted.operation, planted.bytes, false)) / best;
        if (now > 1.05) learned.calls_until_close = call;
        if (call == 20) learned.after_20_calls = now;
    }
    return learned;
}

}  // namespace topoloom
