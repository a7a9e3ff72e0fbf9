// SPDX-License-Identifier: BSD-3-Clause
// Builds the process map and finds a better order, on rank 0.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_map.h"
#include "reorder.h"

enum { described_levels = 1 + core_levels };

/// Counts the core levels that are known for any process. Deeper levels are irrelevant for distances.
static size_t count_known_core_levels(const struct gathered_lists* job) {
    size_t known = 0;
    for (int p = 0; p < job->ranks; ++p)
        while (known < core_levels && job->locations[p].cores[known] >= 0) ++known;
    return known;
}

/// Infers the machine from the switches, nodes and core groups that processes share.
static topoloom_process_map* infer_process_map(const struct gathered_lists* job, char* error,
                                               size_t error_size) {
    const size_t ranks = (size_t)job->ranks, known = count_known_core_levels(job);
    const size_t levels = switch_levels + 1 + known;
    int64_t* groups = malloc(ranks * levels * sizeof *groups);
    topoloom_process_map* process_map = NULL;
    if (groups == NULL) {
        snprintf(error, error_size, "not enough memory");
        return NULL;
    }
    for (size_t p = 0; p < ranks; ++p) {
        const struct location* at = &job->locations[p];
        int64_t* row = groups + p * levels;
        memcpy(row, at->switches, sizeof at->switches);
        row[switch_levels] = at->node;
        memcpy(row + switch_levels + 1, at->cores, known * sizeof *at->cores);
    }
    topoloom_process_map_from_groups(ranks, levels, switch_levels, groups, &process_map, error, error_size);
    free(groups);
    return process_map;
}

/// Reads the machine from a file.
static topoloom_process_map* read_process_map(const struct gathered_lists* job, const char* name, char* error,
                                              size_t error_size) {
    const size_t ranks = (size_t)job->ranks;
    struct machine_file machine;
    if (!read_machine_file(name, &machine, error, error_size)) return NULL;
    int64_t (*groups)[described_levels] = malloc(ranks * sizeof *groups);
    topoloom_process_map* process_map = NULL;
    bool known = groups != NULL;
    if (!known) snprintf(error, error_size, "not enough memory");
    for (size_t p = 0; known && p < ranks; ++p) {
        const struct location* at = &job->locations[p];
        groups[p][0] = find_node_of_host(&machine, at->host);
        memcpy(groups[p] + 1, at->cores, sizeof at->cores);
        known = groups[p][0] >= 0;
        if (!known)
            snprintf(error, error_size,
                     "host %s (rank %zu) is not in the machine: no line 'node NUMBER %s' in %s", at->host, p,
                     at->host, name);
    }
    if (known)
        topoloom_process_map_on_machine(machine.text, ranks, described_levels, *groups, &process_map, error,
                                        error_size);
    free(groups);
    free_machine_file(&machine);
    return process_map;
}

struct pattern_arrays {
    uint64_t* first;
    uint32_t* peers;
    int64_t* bytes;
};

static void free_pattern_arrays(struct pattern_arrays* pattern_arrays) {
    free(pattern_arrays->first);
    free(pattern_arrays->peers);
    free(pattern_arrays->bytes);
}

static bool build_pattern_arrays(const struct gathered_lists* job, struct pattern_arrays* pattern_arrays) {
    const size_t ranks = (size_t)job->ranks;
    pattern_arrays->first = calloc(ranks + 1, sizeof *pattern_arrays->first);
    if (pattern_arrays->first == NULL) return false;
    for (size_t r = 0; r < ranks; ++r)
        pattern_arrays->first[r + 1] = pattern_arrays->first[r] + (uint64_t)job->counts[r];
    const size_t count = pattern_arrays->first[ranks];
    pattern_arrays->peers = malloc(count * sizeof *pattern_arrays->peers);
    pattern_arrays->bytes = malloc(count * sizeof *pattern_arrays->bytes);
    if (pattern_arrays->peers == NULL || pattern_arrays->bytes == NULL) return false;
    for (size_t k = 0; k < count; ++k) {
        pattern_arrays->peers[k] = (uint32_t)job->neighbors[k][0];
        pattern_arrays->bytes[k] = job->neighbors[k][1];
    }
    return true;
}

/// Finds an order with threads on all cores of the node, because the other ranks sleep meanwhile. Threads
/// inherit the binding of the calling thread.
static int find_order_on_all_cores(const topoloom_process_map* process_map, const topoloom_pattern* pattern,
                                   const char* options, uint32_t* process_of_rank, topoloom_gain* gain,
                                   char* error, size_t error_size) {
    struct cpu_set bound, all;
    get_thread_cpus(&bound);
    memset(&all, 0xff, sizeof all);
    bind_thread(&all);
    const int failure =
        topoloom_order(process_map, pattern, options, process_of_rank, gain, error, error_size);
    bind_thread(&bound);
    return failure;
}

static enum order_outcome find_new_ranks(const topoloom_process_map* process_map,
                                         const struct gathered_lists* job, const char* options, int* new_rank,
                                         topoloom_gain* gain, char* error, size_t error_size) {
    struct pattern_arrays pattern_arrays = {NULL, NULL, NULL};
    uint32_t* process_of_rank = malloc((size_t)job->ranks * sizeof *process_of_rank);
    enum order_outcome order_outcome = failed;
    snprintf(error, error_size, "not enough memory");
    if (process_of_rank != NULL && build_pattern_arrays(job, &pattern_arrays)) {
        const topoloom_pattern pattern = {(size_t)job->ranks, pattern_arrays.first, pattern_arrays.peers,
                                          pattern_arrays.bytes};
        if (find_order_on_all_cores(process_map, &pattern, options, process_of_rank, gain, error,
                                    error_size) == 0)
            order_outcome = kept;
    }
    for (int r = 0; order_outcome != failed && r < job->ranks; ++r) {
        new_rank[process_of_rank[r]] = r;
        if (process_of_rank[r] != (uint32_t)r) order_outcome = reordered;
    }
    free(process_of_rank);
    free_pattern_arrays(&pattern_arrays);
    return order_outcome;
}

/// Removes `name=value` and its comma from the options. Returns a copy of the value, or NULL.
static char* extract_option(char* options, const char* name) {
    const size_t length = strlen(name);
    for (char* at = options; *at != '\0'; at += *at == ',') {
        const size_t whole = strcspn(at, ",");
        if (strncmp(at, name, length) != 0 || at[length] != '=') {
            at += whole;
            continue;
        }
        char* value = strndup(at + length + 1, whole - length - 1);
        const char* rest = at + whole + (at[whole] == ',');
        if (*rest == '\0' && at > options) --at;
        memmove(at, rest, strlen(rest) + 1);
        return value;
    }
    return NULL;
}

void format_gain(const struct reorder_stats* gain, char* line, size_t size) {
    const double percent = gain->before > 0 ? 100 * (1 - gain->after / gain->before) : 0;
    snprintf(line, size, "%.4g -> %.4g (%.1f %% gain), inter-node bytes %lld -> %lld", gain->before,
             gain->after, percent, (long long)gain->inter_node_bytes_before,
             (long long)gain->inter_node_bytes_after);
}

static void print_gain(int ranks, const struct reorder_stats* stats) {
    char line[256];
    format_gain(stats, line, sizeof line);
    fprintf(stderr, "topoloom: %d ranks %s: cost %s\n", ranks,
            stats->reordered ? "reordered" : "left in order", line);
}

enum order_outcome compute_new_ranks(const struct gathered_lists* job, const char* options, int* new_rank,
                                     struct reorder_stats* stats, char* error, size_t error_size) {
    if (options == NULL) options = getenv("TOPOLOOM_OPTIONS");
    char* rest = strdup(options == NULL ? "" : options);
    if (rest == NULL) {
        snprintf(error, error_size, "not enough memory");
        return failed;
    }
    char *machine = extract_option(rest, "machine"), *reporting = extract_option(rest, "report");
    const char* described = machine != NULL ? machine : getenv("TOPOLOOM_MACHINE");
    topoloom_process_map* process_map = described == NULL
                                            ? infer_process_map(job, error, error_size)
                                            : read_process_map(job, described, error, error_size);
    topoloom_gain gain = {0};
    const enum order_outcome order_outcome =
        process_map == NULL ? failed
                            : find_new_ranks(process_map, job, rest, new_rank, &gain, error, error_size);
    stats->reordered = order_outcome == reordered;
    stats->before = gain.before;
    stats->after = gain.after;
    stats->inter_node_bytes_before = gain.inter_node_bytes_before;
    stats->inter_node_bytes_after = gain.inter_node_bytes_after;
    if (order_outcome != failed && reporting != NULL && strcmp(reporting, "0") != 0)
        print_gain(job->ranks, stats);
    topoloom_process_map_free(process_map);
    free(machine);
    free(reporting);
    free(rest);
    return order_outcome;
}
