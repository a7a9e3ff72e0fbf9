// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "rounds.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "common_start.h"
#include "noise.h"
#include "pairs.h"

enum { base = 10 };
/// Maximum delay of an exchange in a timetable, as a fraction of the period.
static const double max_delay = 0.25;

static int parse_integer(char** words) {
    const char* word = strsep(words, " ");
    return word == NULL ? 0 : (int)strtol(word, NULL, base);
}

static double parse_double(char** words) {
    const char* word = strsep(words, " ");
    return word == NULL ? 0 : strtod(word, NULL);
}

/// Parses KIND SIZES WINDOW.
static int parse_measurement(char** words, struct measurement* measurement) {
    const char* kind = strsep(words, " ");
    char* sizes = strsep(words, " ");
    measurement->window = parse_integer(words);
    measurement->kind = kind == NULL ? NULL : find_exchange_kind(kind);
    measurement->size_count = 0;
    while (sizes != NULL && measurement->size_count < max_sizes)
        measurement->sizes[measurement->size_count++] = (int)strtol(strsep(&sizes, ","), NULL, base);
    return measurement->kind != NULL;
}

/// Parses the next pair of a list A-B ... Returns 0 at the end of the list.
static int parse_pair(char** words, int* first, int* second) {
    char* pair = strsep(words, " ");
    if (pair == NULL || *pair == '\0') return 0;
    *first = (int)strtol(pair, &pair, base);
    *second = (int)strtol(pair + 1, NULL, base);
    return 1;
}

static void parse_rank_sets(struct probe* probe, char* words) {
    free(probe->members);
    probe->members = malloc((size_t)probe->ranks * sizeof *probe->members);
    probe->member_count = 0;
    for (char* set; (set = strsep(&words, ";")) != NULL;) {
        int count = 0, own_index = -1;
        for (char* word; (word = strsep(&set, " ")) != NULL;) {
            if (*word == '\0' || count == probe->ranks) continue;
            const int rank = (int)strtol(word, NULL, base);
            if (rank == probe->rank) own_index = count;
            probe->members[count++] = rank;
        }
        if (own_index < 0) continue;
        probe->own_index = own_index;
        probe->member_count = count;
        return;
    }
}

/// Returns the partner of a member in a round, or -1. Circle method: the last member keeps its position, the others
/// rotate.
static int find_partner(int own_index, int round, int count) {
    const int others = count + count % 2 - 1;  // if the count is odd, an empty position is added at the end
    if (round >= others) return -1;
    if (own_index == others) return round % others;
    // A member paired with itself is paired with the last member instead.
    const int other = (2 * round - own_index + others) % others;
    if (other != own_index) return other;
    return others < count ? others : -1;
}

static void run_circle_rounds(struct probe* probe, const struct measurement* measurement, int first,
                              int count) {
    for (int round = first; round < first + count; ++round) {
        const int partner =
            probe->member_count < 2 ? -1 : find_partner(probe->own_index, round, probe->member_count);
        if (partner < 0) continue;
        // Each member measures with about half of its partners, and answers the others.
        const int is_measuring = ((probe->own_index + partner) % 2 == 0) == (probe->own_index < partner);
        const int other = probe->members[partner];
        run_pair(probe, measurement, is_measuring ? probe->rank : other, is_measuring ? other : probe->rank);
    }
}

static void run_pairs(struct probe* probe, const struct measurement* measurement, char* words) {
    for (int first, second; parse_pair(&words, &first, &second);)
        if (probe->rank == first || probe->rank == second) run_pair(probe, measurement, first, second);
}

static void run_pairs_one_by_one(struct probe* probe, const struct measurement* measurement, char* words) {
    int previous = -1;  // measuring rank of the previous pair
    for (int first, second; parse_pair(&words, &first, &second); previous = first) {
        if (probe->rank == first && previous >= 0 && previous != first)
            MPI_Recv(NULL, 0, MPI_BYTE, previous, tag_start, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (probe->rank == first || probe->rank == second) run_pair(probe, measurement, first, second);
        char* copy = words == NULL ? NULL : strndup(words, strcspn(words, " "));
        char* rest = copy;
        int next = -1, unused = -1;
        if (probe->rank == first && parse_pair(&rest, &next, &unused) && next != first)
            MPI_Send(NULL, 0, MPI_BYTE, next, tag_start, MPI_COMM_WORLD);
        free(copy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_pairs_simultaneously(struct probe* probe, const struct measurement* measurement, int repeats,
                                     char* words) {
    int *active = malloc((size_t)probe->ranks * sizeof *active), count = 0, first = -1, second = -1;
    for (int a, b; parse_pair(&words, &a, &b) && count + 2 <= probe->ranks;) {
        active[count++] = a;
        active[count++] = b;
        if (probe->rank == a || probe->rank == b) {
            first = a;
            second = b;
        }
    }
    MPI_Group all, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, active, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    if (comm != MPI_COMM_NULL) {
        run_pair_simultaneously(probe, measurement, first, second, repeats, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    free(active);
}

/// Starts rounds at times of the common clock, so that waiting ranks need no messages.
static void run_timetable(struct probe* probe, const struct measurement* measurement, double period,
                          char* words) {
    struct common_start start = make_common_start(MPI_COMM_WORLD);
    start.clock = probe->clock;
    int is_late = 0;
    const double began = wait_for_start(&start, &is_late) + period;
    int number = 0;
    for (char* round; (round = strsep(&words, ";")) != NULL; ++number) {
        while (*round == ' ') ++round;
        for (int first, second; parse_pair(&round, &first, &second);)
            if (probe->rank == first || probe->rank == second)
                run_pair_at(probe, measurement, first, second, began + number * period, max_delay * period);
    }
}

int execute_command(struct probe* probe, char* line) {
    char* words = line;
    const char* command = strsep(&words, " ");
    struct measurement measurement;
    int known = 1, measures = 1;
    if (strcmp(command, "sampling") == 0) {
        probe->sampling.min_count = parse_integer(&words);
        probe->sampling.max_count = parse_integer(&words);
        probe->sampling.width = parse_double(&words);
        probe->sampling.seconds = parse_double(&words);
        probe->sampling.exact = parse_double(&words);
        measures = 0;
    } else if (strcmp(command, "among") == 0) {
        parse_rank_sets(probe, words);
        measures = 0;
    } else if (strcmp(command, "clocks") == 0) {
        sync_clocks(&probe->clock, MPI_COMM_WORLD, 0);
        measures = 0;
    } else if (strcmp(command, "noise") == 0) {
        measure_noise(probe, parse_integer(&words));
    } else if (!parse_measurement(&words, &measurement)) {
        known = 0;
    } else if (strcmp(command, "circle") == 0) {
        const int first = parse_integer(&words);
        run_circle_rounds(probe, &measurement, first, parse_integer(&words));
    } else if (strcmp(command, "pairs") == 0) {
        run_pairs(probe, &measurement, words);
    } else if (strcmp(command, "alone") == 0) {
        run_pairs_one_by_one(probe, &measurement, words);
    } else if (strcmp(command, "together") == 0) {
        const int repeats = parse_integer(&words);
        run_pairs_simultaneously(probe, &measurement, repeats, words);
    } else if (strcmp(command, "timetable") == 0) {
        const double period = parse_double(&words);
        run_timetable(probe, &measurement, period, words);
    } else {
        known = 0;
    }
    ++probe->commands;
    probe->measured |= measures;
    reset_deviation(&probe->sampling);
    return known;
}

void free_probe(struct probe* probe) {
    free(probe->buffers.out);
    free(probe->buffers.in);
    free(probe->buffers.requests);
    free(probe->members);
    free_results(&probe->results);
}
