// SPDX-License-Identifier: BSD-3-Clause
// Assigns planned ranks to the processes of the job.
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

/// Either a planned rank, sorted by slot, or a process, sorted in launcher order.
struct candidate {
    int host, order, id;
    bool matched;
};

static int compare_hosts(const void* a, const void* b) {
    const struct candidate *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

/// Finds the planned rank (an index into `planned`) of each CPU; -1 = none.
static void find_cpu_owners(const struct bindings* bindings, const struct candidate* planned, int count,
                            int* owner) {
    struct cpu_set cpus;
    for (int cpu = 0; cpu < max_cpus; ++cpu) owner[cpu] = -1;
    for (int i = 0; i < count; ++i) {
        const char* text = bindings->by_rank[planned[i].id].cpus;
        if (text == NULL || !parse_cpus(text, &cpus)) continue;
        for (int word = 0; word < cpu_words; ++word)
            for (uint64_t left = cpus.words[word]; left != 0; left &= left - 1)
                owner[64 * word + __builtin_ctzll(left)] = i;
    }
}

/// Matches the processes of one host: first the processes that are bound to CPUs of one planned rank, then the others.
static void match_host_processes(const struct bindings* bindings, const struct affinity_report* report,
                                 struct candidate* planned, struct candidate* processes, int count,
                                 int* ranks) {
    static int owner[max_cpus];
    struct cpu_set bound, cpus;
    find_cpu_owners(bindings, planned, count, owner);
    for (int i = 0; i < count; ++i) {
        if (!parse_cpus(get_affinity(report, processes[i].id).cpus, &bound)) continue;
        const int at = owner[find_first_cpu(&bound)];
        if (at < 0 || planned[at].matched) continue;
        if (!parse_cpus(bindings->by_rank[planned[at].id].cpus, &cpus) || !is_cpu_subset(&bound, &cpus))
            continue;
        ranks[processes[i].id] = planned[at].id;
        planned[at].matched = processes[i].matched = true;
    }
    int next = 0;
    for (int i = 0; i < count; ++i) {
        if (processes[i].matched) continue;
        while (planned[next].matched) ++next;
        ranks[processes[i].id] = planned[next++].id;
    }
}

static bool match_all_hosts(const struct bindings* bindings, const struct affinity_report* report,
                            struct candidate* planned, struct candidate* processes, int* ranks, char* error,
                            size_t error_size) {
    for (int i = 0; i < report->count; ++i) {
        const char* name = get_affinity(report, i).host;
        const int host = find_bindings_host(bindings, name);
        if (host < 0) {
            snprintf(error, error_size, "there are processes on host %s, which the plan does not name", name);
            return false;
        }
        planned[i] = (struct candidate){bindings->by_rank[i].host, bindings->by_rank[i].slot, i, false};
        processes[i] = (struct candidate){host, i, i, false};
    }
    qsort(planned, (size_t)report->count, sizeof *planned, compare_hosts);
    qsort(processes, (size_t)report->count, sizeof *processes, compare_hosts);
    for (int first = 0, end; first < report->count; first = end) {
        const int host = planned[first].host;
        int found = first;
        for (end = first; end < report->count && planned[end].host == host; ++end) continue;
        while (found < report->count && processes[found].host == host) ++found;
        if (found != end) {
            snprintf(error, error_size, "ranks planned on host %s: %d, but processes there: %d",
                     bindings->hosts[host], end - first, found - first);
            return false;
        }
        match_host_processes(bindings, report, planned + first, processes + first, end - first, ranks);
    }
    return true;
}

bool match_processes(const struct bindings* bindings, const struct affinity_report* report, int* ranks,
                     char* error, size_t error_size) {
    if (bindings->rank_count != report->count) {
        snprintf(error, error_size, "the plan is for %d ranks, but there are %d processes",
                 bindings->rank_count, report->count);
        return false;
    }
    struct candidate* planned = malloc((size_t)report->count * sizeof *planned);
    struct candidate* processes = malloc((size_t)report->count * sizeof *processes);
    bool matched = false;
    if (planned != NULL && processes != NULL)
        matched = match_all_hosts(bindings, report, planned, processes, ranks, error, error_size);
    else
        snprintf(error, error_size, "not enough memory");
    free(planned);
    free(processes);
    return matched;
}
