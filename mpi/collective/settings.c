// SPDX-License-Identifier: BSD-3-Clause
// Reads the settings in TOPOLOOM_COLLECTIVES and in the files that it names.
#define _GNU_SOURCE
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_buffer {
    char* data;
    size_t length;
};

static bool read_file(const char* name, struct text_buffer* text, char* error, size_t error_size) {
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(error, error_size, "cannot read '%s', which TOPOLOOM_COLLECTIVES names", name);
        return false;
    }
    size_t capacity = 0;
    bool has_memory = true;
    for (;;) {
        if (text->length + 1 >= capacity) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            char* larger = realloc(text->data, capacity);
            has_memory = larger != NULL;
            if (!has_memory) break;
            text->data = larger;
        }
        const size_t count = fread(text->data + text->length, 1, capacity - 1 - text->length, file);
        text->length += count;
        if (count == 0) break;
    }
    const bool is_text = has_memory && !ferror(file) && memchr(text->data, '\0', text->length) == NULL;
    if (!has_memory) {
        snprintf(error, error_size, "not enough memory");
    } else if (!is_text) {
        snprintf(error, error_size, "'%s' cannot be read, or is not a text file", name);
    } else if (text->length == 0) {
        snprintf(error, error_size, "'%s', which TOPOLOOM_COLLECTIVES names, is empty", name);
    } else {
        text->data[text->length] = '\0';
    }
    fclose(file);
    return is_text && text->length > 0;
}

static const char* const option_names[setting_count] = {
    "machine", "placement", "decisions", "schedule", "report", "exchange", "learn", "trace", "progress"};

bool parse_exchange_algorithm(const char* name, enum exchange_algorithm* algorithm) {
    static const char* const algorithms[] = {"", "reduction", "nbx", "mesh"};
    for (int i = exchange_default; i <= exchange_mesh; ++i) {
        if (strcmp(name, algorithms[i]) != 0) continue;
        *algorithm = (enum exchange_algorithm)i;
        return true;
    }
    return false;
}

/// Reads one option, and modifies its text.
static bool read_option(char* option, struct text_buffer parts[setting_count], char* error,
                        size_t error_size) {
    char* value = strchr(option, '=');
    int which = setting_decisions;  // an option without `NAME=` is the name of a decision table
    if (value != NULL) {
        *value++ = '\0';
        for (which = 0; which < setting_count && strcmp(option, option_names[which]) != 0; ++which) {
        }
    } else {
        value = option;
    }
    if (which == setting_count) {
        snprintf(error, error_size,
                 "TOPOLOOM_COLLECTIVES has no option '%s'; there are: machine, placement, decisions, "
                 "schedule, report, exchange, learn, trace, progress",
                 option);
        return false;
    }
    if (parts[which].data != NULL) {
        snprintf(error, error_size, "TOPOLOOM_COLLECTIVES gives '%s' twice", option_names[which]);
        return false;
    }
    enum exchange_algorithm exchange;
    if (which == setting_exchange && !parse_exchange_algorithm(value, &exchange)) {
        snprintf(error, error_size,
                 "TOPOLOOM_COLLECTIVES has no exchange '%s'; there are: reduction, nbx, mesh", value);
        return false;
    }
    const bool is_switch = which == setting_report || which == setting_learn || which == setting_progress;
    if (is_switch && strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        snprintf(error, error_size, "TOPOLOOM_COLLECTIVES: '%s' is 0 or 1, not '%s'", option_names[which],
                 value);
        return false;
    }
    if (which < setting_schedule) return read_file(value, &parts[which], error, error_size);
    parts[which].data = strdup(value);
    parts[which].length = strlen(value);
    return parts[which].data != NULL;
}

/// Finds the end of an option: a comma outside of parentheses, which enclose the options of a schedule.
static char* find_option_end(char* text) {
    int depth = 0;
    for (; *text != '\0'; ++text) {
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        if (*text == ',' && depth == 0) return text;
    }
    return text;
}

static char* join_setting_parts(const struct text_buffer parts[setting_count], size_t* length) {
    *length = setting_count;
    for (int i = 0; i < setting_count; ++i) *length += parts[i].length;
    char* all = malloc(*length);
    char* at = all;
    for (int i = 0; i < setting_count && all != NULL; ++i) {
        if (parts[i].length > 0) memcpy(at, parts[i].data, parts[i].length);
        at += parts[i].length;
        *at++ = '\0';
    }
    return all;
}

char* read_settings(size_t* length, char* error, size_t error_size) {
    error[0] = '\0';
    const char* variable = getenv("TOPOLOOM_COLLECTIVES");
    char* options = strdup(variable == NULL ? "" : variable);
    struct text_buffer parts[setting_count] = {{NULL, 0}};
    bool is_valid = options != NULL;
    for (char* option = options; is_valid && *option != '\0';) {
        char* end = find_option_end(option);
        char* next = *end == '\0' ? end : end + 1;
        *end = '\0';
        if (*option != '\0') is_valid = read_option(option, parts, error, error_size);
        option = next;
    }
    char* all = is_valid ? join_setting_parts(parts, length) : NULL;
    for (int i = 0; i < setting_count; ++i) free(parts[i].data);
    free(options);
    return all;
}

bool split_settings(const char* text, size_t length, const char* parts[setting_count]) {
    const char* end = text + length;
    for (int i = 0; i < setting_count; ++i) {
        const char* zero = memchr(text, '\0', (size_t)(end - text));
        if (zero == NULL) return false;
        parts[i] = text;
        text = zero + 1;
    }
    return text == end;
}
