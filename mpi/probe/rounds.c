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
/// How late an exchange of a timetable may begin, as a fraction of its period.
static const double max_delay = 0.25;

static int parse_number(char** words) {
    const char* word = strsep(words, " ");
    return word == NULL ? 0 : (int)strtol(word, NULL, base);
}

static double parse_value(char** words) {
    const char* word = strsep(words, " ");
    return word == NULL ? 0 : strtod(word, NULL);
}

/// Parses KIND SIZES WINDOW.
static int read_measurement(char** words, struct measurement* measure) {
    const char* kind = strsep(words, " ");
    char* sizes = strsep(words, " ");
    measure->window = parse_number(words);
    measure->kind = kind == NULL ? NULL : find_kind(kind);
    measure->size_count = 0;
    while (sizes != NULL && measure->size_count < max_sizes)
        measure->sizes[measure->size_count++] = (int)strtol(strsep(&sizes, ","), NULL, base);
    return measure->kind != NULL;
}

/// Parses the next of A-B ...; 0 after the last.
static int parse_pair(char** words, int* first, int* second) {
    char* pair = strsep(words, " ");
    if (pair == NULL || *pair == '\0') return 0;
    *first = (int)strtol(pair, &pair, base);
    *second = (int)strtol(pair + 1, NULL, base);
    return 1;
}

static void read_sets(struct probe* probe, char* words) {
    free(probe->members);
    probe->members = malloc((size_t)probe->ranks * sizeof *probe->members);
    probe->member_count = 0;
    for (char* set; (set = strsep(&words, ";")) != NULL;) {
        int count = 0, own = -1;
        for (char* word; (word = strsep(&set, " ")) != NULL;) {
            if (*word == '\0' || count == probe->ranks) continue;
            const int rank = (int)strtol(word, NULL, base);
            if (rank == probe->rank) own = count;
            probe->members[count++] = rank;
        }
        if (own < 0) continue;
        probe->own = own;
        probe->member_count = count;
        return;
    }
}

/// The partner of a member in a round, by the circle method: the last member stays, the others rotate. -1 = none.
static int find_partner(int own, int round, int count) {
    const int others = count + count % 2 - 1;  // an odd set gets an empty place, the last one
    if (round >= others) return -1;
    if (own == others) return round % others;
    // A member that would meet itself meets the last one.
    const int other = (2 * round - own + others) % others;
    if (other != own) return other;
    return others < count ? others : -1;
}

static void run_circle(struct probe* probe, const struct measurement* measure, int first, int count) {
    for (int round = first; round < first + count; ++round) {
        const int partner =
            probe->member_count < 2 ? -1 : find_partner(probe->own, round, probe->member_count);
        if (partner < 0) continue;
        // Each member measures with about half of its partners, and answers the others.
        const int is_measuring = ((probe->own + partner) % 2 == 0) == (probe->own < partner);
        const int other = probe->members[partner];
        run_pair(probe, measure, is_measuring ? probe->rank : other, is_measuring ? other : probe->rank);
    }
}

static void run_pairs(struct probe* probe, const struct measurement* measure, char* words) {
    for (int first, second; parse_pair(&words, &first, &second);)
        if (probe->rank == first || probe->rank == second) run_pair(probe, measure, first, second);
}

static void run_alone(struct probe* probe, const struct measurement* measure, char* words) {
    int previous = -1;  // the measuring rank of the pair before
    for (int first, second; parse_pair(&words, &first, &second); previous = first) {
        if (probe->rank == first && previous >= 0 && previous != first)
            MPI_Recv(NULL, 0, MPI_BYTE, previous, tag_start, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (probe->rank == first || probe->rank == second) run_pair(probe, measure, first, second);
        char* copy = words == NULL ? NULL : strndup(words, strcspn(words, " "));
        char* rest = copy;
        int next = -1, unused = -1;
        if (probe->rank == first && parse_pair(&rest, &next, &unused) && next != first)
            MPI_Send(NULL, 0, MPI_BYTE, next, tag_start, MPI_COMM_WORLD);
        free(copy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_together(struct probe* probe, const struct measurement* measure, int repeats, char* words) {
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
        run_pair_with_others(probe, measure, first, second, repeats, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    free(active);
}

/// Rounds start by the clock, so that waiting ranks send no messages.
static void run_timetable(struct probe* probe, const struct measurement* measure, double period,
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
                run_pair_at(probe, measure, first, second, began + number * period, max_delay * period);
    }
}

int execute_order(struct probe* probe, char* line) {
    char* words = line;
    const char* order = strsep(&words, " ");
    struct measurement measure;
    int known = 1, measures = 1;
    if (strcmp(order, "sampling") == 0) {
        probe->sampling.min_count = parse_number(&words);
        probe->sampling.max_count = parse_number(&words);
        probe->sampling.width = parse_value(&words);
        probe->sampling.seconds = parse_value(&words);
        probe->sampling.exact = parse_value(&words);
        measures = 0;
    } else if (strcmp(order, "among") == 0) {
        read_sets(probe, words);
        measures = 0;
    } else if (strcmp(order, "clocks") == 0) {
        sync_clocks(&probe->clock, MPI_COMM_WORLD, 0);
        measures = 0;
    } else if (strcmp(order, "noise") == 0) {
        measure_noise(probe, parse_number(&words));
    } else if (!read_measurement(&words, &measure)) {
        known = 0;
    } else if (strcmp(order, "circle") == 0) {
        const int first = parse_number(&words);
        run_circle(probe, &measure, first, parse_number(&words));
    } else if (strcmp(order, "pairs") == 0) {
        run_pairs(probe, &measure, words);
    } else if (strcmp(order, "alone") == 0) {
        run_alone(probe, &measure, words);
    } else if (strcmp(order, "together") == 0) {
        const int repeats = parse_number(&words);
        run_together(probe, &measure, repeats, words);
    } else if (strcmp(order, "timetable") == 0) {
        const double period = parse_value(&words);
        run_timetable(probe, &measure, period, words);
    } else {
        known = 0;
    }
    ++probe->orders;
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
