// SPDX-License-Identifier: BSD-3-Clause
// What the user says about the machine, as one text that rank 0 reads and sends to all.
#ifndef TOPOLOOM_COLLECTIVE_SETTINGS_H
#define TOPOLOOM_COLLECTIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/// How sparse exchanges find who sends here.
enum exchange_algorithm { exchange_by_default, exchange_reduction, exchange_nbx, exchange_mesh };
/// False: there is no such; an empty name is the default.
bool find_exchange(const char* name, enum exchange_algorithm* found);

/// Parts of the text, each of which ends with a zero byte; empty where it was not given.
enum setting {
    of_machine,
    of_placement,
    of_decisions,
    of_schedule,
    of_report,
    of_exchange,
    of_learn,
    of_trace,
    of_progress,
    setting_count
};

/// What TOPOLOOM_COLLECTIVES names. NULL: no memory, or with the reason what is wrong with it.
char* read_settings(size_t* length, char* why, size_t why_size);
/// Where each part begins. False if it is not such a text.
bool split_settings(const char* text, size_t length, const char* parts[setting_count]);

#endif
