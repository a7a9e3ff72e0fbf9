// SPDX-License-Identifier: BSD-3-Clause
// Plans and their runs. A communicator caches its most recently used plans; a plan caches its idle runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

static bool has_same_key(const struct plan_key* a, const struct plan_key* b) {
    return a->operation == b->operation && a->root == b->root && a->units == b->units &&
           a->unit_bytes == b->unit_bytes && a->schedule == b->schedule && a->in_place == b->in_place &&
           a->in_rank_order == b->in_rank_order && a->wants_result == b->wants_result;
}

static bool is_plan_for(const struct plan* plan, const struct plan_key* key, const int64_t* blocks,
                        size_t length) {
    return has_same_key(&plan->key, key) && plan->blocks_length == length &&
           (length == 0 || memcmp(plan->blocks, blocks, length * sizeof *blocks) == 0);
}

static size_t find_max_requests(const topoloom_program* program) {
    size_t max = 0;
    for (size_t r = 0; r < program->round_count; ++r) {
        const topoloom_round* round = &program->rounds[r];
        const size_t count = round->sends.end - round->receives.begin;
        max = count > max ? count : max;
    }
    return max;
}

static struct plan* create_plan(const struct plan_key* key, const topoloom_call* call, const int64_t* blocks,
                                size_t length, char* error, size_t error_size) {
    struct plan* plan = calloc(1, sizeof *plan);
    if (plan != NULL && length > 0) plan->blocks = malloc(length * sizeof *blocks);
    if (plan == NULL || (length > 0 && plan->blocks == NULL)) {
        snprintf(error, error_size, "not enough memory");
        free(plan);
        return NULL;
    }
    plan->key = *key;
    plan->blocks_length = length;
    plan->references = 1;
    if (length > 0) memcpy(plan->blocks, blocks, length * sizeof *blocks);
    if (topoloom_program_make(call, key->schedule, &plan->program, error, error_size) != 0) {
        free(plan->blocks);
        free(plan);
        return NULL;
    }
    plan->max_requests = find_max_requests(&plan->program);
    return plan;
}

struct plan* find_or_create_plan(struct comm_state* state, const struct plan_key* key,
                                 const topoloom_call* call, const int64_t* blocks, size_t length, char* error,
                                 size_t error_size) {
    int oldest = 0;
    for (int i = 0; i < plan_capacity; ++i) {
        struct plan* plan = state->plans[i];
        if (plan != NULL && is_plan_for(plan, key, blocks, length)) {
            plan->last_used = ++state->plan_uses;
            return plan;
        }
        const struct plan* old = state->plans[oldest];
        if (old != NULL && (plan == NULL || plan->last_used < old->last_used)) oldest = i;
    }
    struct plan* plan = create_plan(key, call, blocks, length, error, error_size);
    if (plan == NULL) return NULL;
    plan->last_used = ++state->plan_uses;
    if (state->plans[oldest] != NULL) release_plan(state->plans[oldest]);
    state->plans[oldest] = plan;
    return plan;
}

void release_plan(struct plan* plan) {
    if (--plan->references > 0) return;
    while (plan->idle != NULL) {
        struct run* run = plan->idle;
        plan->idle = run->next;
        free_run(run);
    }
    topoloom_program_free(&plan->program);
    free(plan->blocks);
    free(plan);
}

struct run* acquire_run(struct plan* plan, const struct type_desc* type) {
    struct run* run = plan->idle;
    if (run != NULL)
        plan->idle = run->next;
    else
        run = create_run(plan);
    if (run == NULL) return NULL;
    run->next = NULL;
    if (!prepare_run_for_type(run, type)) {
        free_run(run);
        return NULL;
    }
    ++plan->references;
    return run;
}

void release_run(struct run* run) {
    if (run->in_flight > 0) return;  // after an error, pending messages may still use the run's memory
    struct plan* plan = run->plan;
    if (run->persistent != NULL || run->round > 0) {
        free_run(run);
    } else {
        run->next = plan->idle;
        plan->idle = run;
    }
    release_plan(plan);
}
