// SPDX-License-Identifier: BSD-3-Clause
// The location of each process of a job, and the planned location of each rank.
#ifndef TOPOLOOM_PROCESS_MAP_H
#define TOPOLOOM_PROCESS_MAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- cpus.c: sets of CPUs by the numbers of the kernel; as text "0-3,8" ---------------------------------
enum { max_cpus = 16384, cpu_words = max_cpus / 64 };
struct cpu_set {
    uint64_t words[cpu_words];
};
void get_thread_cpus(struct cpu_set* cpus);  // empty if the kernel does not tell
void bind_thread(const struct cpu_set* cpus);
bool has_cpu(const struct cpu_set* cpus, int cpu);
char* format_cpus(const struct cpu_set* cpus);  // malloc; NULL = no memory
bool parse_cpus(const char* text, struct cpu_set* cpus);
bool is_cpu_subset(const struct cpu_set* inner, const struct cpu_set* outer);
int find_first_cpu(const struct cpu_set* cpus);  // -1 = none

// ---- bindings.c: the plan that `topoloom export --to bindings` writes: rank host slot cpus gpu nic ----------
struct binding {
    int host, slot;    // index into `hosts`; slot -1 = the plan lacks the rank
    const char* cpus;  // NULL = not known
};
struct bindings {
    int rank_count, host_count;
    struct binding* by_rank;
    const char** hosts;         // sorted
    const char** host_by_rank;  // names
    char* text;                 // owns the strings
};
/// False with the reason in `error`.
bool read_bindings(const char* file, struct bindings* bindings, char* error, size_t error_size);
void free_bindings(struct bindings* bindings);
/// Index into `hosts`, found as by find_host; -1 = none.
int find_bindings_host(const struct bindings* bindings, const char* name);

// ---- affinity_report.c: where each process runs ----------------------------------------------------------
struct affinity {
    const char *host, *cpus, *cpu;  // CPUs that it may run on, and the one that it was on
};
struct affinity_report {
    int count, width;
    char* text;  // NULL if memory was short, and on all ranks but 0
};
/// Collective. Gathers about 50 bytes per rank on rank 0; the caller frees `text`.
struct affinity_report gather_affinities(MPI_Comm comm);
struct affinity get_affinity(const struct affinity_report* report, int rank);

// ---- init_hook.c, for preloaded libraries ------------------------------------------------------------------
/// Has `hook` called once, when MPI has been initialized. Call it before main.
void call_after_init(void (*hook)(void));

#endif
