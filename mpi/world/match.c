// SPDX-License-Identifier: BSD-3-Clause
// Which planned rank each process of the job becomes.
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

/// A rank of the plan by its slot, or a process in the launcher's order.
struct place {
    int host, order, id;
    bool done;
};

static int by_host(const void* a, const void* b) {
    const struct place *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

/// Which of the places owns a CPU.
static void find_owners(const struct bindings* bindings, const struct place* seats, int count, int* owner) {
    struct cpus cpus;
    for (int cpu = 0; cpu < most_cpus; ++cpu) owner[cpu] = -1;
    for (int i = 0; i < count; ++i) {
        const char* text = bindings->seats[seats[i].id].cpus;
        if (text == NULL || !cpus_from_text(text, &cpus)) continue;
        for (int word = 0; word < cpu_words; ++word)
            for (uint64_t left = cpus.words[word]; left != 0; left &= left - 1)
                owner[64 * word + __builtin_ctzll(left)] = i;
    }
}

/// On one host: a process that is bound within the CPUs of a seat takes it, the others take what is left.
static void match_host(const struct bindings* bindings, const struct testimonies* all, struct place* seats,
                       struct place* processes, int count, int* ranks) {
    static int owner[most_cpus];
    struct cpus bound, cpus;
    find_owners(bindings, seats, count, owner);
    for (int i = 0; i < count; ++i) {
        if (!cpus_from_text(testimony_of(all, processes[i].id).cpus, &bound)) continue;
        const int at = owner[cpus_first(&bound)];
        if (at < 0 || seats[at].done) continue;
        if (!cpus_from_text(bindings->seats[seats[at].id].cpus, &cpus) || !cpus_within(&bound, &cpus))
            continue;
        ranks[processes[i].id] = seats[at].id;
        seats[at].done = processes[i].done = true;
    }
    int next = 0;
    for (int i = 0; i < count; ++i) {
        if (processes[i].done) continue;
        while (seats[next].done) ++next;
        ranks[processes[i].id] = seats[next++].id;
    }
}

static bool match(const struct bindings* bindings, const struct testimonies* all, struct place* seats,
                  struct place* processes, int* ranks, char* why, int room) {
    for (int i = 0; i < all->count; ++i) {
        const char* name = testimony_of(all, i).host;
        const int host = bindings_host(bindings, name);
        if (host < 0) {
            snprintf(why, (size_t)room, "there are processes on host %s, which the plan does not name", name);
            return false;
        }
        seats[i] = (struct place){bindings->seats[i].host, bindings->seats[i].slot, i, false};
        processes[i] = (struct place){host, i, i, false};
    }
    qsort(seats, (size_t)all->count, sizeof *seats, by_host);
    qsort(processes, (size_t)all->count, sizeof *processes, by_host);
    for (int first = 0, end; first < all->count; first = end) {
        const int host = seats[first].host;
        int found = first;
        for (end = first; end < all->count && seats[end].host == host; ++end) continue;
        while (found < all->count && processes[found].host == host) ++found;
        if (found != end) {
            snprintf(why, (size_t)room, "ranks planned on host %s: %d, but processes there: %d",
                     bindings->hosts[host], end - first, found - first);
            return false;
        }
        match_host(bindings, all, seats + first, processes + first, end - first, ranks);
    }
    return true;
}

bool world_match(const struct bindings* bindings, const struct testimonies* all, int* ranks, char* why,
                 int room) {
    if (bindings->rank_count != all->count) {
        snprintf(why, (size_t)room, "the plan is for %d ranks, but there are %d processes",
                 bindings->rank_count, all->count);
        return false;
    }
    struct place* seats = malloc((size_t)all->count * sizeof *seats);
    struct place* processes = malloc((size_t)all->count * sizeof *processes);
    bool matched = false;
    if (seats != NULL && processes != NULL)
        matched = match(bindings, all, seats, processes, ranks, why, room);
    else
        snprintf(why, (size_t)room, "not enough memory");
    free(seats);
    free(processes);
    return matched;
}
