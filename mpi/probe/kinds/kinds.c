// SPDX-License-Identifier: BSD-3-Clause
#include "kinds.h"

#include <stddef.h>
#include <string.h>

static const struct exchange_kind kinds[] = {
    // One way: half of `window` round trips.
    {"echo", measure_echo, answer_echo},
    // `window` messages and one reply.
    {"burst", measure_burst, answer_burst},
    // `window` messages each way.
    {"both", measure_both, answer_both},
    // A message whose receive is posted, and a second, empty one.
    {"expected", measure_followed, answer_expected},
    // A message whose receive is posted only after the second one has arrived.
    {"unexpected", measure_followed, answer_unexpected},
    // A message that matches after `window` other posted receives.
    {"posted", measure_posted, answer_posted},
    // The send call.
    {"send-cpu", measure_send_cpu, answer_send_cpu},
    // The receive call for a message that has arrived.
    {"receive-cpu", measure_receive_cpu, answer_receive_cpu},
};

const struct exchange_kind* find_kind(const char* name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
