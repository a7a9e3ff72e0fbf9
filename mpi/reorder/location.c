// SPDX-License-Identifier: BSD-3-Clause
// Finds the location of a process: its node, the switches above the node, and the cores of its binding.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_map.h"
#include "reorder.h"

static int64_t read_number(const char* pattern, int cpu) {
    char name[128];
    snprintf(name, sizeof name, pattern, cpu);
    FILE* file = fopen(name, "re");
    long number = -1;
    if (file != NULL && fscanf(file, "%ld", &number) != 1) number = -1;
    if (file != NULL) fclose(file);
    return number;
}

static bool is_in_numa_domain(int cpu, int domain) {
    char name[64];
    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/node%d", cpu, domain);
    return access(name, F_OK) == 0;
}

static int64_t find_numa_domain(int cpu) {
    enum { max_domains = 256 };
    for (int domain = 0; domain < max_domains; ++domain)
        if (is_in_numa_domain(cpu, domain)) return domain;
    return -1;
}

static int64_t find_cpu_group(int level, int cpu) {
    if (level == 0) return read_number("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    if (level == 1) return find_numa_domain(cpu);
    if (level == 2) return read_number("/sys/devices/system/cpu/cpu%d/cache/index3/id", cpu);
    return read_number("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
}

/// Finds, at each level, the group that contains all CPUs of the binding.
static void find_core_groups(int64_t groups[core_levels]) {
    for (int level = 0; level < core_levels; ++level) groups[level] = -1;
    struct cpu_set cpus;
    get_thread_cpus(&cpus);
    for (int level = 0; level < core_levels; ++level) {
        int64_t shared = -1;
        for (int cpu = 0; cpu < max_cpus; ++cpu) {
            if (!has_cpu(&cpus, cpu)) continue;
            const int64_t group = find_cpu_group(level, cpu);
            if (shared != -1 && group != shared) return;
            shared = group;
        }
        groups[level] = shared;
    }
}

static const uint64_t initial_hash = 0xcbf29ce484222325;
static uint64_t extend_hash(uint64_t hash, const char* text, size_t length) {  // FNV-1a
    for (size_t i = 0; i < length; ++i) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return hash;
}

/// Parses an address such as s0.s2.n17 with the pattern switch.switch.node. The lowest switch becomes the last level.
static void find_switches(int64_t switches[switch_levels]) {
    memset(switches, 0, switch_levels * sizeof *switches);
    const char* address = getenv("SLURM_TOPOLOGY_ADDR");
    const char* pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    if (address == NULL || pattern == NULL) return;
    uint64_t path = initial_hash;
    while (strncmp(pattern, "switch.", 7) == 0) {
        const size_t length = strcspn(address, ".");
        if (address[length] == '\0') break;
        path = extend_hash(path, address, length + 1);
        memmove(switches, switches + 1, (switch_levels - 1) * sizeof *switches);
        switches[switch_levels - 1] = (int64_t)path;
        address += length + 1;
        pattern += 7;
    }
}

/// Hashes the host name and the boot id. Host names may be equal on all nodes (localhost); containers on one kernel may
/// have different ones.
static int64_t hash_node(const char* host) {
    char boot[64] = "";
    FILE* file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL && fgets(boot, sizeof boot, file) == NULL) boot[0] = '\0';
    if (file != NULL) fclose(file);
    return (int64_t)extend_hash(extend_hash(initial_hash, host, strlen(host)), boot, strlen(boot));
}

void find_location(struct location* location) {
    memset(location, 0, sizeof *location);
    find_switches(location->switches);
    find_core_groups(location->cores);
#ifdef SMPI_H  // gethostname would return the host that simulates
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    PMPI_Get_processor_name(host, &(int){0});
    snprintf(location->host, host_length, "%.*s", host_length - 1, host);
#else
    if (gethostname(location->host, host_length - 1) != 0) location->host[0] = '\0';
#endif
    location->node = hash_node(location->host);
}
