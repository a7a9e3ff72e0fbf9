// SPDX-License-Identifier: BSD-3-Clause
// Compares the options of all ranks: different options would lead to deadlocks or inconsistent plans.
#include <string.h>

#include "balance.h"
#include "errors.h"

enum { option_count = 7 };

static const char* const names[option_count] = {"method", "machine",       "decide",          "message_s",
                                                "byte_s", "stall_timeout", "reserve_capacity"};

/// FNV-1a.
static uint64_t hash_bytes(const void* data, size_t size) {
    const unsigned char* bytes = data;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_text(const char* text) { return text == NULL ? 0 : hash_bytes(text, strlen(text)); }

static uint64_t hash_number(double number) {
    number += 0.0;  // -0 is 0
    return hash_bytes(&number, sizeof number);
}

int compare_options(const struct comm_state* state, const topoloom_balance_options* options) {
    uint64_t own[2 * option_count] = {hash_text(options->method),    hash_text(options->machine),
                                      (uint64_t)options->decide,     hash_number(options->message_s),
                                      hash_number(options->byte_s),  hash_number(options->stall_timeout),
                                      options->reserve_capacity != 0};
    for (int i = 0; i < option_count; ++i) own[option_count + i] = ~own[i];
    uint64_t least[2 * option_count];
    const int status = PMPI_Allreduce(own, least, 2 * option_count, MPI_UINT64_T, MPI_MIN, state->own);
    if (status != MPI_SUCCESS) return status;
    for (int i = 0; i < option_count; ++i)
        if (least[i] != ~least[option_count + i])
            return raise_error(state->own, MPI_ERR_ARG, "balance", "%s is not the same on all ranks",
                               names[i]);
    return MPI_SUCCESS;
}
