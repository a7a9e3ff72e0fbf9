// SPDX-License-Identifier: BSD-3-Clause
// The settings of TOPOLOOM_COLLECTIVES, as one text that rank 0 reads and broadcasts.
#ifndef TOPOLOOM_COLLECTIVE_SETTINGS_H
#define TOPOLOOM_COLLECTIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/// How a rank of a sparse exchange finds its sources.
enum exchange_algorithm { exchange_default, exchange_reduction, exchange_nbx, exchange_mesh };
/// An empty name is the default. False: unknown.
bool parse_exchange(const char* name, enum exchange_algorithm* found);

/// Parts of the text. Each ends with a zero byte; an option that is not given has an empty part.
enum setting {
    setting_machine,
    setting_placement,
    setting_decisions,
    setting_schedule,
    setting_report,
    setting_exchange,
    setting_learn,
    setting_trace,
    setting_progress,
    setting_count
};

/// Reads the variable and its files; files are represented by their content. NULL with the error, which is empty where
/// memory has run out.
char* read_settings(size_t* length, char* error, size_t error_size);
/// Finds the parts. False: the text has another number of parts.
bool split_settings(const char* text, size_t length, const char* parts[setting_count]);

#endif
