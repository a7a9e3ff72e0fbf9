// SPDX-License-Identifier: BSD-3-Clause
// Where the processes of a job sit, and where a plan wants its ranks.
#ifndef TOPOLOOM_SEATS_H
#define TOPOLOOM_SEATS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// ---- cpus.c: sets of CPUs, numbered as the system does, and as text "0-3,8" -----------------------------
enum { most_cpus = 16384, cpu_words = most_cpus / 64 };
struct cpus {
    uint64_t words[cpu_words];
};
void cpus_of_this_thread(struct cpus* cpus);  // that it may run on; none if the system does not say
void cpus_bind_this_thread(const struct cpus* cpus);
bool cpus_has(const struct cpus* cpus, int cpu);
char* cpus_to_text(const struct cpus* cpus);  // malloc
bool cpus_from_text(const char* text, struct cpus* cpus);
bool cpus_within(const struct cpus* inner, const struct cpus* outer);
int cpus_first(const struct cpus* cpus);  // -1 = none

// ---- bindings.c: what `topoloom export --to bindings` writes: rank host slot cpus gpu nic -------------------
struct seat {
    int host, slot;    // index into `hosts`; slot -1 = the rank is not in the plan
    const char* cpus;  // NULL = not known
};
struct bindings {
    int rank_count, host_count;
    struct seat* seats;    // by rank
    const char** hosts;    // sorted
    const char** host_of;  // by rank
    char* text;            // what the strings lie in
};
/// False with a reason in `why`, which has room for `room` characters.
bool bindings_read(const char* file, struct bindings* bindings, char* why, int room);
void bindings_free(struct bindings* bindings);
int bindings_host(const struct bindings* bindings,
                  const char* name);  // by the rule of host_names.h; -1 = none

// ---- testimony.c: what each process says of itself ------------------------------------------------------
struct testimony {
    const char *host, *cpus, *cpu;  // the last is the one that it was on
};
struct testimonies {
    int count, width;
    char* text;  // NULL on all ranks but 0, and there if memory was short
};
/// Collective; a tree of messages of about 50 bytes per rank.
struct testimonies testimonies_gather(MPI_Comm comm);
struct testimony testimony_of(const struct testimonies* all, int rank);

// ---- start.c, for shims --------------------------------------------------------------------------------
void seats_start(void);  // the shim's own; called once, when MPI has been initialized

#endif
