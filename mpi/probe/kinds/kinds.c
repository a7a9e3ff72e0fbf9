// SPDX-License-Identifier: BSD-3-Clause
// The table of kinds.
#include "kinds.h"

#include <stddef.h>
#include <string.h>

static const struct kind kinds[] = {
    {"echo", ask_echo, answer_echo},     // of a message: half of `window` round trips
    {"burst", ask_burst, answer_burst},  // of `window` messages and one answer
    {"both", ask_both, answer_both},     // of `window` messages each way
    {"expected", ask_expected,
     answer_expected},  // of a message whose receive is posted, a note and its answer
    {"unexpected", ask_unexpected, answer_unexpected},     // of one whose receive is posted after the note
    {"posted", ask_posted, answer_posted},                 // of a message behind `window` posted receives
    {"send-cpu", ask_send_cpu, answer_send_cpu},           // in the call that sends
    {"receive-cpu", ask_receive_cpu, answer_receive_cpu},  // in the call that receives what is there
};

const struct kind* find_kind(const char* name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
