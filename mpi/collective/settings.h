// SPDX-License-Identifier: BSD-3-Clause
// The settings in TOPOLOOM_COLLECTIVES, as a single text that rank 0 reads and broadcasts.
#ifndef TOPOLOOM_COLLECTIVE_SETTINGS_H
#define TOPOLOOM_COLLECTIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/// How a rank finds its sources in a sparse exchange.
enum exchange_algorithm { exchange_default, exchange_reduction, exchange_nbx, exchange_mesh };
/// Parses a name. An empty name selects the default. Returns false if the name is unknown.
bool parse_exchange_algorithm(const char* name, enum exchange_algorithm* algorithm);

/// Parts of the settings text. Each part ends with a zero byte; the part of a missing option is empty.
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

/// Reads the variable and its files; the text contains the files' content. On failure returns NULL and writes `error`,
/// which is empty if memory is exhausted.
char* read_settings(size_t* length, char* error, size_t error_size);
/// Splits the text into parts. Returns false if the number of parts is wrong.
bool split_settings(const char* text, size_t length, const char* parts[setting_count]);

#endif
