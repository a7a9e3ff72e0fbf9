// SPDX-License-Identifier: BSD-3-Clause
// Programs that the core has made for this rank, kept for the next call of their kind: those used last.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

static bool same_key(const struct plan_key* a, const struct plan_key* b) {
    return a->operation == b->operation && a->root == b->root && a->units == b->units &&
           a->unit_bytes == b->unit_bytes && a->schedule == b->schedule && a->in_place == b->in_place &&
           a->in_rank_order == b->in_rank_order && a->wants_result == b->wants_result;
}

static bool is_for(const struct plan* plan, const struct plan_key* key, const int64_t* counts,
                   size_t length) {
    return same_key(&plan->key, key) && plan->count_length == length &&
           (length == 0 || memcmp(plan->counts, counts, length * sizeof *counts) == 0);
}

static void free_plan(struct plan* plan) {
    while (plan->idle != NULL) {
        struct run* run = plan->idle;
        plan->idle = run->next;
        free_run(run);
    }
    topoloom_program_free(&plan->program);
    free(plan->counts);
    free(plan);
}

void release_plan(struct plan* plan) {
    if (--plan->users == 0) free_plan(plan);
}

static size_t most_requests(const topoloom_program* program) {
    size_t most = 0;
    for (size_t r = 0; r < program->round_count; ++r) {
        const topoloom_round* round = &program->rounds[r];
        const size_t count = round->sends.end - round->receives.begin;
        most = count > most ? count : most;
    }
    return most;
}

static struct plan* make_plan(const struct plan_key* key, const topoloom_call* call, const int64_t* counts,
                              size_t length, char* why, size_t why_size) {
    struct plan* plan = calloc(1, sizeof *plan);
    if (plan != NULL && length > 0) plan->counts = malloc(length * sizeof *counts);
    if (plan == NULL || (length > 0 && plan->counts == NULL)) {
        snprintf(why, why_size, "not enough memory");
        free(plan);
        return NULL;
    }
    plan->key = *key;
    plan->count_length = length;
    plan->users = 1;
    if (length > 0) memcpy(plan->counts, counts, length * sizeof *counts);
    if (topoloom_program_make(call, key->schedule, &plan->program, why, why_size) != 0) {
        free(plan->counts);
        free(plan);
        return NULL;
    }
    plan->most_requests = most_requests(&plan->program);
    return plan;
}

struct plan* find_plan(struct state* state, const struct plan_key* key, const topoloom_call* call,
                       const int64_t* counts, size_t length, char* why, size_t why_size) {
    int oldest = 0;
    for (int i = 0; i < plan_count; ++i) {
        struct plan* plan = state->plans[i];
        if (plan != NULL && is_for(plan, key, counts, length)) {
            plan->last_used = ++state->uses;
            return plan;
        }
        const struct plan* old = state->plans[oldest];
        if (old != NULL && (plan == NULL || plan->last_used < old->last_used)) oldest = i;
    }
    struct plan* plan = make_plan(key, call, counts, length, why, why_size);
    if (plan == NULL) return NULL;
    plan->last_used = ++state->uses;
    if (state->plans[oldest] != NULL) release_plan(state->plans[oldest]);
    state->plans[oldest] = plan;
    return plan;
}
