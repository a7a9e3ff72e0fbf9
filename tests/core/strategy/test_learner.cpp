// SPDX-License-Identifier: BSD-3-Clause
// From a wrong model the best schedule is found in few calls, and ranks agree whatever their clocks show.
#include <doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "strategy/learning_cases.hpp"

using namespace topoloom;

namespace {

using enum Operation;

/// The time that a broken clock of one rank shows; the true time is `seconds`.
double broken_clock_time(Rng& rng, double seconds) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::array clocks{std::numeric_limits<double>::quiet_NaN(),
                            infinity,
                            -infinity,
                            0.0,
                            -seconds,
                            1e6 * seconds,
                            1e-6 * seconds,
                            1e300,
                            5e-324};
    return clocks[rng.below(static_cast<std::uint32_t>(clocks.size()))];
}

struct LearningRanks {
    std::vector<Learner> learners;

    LearningRanks(const PlantedCase& planted, std::size_t count) {
        for (std::size_t rank = 0; rank < count; ++rank) learners.emplace_back(planted.known);
    }
    /// Returns the schedule that all ranks choose; empty if they do not agree.
    std::string choose_trial(Operation operation, Bytes bytes) {
        std::string chosen = learners.front().choose_trial(operation, bytes, false);
        for (std::size_t rank = 1; rank < learners.size(); ++rank)
            if (learners[rank].choose_trial(operation, bytes, false) != chosen) chosen.clear();
        return chosen;
    }
    void fence() {
        std::array<std::int64_t, Learner::max_observations> sums{}, seen{};
        std::size_t count = 0;
        for (const Learner& learner : learners) {
            count = learner.write_observations(seen);
            for (std::size_t i = 0; i < count; ++i) sums[i] += seen[i];
        }
        for (Learner& learner : learners) learner.learn({sums.data(), count});
    }
    [[nodiscard]] bool is_due() const { return learners.front().is_due(); }
};

}  // namespace

TEST_CASE("after 20 calls the schedule is within 5 % of the best, even if known costs are ten times off") {
    constexpr int cases = 300;
    int close = 0, cheap = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const LearningResult learned = learn_planted(draw_case(seed), 1000, 0, seed);
        close += learned.after_20_calls <= 1.05;
        cheap += learned.regret <= 0.03;
    }
    CHECK(close >= cases * 99 / 100);
    CHECK(cheap >= cases * 97 / 100);
}

TEST_CASE("with noise in times, the schedule is within 5 % of the best in nearly all cases") {
    constexpr int cases = 300;
    int close = 0, cheap = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const LearningResult learned = learn_planted(draw_case(seed), 1000, 0.05, seed);
        close += learned.after_20_calls <= 1.05;
        cheap += learned.regret <= 0.03;
    }
    CHECK(close >= cases * 95 / 100);
    CHECK(cheap >= cases * 97 / 100);
}

TEST_CASE("ranks agree on every call, and one broken clock does not prevent finding the best schedule") {
    constexpr int cases = 40;
    int close = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        CAPTURE(seed);
        const PlantedCase planted = draw_case(seed);
        LearningRanks ranks(planted, 8);
        Rng rng(seed, 2);
        for (int call = 0; call < 400; ++call) {
            const std::string chosen = ranks.choose_trial(planted.operation, planted.bytes);
            REQUIRE(!chosen.empty());
            const double time = planted.time_of(chosen);
            for (std::size_t rank = 0; rank < ranks.learners.size(); ++rank)
                ranks.learners[rank].record_time(rank == 3 ? broken_clock_time(rng, time)
                                                           : time * (1 + 0.02 * rng.uniform()));
            if (ranks.is_due() || rng.below(50) == 0) ranks.fence();
        }
        const std::string& learned = ranks.learners[0].choose(planted.operation, planted.bytes, false);
        close += planted.time_of(learned) <= 1.05 * planted.best_time();
    }
    CHECK(close >= cases * 95 / 100);
}

TEST_CASE("ranks agree even if all clocks are broken") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const PlantedCase planted = draw_case(seed);
        LearningRanks ranks(planted, 4);
        Rng rng(seed, 3);
        for (int call = 0; call < 1000; ++call) {
            const auto operation = std::array{bcast, allreduce, alltoall}[rng.below(3)];
            REQUIRE(!ranks.choose_trial(operation, Bytes{1 + rng.below(5000)}).empty());
            for (Learner& learner : ranks.learners)
                if (rng.below(10) != 0) learner.record_time(broken_clock_time(rng, 1e-5));
            if (ranks.is_due() || rng.below(20) == 0) ranks.fence();
        }
    }
}

TEST_CASE("after learning has converged, ranks rarely exchange their times") {
    const PlantedCase planted = draw_case(1);
    LearningRanks ranks(planted, 1);
    std::vector<int> fences(4);
    for (int call = 0; call < 4000; ++call) {
        const double time = planted.time_of(ranks.choose_trial(planted.operation, planted.bytes));
        ranks.learners[0].record_time(time);
        if (!ranks.is_due()) continue;
        ranks.fence();
        ++fences[static_cast<std::size_t>(call / 1000)];
    }
    CHECK(fences[0] <= 80);
    CHECK(fences[3] <= 6);
}

TEST_CASE("after a change of the network, the new fastest schedule is found") {
    Setting setting;
    setting.ranks = 32;
    setting.machine = "message - 1e-6 1e-10\ncost latency 1e-6";
    const auto strategy = std::make_shared<Strategy>(setting);
    Learner learner(strategy);
    const auto run = [&](const std::string& machine, int calls) {
        setting.machine = machine;
        const PlantedCase planted{strategy, find_cost_basis(setting), alltoall, 32, Bytes{256}};
        for (int call = 0; call < calls; ++call) {
            learner.record_time(planted.time_of(learner.choose_trial(alltoall, Bytes{256}, false)));
            std::array<std::int64_t, Learner::max_observations> seen{};
            if (learner.is_due()) learner.learn({seen.data(), learner.write_observations(seen)});
        }
        return planted.time_of(learner.choose(alltoall, Bytes{256}, false)) / planted.best_time();
    };
    CHECK(run("message - 1e-5 1e-10\ncost latency 1e-6", 200) <= 1.05);
    CHECK(run("message - 1e-7 1e-8\ncost latency 1e-6", 8000) <= 1.05);
}

TEST_CASE("a schedule named in the settings is not replaced") {
    Setting setting;
    setting.ranks = 16;
    setting.schedule = "ring";
    Learner learner(std::make_shared<Strategy>(setting));
    for (int call = 0; call < 10; ++call) {
        CHECK(learner.choose_trial(allgather, Bytes{64}, false) == "ring");
        learner.record_time(1);
        CHECK(!learner.is_due());
    }
}

TEST_CASE("sums with a wrong number of values are refused") {
    const PlantedCase planted = draw_case(3);
    Learner learner(planted.known);
    (void)learner.choose_trial(planted.operation, planted.bytes, false);
    CHECK_THROWS_WITH(learner.learn({}), "the observations are 32 numbers, but there are 0 sums");
}
