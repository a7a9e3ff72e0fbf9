// SPDX-License-Identifier: BSD-3-Clause
#include "our_operations.h"

#include <stddef.h>
#include <string.h>

#include "topoloom_collective.h"

#define OPERATION(name, lower, Mpi, in_by_rank, out_by_rank, is_reduction, ...) \
    static int our_##lower(const struct buffers* b) { return topoloom_##lower(__VA_ARGS__); }
#include "operation_calls.h"
#undef OPERATION

#define OPERATION(name, lower, Mpi, in_by_rank, out_by_rank, is_reduction, ...) {name, our_##lower},
static const struct our_operation {
    const char* name;
    collective_call* run;
} operations[] = {
#include "operation_calls.h"
};

collective_call* find_our_operation(const char* name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        if (strcmp(operations[i].name, name) == 0) return operations[i].run;
    return NULL;
}
