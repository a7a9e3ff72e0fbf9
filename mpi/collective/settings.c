// SPDX-License-Identifier: BSD-3-Clause
// Reads the files that TOPOLOOM_COLLECTIVES names.
#define _GNU_SOURCE
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char* data;
    size_t length;
};

static bool read_file(const char* name, struct text* text, char* why, size_t why_size) {
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(why, why_size, "cannot read '%s', which TOPOLOOM_COLLECTIVES names", name);
        return false;
    }
    size_t room = 0;
    bool right = true;
    for (;;) {
        if (text->length + 1 >= room) {
            room = room == 0 ? 4096 : 2 * room;
            char* larger = realloc(text->data, room);
            right = larger != NULL;
            if (!right) break;
            text->data = larger;
        }
        const size_t count = fread(text->data + text->length, 1, room - 1 - text->length, file);
        text->length += count;
        if (count == 0) break;
    }
    if (!right) {
        snprintf(why, why_size, "not enough memory");
    } else if (ferror(file) || memchr(text->data, '\0', text->length) != NULL) {
        snprintf(why, why_size, "'%s' cannot be read, or is not a text", name);
        right = false;
    } else if (text->length == 0) {
        snprintf(why, why_size, "'%s', which TOPOLOOM_COLLECTIVES names, is empty", name);
        right = false;
    } else {
        text->data[text->length] = '\0';
    }
    fclose(file);
    return right;
}

static const char* const names[setting_count] = {"machine",  "placement", "decisions", "schedule", "report",
                                                 "exchange", "learn",     "trace",     "progress"};

bool find_exchange(const char* name, enum exchange_algorithm* found) {
    static const char* const algorithms[] = {"", "reduction", "nbx", "mesh"};
    for (int i = exchange_by_default; i <= exchange_mesh; ++i) {
        if (strcmp(name, algorithms[i]) != 0) continue;
        *found = (enum exchange_algorithm)i;
        return true;
    }
    return false;
}

/// One option; `option` is changed.
static bool read_option(char* option, struct text parts[setting_count], char* why, size_t why_size) {
    char* value = strchr(option, '=');
    int which = of_decisions;  // a name alone
    if (value != NULL) {
        *value++ = '\0';
        for (which = 0; which < setting_count && strcmp(option, names[which]) != 0; ++which) {
        }
    } else {
        value = option;
    }
    if (which == setting_count) {
        snprintf(why, why_size,
                 "TOPOLOOM_COLLECTIVES has no option '%s'; there are: machine, placement, decisions, "
                 "schedule, report, exchange, learn, trace, progress",
                 option);
        return false;
    }
    if (parts[which].data != NULL) {
        snprintf(why, why_size, "TOPOLOOM_COLLECTIVES gives '%s' twice", names[which]);
        return false;
    }
    enum exchange_algorithm exchange;
    if (which == of_exchange && !find_exchange(value, &exchange)) {
        snprintf(why, why_size,
                 "TOPOLOOM_COLLECTIVES: there is no exchange '%s'; there are: reduction, nbx, mesh", value);
        return false;
    }
    const bool is_switch = which == of_report || which == of_learn || which == of_progress;
    if (is_switch && strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        snprintf(why, why_size, "TOPOLOOM_COLLECTIVES: '%s' is 0 or 1, not '%s'", names[which], value);
        return false;
    }
    if (which < of_schedule) return read_file(value, &parts[which], why, why_size);
    parts[which].data = strdup(value);
    parts[which].length = strlen(value);
    return parts[which].data != NULL;
}

/// Options end at a semicolon outside of parentheses, as schedules have options of their own.
static char* end_of_option(char* text) {
    int depth = 0;
    for (; *text != '\0'; ++text) {
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        if (*text == ';' && depth == 0) return text;
    }
    return text;
}

static char* join(const struct text parts[setting_count], size_t* length) {
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

char* read_settings(size_t* length, char* why, size_t why_size) {
    why[0] = '\0';
    const char* given = getenv("TOPOLOOM_COLLECTIVES");
    char* options = strdup(given == NULL ? "" : given);
    struct text parts[setting_count] = {{NULL, 0}};
    bool right = options != NULL;
    for (char* option = options; right && *option != '\0';) {
        char* end = end_of_option(option);
        char* next = *end == '\0' ? end : end + 1;
        *end = '\0';
        if (*option != '\0') right = read_option(option, parts, why, why_size);
        option = next;
    }
    char* all = right ? join(parts, length) : NULL;
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
