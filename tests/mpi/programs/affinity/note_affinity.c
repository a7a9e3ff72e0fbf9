// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: writes the CPUs to which a process is bound to the file AFFINITY_NOTES/PID instead of binding it. So ranks
// can be bound to the CPUs of simulated hosts, which this machine does not have.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* cpus) {
    const char* folder = getenv("AFFINITY_NOTES");
    if (folder == NULL) return -1;
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, pid ? pid : getpid());
    FILE* file = fopen(path, "w");
    if (file == NULL) return -1;
    for (size_t cpu = 0; cpu < 8 * size; cpu++)
        if (CPU_ISSET_S(cpu, size, cpus)) fprintf(file, " %zu", cpu);
    return fclose(file);
}
