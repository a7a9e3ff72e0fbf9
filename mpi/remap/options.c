// SPDX-License-Identifier: BSD-3-Clause
// Which orders are asked for, and how the best of them is found.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

static const char orders_there_are[] =
    "standard, fastest-edge-first, channel-aware, random, blocked, tiled(EXTENTS), file(NAME)";

int read_extents(const char* text, int extents[], int most) {
    for (int count = 0; count < most;) {
        char* end = NULL;
        const long extent = strtol(text, &end, 10);
        if (end == text || extent < 1 || extent > INT_MAX) return 0;
        extents[count++] = (int)extent;
        if (*end == '\0') return count;
        if (*end != 'x') return 0;
        text = end + 1;
    }
    return 0;
}

static bool fills(const char* text, int ranks) {
    enum { most = 16 };
    int extents[most];
    const int count = read_extents(text, extents, most);
    long long cells = count > 0;
    for (int d = 0; d < count && cells <= ranks; ++d) cells *= extents[d];
    return cells == ranks;
}

/// The argument of `name(ARGUMENT)`, or NULL.
static char* argument_of(const char* text, const char* name) {
    const size_t before = strlen(name), length = strlen(text);
    if (length < before + 3 || strncmp(text, name, before) != 0) return NULL;
    if (text[before] != '(' || text[length - 1] != ')') return NULL;
    return strndup(text + before + 1, length - before - 2);
}

static int read_order(const char* text, int ranks, struct order* order, char why[why_size]) {
    static const struct {
        const char* name;
        enum order_kind kind;
    } plain[] = {{"standard", of_numbers},
                 {"random", of_numbers},
                 {"fastest-edge-first", of_messages},
                 {"channel-aware", of_messages},
                 {"blocked", blocked}};
    *order = (struct order){.text = text};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
        if (strcmp(text, plain[i].name) != 0) continue;
        order->kind = plain[i].kind;
        return MPI_SUCCESS;
    }
    if ((order->argument = argument_of(text, "file")) != NULL) {
        order->kind = from_file;
        return MPI_SUCCESS;
    }
    if ((order->argument = argument_of(text, "tiled")) != NULL) {
        order->kind = tiled;
        if (fills(order->argument, ranks)) return MPI_SUCCESS;
        snprintf(why, why_size, "'%s' is not a grid of %d ranks, such as tiled(%dx1)", text, ranks, ranks);
        return MPI_ERR_ARG;
    }
    snprintf(why, why_size, "no order '%s'; there are: %s", text, orders_there_are);
    return MPI_ERR_ARG;
}

static int read_orders(char* text, int ranks, struct order_options* options, char why[why_size]) {
    for (char* one; (one = strsep(&text, "|")) != NULL;) {
        if (options->order_count == most_orders) {
            snprintf(why, why_size, "there are more than %d orders", most_orders);
            return MPI_ERR_ARG;
        }
        const int wrong = read_order(one, ranks, &options->orders[options->order_count++], why);
        if (wrong != MPI_SUCCESS) return wrong;
    }
    return MPI_SUCCESS;
}

struct number {
    const char* name;
    int* value;
    int least, most;
};

static int read_number(const struct number* number, const char* text, char why[why_size]) {
    char* end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= number->least && value <= number->most) {
        *number->value = (int)value;
        return MPI_SUCCESS;
    }
    snprintf(why, why_size, "%s=%s is none of %d to %d", number->name, text, number->least, number->most);
    return MPI_ERR_ARG;
}

static int read_operation(const char* text, struct order_options* options, char why[why_size]) {
    options->operation = find_operation(text);
    if (options->operation != NULL) return MPI_SUCCESS;
    snprintf(why, why_size, "no operation '%s'; they are those of `topoloom collective`, such as scatter",
             text);
    return MPI_ERR_ARG;
}

static int read_option(char* text, int ranks, struct order_options* options, char why[why_size]) {
    int report = 0;
    const struct number numbers[] = {
        {"root", &options->root, 0, ranks - 1},
        {"channels", &options->channels, 1, INT_MAX},
        {"seed", &options->seed, 0, INT_MAX},
        {"message", &options->message, 1, INT_MAX},
        {"repeats", &options->repeats, 1, 1000},
        {"bytes", &options->bytes, 0, INT_MAX},
        {"report", &report, 0, 1},
    };
    char* value = strchr(text, '=');
    if (value != NULL) *value++ = '\0';
    if (value != NULL && strcmp(text, "order") == 0) return read_orders(value, ranks, options, why);
    if (value != NULL && strcmp(text, "operation") == 0) return read_operation(value, options, why);
    for (size_t i = 0; value != NULL && i < sizeof numbers / sizeof *numbers; ++i) {
        if (strcmp(numbers[i].name, text) != 0) continue;
        const int wrong = read_number(&numbers[i], value, why);
        options->report = options->report || report;
        return wrong;
    }
    snprintf(why, why_size,
             "expected NAME=VALUE, not '%s'; names are order, root, channels, seed, message, operation, "
             "bytes, repeats, report",
             text);
    return MPI_ERR_ARG;
}

int read_order_options(const char* text, int ranks, struct order_options* options, char why[why_size]) {
    *options = (struct order_options){
        .text = strdup(text), .channels = 1, .seed = 1, .message = 16384, .repeats = 5, .bytes = -1};
    if (options->text == NULL) {
        snprintf(why, why_size, "not enough memory");
        return MPI_ERR_NO_MEM;
    }
    char* rest = options->text;
    for (char* one; (one = strsep(&rest, ",")) != NULL;) {
        if (one[0] == '\0') continue;
        const int wrong = read_option(one, ranks, options, why);
        if (wrong != MPI_SUCCESS) return wrong;
    }
    if (options->order_count == 0) {
        snprintf(why, why_size, "give order=NAME, or several: NAME|NAME; there are: %s", orders_there_are);
        return MPI_ERR_ARG;
    }
    const bool measures = options->operation != NULL && options->bytes >= 0;
    if (options->order_count > 1 && !measures) {
        snprintf(why, why_size, "several orders are compared by a collective; give operation=NAME,bytes=N");
        return MPI_ERR_ARG;
    }
    return MPI_SUCCESS;
}

void free_order_options(struct order_options* options) {
    for (int i = 0; i < options->order_count; ++i) free(options->orders[i].argument);
    free(options->text);
}
