// SPDX-License-Identifier: BSD-3-Clause
#include "kinds.h"

#include <stddef.h>
#include <string.h>

static const struct exchange_kind kinds[] = {
    // one-way time: half of the mean of `window` round trips
    {"echo", measure_echo, answer_echo},
    // time of `window` messages and one reply
    {"burst", measure_burst, answer_burst},
    // time of `window` messages in each direction
    {"both", measure_bidirectional, answer_bidirectional},
    // time of a message whose receive is already posted, followed by an empty message
    {"expected", measure_two_messages, answer_expected},
    // the same, but the receive is posted after the empty message has arrived
    {"unexpected", measure_two_messages, answer_unexpected},
    // time of a message that matches after `window` other posted receives
    {"posted", measure_posted, answer_posted},
    // duration of the send call
    {"send-cpu", measure_send_cpu, answer_send_cpu},
    // duration of the receive call for a message that has arrived
    {"receive-cpu", measure_receive_cpu, answer_receive_cpu},
};

const struct exchange_kind* find_exchange_kind(const char* name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
