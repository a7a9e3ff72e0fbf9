// SPDX-License-Identifier: BSD-3-Clause
// The table of kinds.
#include "kinds.h"

#include <stddef.h>
#include <string.h>

static const struct kind kinds[] = {
    {"echo", ask_echo, answer_echo},                       // half of `window` round trips
    {"burst", ask_burst, answer_burst},                    // `window` messages and one answer
    {"both", ask_both, answer_both},                       // `window` messages each way
    {"expected", ask_with_note, answer_expected},          // a message whose receive is posted, and a note
    {"unexpected", ask_with_note, answer_unexpected},      // one whose receive is posted after the note
    {"posted", ask_posted, answer_posted},                 // a message behind `window` posted receives
    {"send-cpu", ask_send_cpu, answer_send_cpu},           // the call that sends
    {"receive-cpu", ask_receive_cpu, answer_receive_cpu},  // the call that receives what is there
};

const struct kind* find_kind(const char* name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}
