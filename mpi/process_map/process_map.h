// SPDX-License-Identifier: BSD-3-Clause
// Location of each process of a job, and planned location of each rank.
#ifndef TOPOLOOM_PROCESS_MAP_H
#define TOPOLOOM_PROCESS_MAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- cpus.c: sets of CPUs, by kernel numbers; text format "0-3,8" ---------------------------------
enum { max_cpus = 16384, cpu_words = max_cpus / 64 };
struct cpu_set {
    uint64_t words[cpu_words];
};
void get_thread_cpus(struct cpu_set* cpus);  // returns an empty set if the kernel does not report the CPUs
void bind_thread(const struct cpu_set* cpus);
bool has_cpu(const struct cpu_set* cpus, int cpu);
char* format_cpus(const struct cpu_set* cpus);  // returns memory from malloc; NULL = memory exhausted
bool parse_cpus(const char* text, struct cpu_set* cpus);
bool is_cpu_subset(const struct cpu_set* inner, const struct cpu_set* outer);
int find_first_cpu(const struct cpu_set* cpus);  // -1 = none

// ---- bindings.c: reads files of `topoloom export --to bindings`: rank host slot cpus gpu nic ----------
struct binding {
    int host, slot;    // `host` is an index into `hosts`; slot -1 = rank is not in the plan
    const char* cpus;  // NULL = unknown
};
struct bindings {
    int rank_count, host_count;
    struct binding* by_rank;
    const char** hosts;         // sorted
    const char** host_by_rank;  // names
    char* text;                 // memory that contains all strings
};
/// Reads a bindings file. Returns false on failure, with the reason in `error`.
bool read_bindings(const char* file, struct bindings* bindings, char* error, size_t error_size);
void free_bindings(struct bindings* bindings);
/// Returns the index into `hosts` of the host that find_host() finds; -1 = none.
int find_bindings_host(const struct bindings* bindings, const char* name);

// ---- affinity_report.c: where each process runs ----------------------------------------------------------
struct affinity {
    const char *host, *cpus, *cpu;  // host name, allowed CPUs, current CPU
};
struct affinity_report {
    int count, width;
    char* text;  // allocated on rank 0 only; NULL = memory exhausted
};
/// Gathers about 50 bytes per rank on rank 0. The caller frees `text`. Collective.
struct affinity_report gather_affinities(MPI_Comm comm);
struct affinity get_affinity(const struct affinity_report* report, int rank);

// ---- init_hook.c, for preloaded libraries ------------------------------------------------------------------
/// Registers `hook` to be called once, after MPI has been initialized. Must be called before main.
void register_init_hook(void (*hook)(void));

#endif
