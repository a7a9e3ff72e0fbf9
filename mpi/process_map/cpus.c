// SPDX-License-Identifier: BSD-3-Clause
// Sets of CPUs.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_map.h"

bool has_cpu(const struct cpu_set* cpus, int cpu) { return cpus->words[cpu / 64] >> (cpu % 64) & 1; }

void get_thread_cpus(struct cpu_set* cpus) {
    memset(cpus, 0, sizeof *cpus);
    sched_getaffinity(0, sizeof *cpus, (cpu_set_t*)cpus);
}

void bind_thread(const struct cpu_set* cpus) { sched_setaffinity(0, sizeof *cpus, (const cpu_set_t*)cpus); }

char* format_cpus(const struct cpu_set* cpus) {
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    const char* comma = "";
    for (int cpu = 0; cpu < max_cpus; ++cpu) {
        if (!has_cpu(cpus, cpu)) continue;
        const int first = cpu;
        while (cpu + 1 < max_cpus && has_cpu(cpus, cpu + 1)) ++cpu;
        fprintf(out, cpu > first ? "%s%d-%d" : "%s%d", comma, first, cpu);
        comma = ",";
    }
    return fclose(out) == 0 ? text : NULL;
}

bool parse_cpus(const char* text, struct cpu_set* cpus) {
    memset(cpus, 0, sizeof *cpus);
    do {
        int first, last, length = 0;
        if (sscanf(text, "%d%n-%d%n", &first, &length, &last, &length) < 2) last = first;
        if (length == 0 || first < 0 || last < first || last >= max_cpus) return false;
        for (int cpu = first; cpu <= last; ++cpu) cpus->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
        text += length;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

bool is_cpu_subset(const struct cpu_set* inner, const struct cpu_set* outer) {
    for (int i = 0; i < cpu_words; ++i)
        if ((inner->words[i] & ~outer->words[i]) != 0) return false;
    return true;
}

int find_first_cpu(const struct cpu_set* cpus) {
    for (int i = 0; i < cpu_words; ++i)
        if (cpus->words[i] != 0) return 64 * i + __builtin_ctzll(cpus->words[i]);
    return -1;
}
