// SPDX-License-Identifier: BSD-3-Clause
// C interface of learners.
#include "topoloom/strategy/learner.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/strategy.hpp"
#include "topoloom/capi/topoloom_schedules.h"

using namespace topoloom;

static_assert(TOPOLOOM_MAX_OBSERVATIONS == Learner::max_observations);

struct topoloom_learner {
    Learner learner;
};

int topoloom_learner_make(topoloom_strategy* strategy, topoloom_learner** learner, char* error,
                          size_t error_size) {
    return run_guarded(error, error_size,
                       [&] { *learner = new topoloom_learner{Learner(strategy->shared)}; });
}

int topoloom_learner_choose(topoloom_learner* learner, enum topoloom_operation operation, int64_t bytes,
                            int in_rank_order, int is_timed, const char** schedule, char* error,
                            size_t error_size) {
    return run_guarded(error, error_size, [&] {
        Learner& of = learner->learner;
        const Operation wanted = check_operation(operation);
        const std::string& chosen = is_timed != 0 ? of.choose_trial(wanted, Bytes{bytes}, in_rank_order != 0)
                                                  : of.choose(wanted, Bytes{bytes}, in_rank_order != 0);
        *schedule = chosen.c_str();
    });
}

int topoloom_learner_record_time(topoloom_learner* learner, double seconds) {
    learner->learner.record_time(seconds);
    return learner->learner.is_due() ? 1 : 0;
}

size_t topoloom_learner_observations(const topoloom_learner* learner, int64_t* numbers) {
    return learner->learner.write_observations(
        std::span<int64_t, Learner::max_observations>(numbers, Learner::max_observations));
}

int topoloom_learner_learn(topoloom_learner* learner, const int64_t* sums, size_t count, char* error,
                           size_t error_size) {
    return run_guarded(error, error_size, [&] { learner->learner.learn({sums, count}); });
}

void topoloom_learner_free(topoloom_learner* learner) { delete learner; }
