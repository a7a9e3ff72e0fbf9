// SPDX-License-Identifier: BSD-3-Clause
// Parses the options of topoloom_comm_order.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

static const char order_names[] =
    "standard, fastest-edge-first, channel-aware, random, blocked, tiled(EXTENTS), file(NAME)";

int parse_extents(const char* text, int extents[], int capacity) {
    for (int count = 0; count < capacity;) {
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

static bool is_grid_of_ranks(const char* text, int ranks) {
    int extents[max_dimensions];
    const int count = parse_extents(text, extents, max_dimensions);
    long long cells = count > 0;
    for (int d = 0; d < count && cells <= ranks; ++d) cells *= extents[d];
    return cells == ranks;
}

/// Returns a copy of ARGUMENT if the text has the form `name(ARGUMENT)`, otherwise NULL.
static char* copy_argument(const char* text, const char* name) {
    const size_t prefix = strlen(name), length = strlen(text);
    if (length < prefix + 3 || strncmp(text, name, prefix) != 0) return NULL;
    if (text[prefix] != '(' || text[length - 1] != ')') return NULL;
    return strndup(text + prefix + 1, length - prefix - 2);
}

static int parse_order(const char* text, int ranks, struct order* order, char error[error_size]) {
    static const struct {
        const char* name;
        enum order_kind kind;
    } plain[] = {{"standard", by_rank_numbers},
                 {"random", by_rank_numbers},
                 {"fastest-edge-first", by_message_times},
                 {"channel-aware", by_message_times},
                 {"blocked", blocked}};
    *order = (struct order){.text = text};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
        if (strcmp(text, plain[i].name) != 0) continue;
        order->kind = plain[i].kind;
        return MPI_SUCCESS;
    }
    if ((order->argument = copy_argument(text, "file")) != NULL) {
        order->kind = from_file;
        return MPI_SUCCESS;
    }
    if ((order->argument = copy_argument(text, "tiled")) != NULL) {
        order->kind = tiled;
        if (is_grid_of_ranks(order->argument, ranks)) return MPI_SUCCESS;
        snprintf(error, error_size, "'%s' is not a grid of %d ranks, such as tiled(%dx1)", text, ranks,
                 ranks);
        return MPI_ERR_ARG;
    }
    snprintf(error, error_size, "no order '%s'; there are: %s", text, order_names);
    return MPI_ERR_ARG;
}

static int parse_orders(char* text, int ranks, struct order_options* options, char error[error_size]) {
    for (char* order; (order = strsep(&text, "|")) != NULL;) {
        if (options->order_count == max_orders) {
            snprintf(error, error_size, "there are more than %d orders", max_orders);
            return MPI_ERR_ARG;
        }
        const int error_class = parse_order(order, ranks, &options->orders[options->order_count++], error);
        if (error_class != MPI_SUCCESS) return error_class;
    }
    return MPI_SUCCESS;
}

struct int_option {
    const char* name;
    int* value;
    int min, max;
};

static int parse_int(const struct int_option* option, const char* text, char error[error_size]) {
    char* end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= option->min && value <= option->max) {
        *option->value = (int)value;
        return MPI_SUCCESS;
    }
    snprintf(error, error_size, "%s=%s is none of %d to %d", option->name, text, option->min, option->max);
    return MPI_ERR_ARG;
}

static int parse_operation_option(const char* text, struct order_options* options, char error[error_size]) {
    options->operation = find_operation(text);
    if (options->operation != NULL) return MPI_SUCCESS;
    snprintf(error, error_size, "no operation '%s'; use one of `topoloom collective`, such as scatter", text);
    return MPI_ERR_ARG;
}

static int parse_option(char* text, int ranks, struct order_options* options, char error[error_size]) {
    int report = 0;
    const struct int_option int_options[] = {
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
    if (value != NULL && strcmp(text, "order") == 0) return parse_orders(value, ranks, options, error);
    if (value != NULL && strcmp(text, "operation") == 0) return parse_operation_option(value, options, error);
    for (size_t i = 0; value != NULL && i < sizeof int_options / sizeof *int_options; ++i) {
        if (strcmp(int_options[i].name, text) != 0) continue;
        const int error_class = parse_int(&int_options[i], value, error);
        options->report = options->report || report;
        return error_class;
    }
    snprintf(error, error_size,
             "expected NAME=VALUE, not '%s'; names are order, root, channels, seed, message, operation, "
             "bytes, repeats, report",
             text);
    return MPI_ERR_ARG;
}

int parse_order_options(const char* text, int ranks, struct order_options* options, char error[error_size]) {
    *options = (struct order_options){
        .text = strdup(text), .channels = 1, .seed = 1, .message = 16384, .repeats = 5, .bytes = -1};
    if (options->text == NULL) {
        snprintf(error, error_size, "not enough memory");
        return MPI_ERR_NO_MEM;
    }
    char* rest = options->text;
    for (char* option; (option = strsep(&rest, ",")) != NULL;) {
        if (option[0] == '\0') continue;
        const int error_class = parse_option(option, ranks, options, error);
        if (error_class != MPI_SUCCESS) return error_class;
    }
    if (options->order_count == 0) {
        snprintf(error, error_size, "give order=NAME, or several: NAME|NAME; there are: %s", order_names);
        return MPI_ERR_ARG;
    }
    const bool can_measure = options->operation != NULL && options->bytes >= 0;
    if (options->order_count > 1 && !can_measure) {
        snprintf(error, error_size,
                 "several orders are compared by a collective; give operation=NAME,bytes=N");
        return MPI_ERR_ARG;
    }
    return MPI_SUCCESS;
}

void free_order_options(struct order_options* options) {
    for (int i = 0; i < options->order_count; ++i) free(options->orders[i].argument);
    free(options->text);
}
