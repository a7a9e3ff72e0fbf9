// SPDX-License-Identifier: BSD-3-Clause
// Writes the operation counts of each communicator to a file per process in the folder TOPOLOOM_NCCL_OUTPUT. The format
// is that of NCCL's Inspector: one line per kind of call, and one when a communicator is opened or closed.
#include "communicator.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_info.h"
#include "sigterm.h"

enum { MIN_KINDS = 3000, UNKNOWN_SIZE = 4096, KINDS_PER_RANK = 3 };

static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static struct communicator* first_;
static int
    process_;  // process that opened the first communicator; after fork, the child's mutex may stay locked

static void warn_once(const char* problem, const char* reason) {
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&warned))
        fprintf(stderr, "topoloom: this process's use of NCCL is not recorded: %s%s\n", problem, reason);
}

static FILE* open_file(void) {
    const char* folder = getenv("TOPOLOOM_NCCL_OUTPUT");
    if (folder == NULL || *folder == '\0') {
        warn_once("TOPOLOOM_NCCL_OUTPUT names no folder", "");
        return NULL;
    }
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/%s.%ld.jsonl", folder, get_host_name(), (long)getpid());
    FILE* file = length < (int)sizeof path ? fopen(path, "a") : NULL;
    if (file == NULL) warn_once("cannot write into TOPOLOOM_NCCL_OUTPUT: ", strerror(errno));
    return file;
}

static void write_header(FILE* file, struct communicator* comm) {
    fprintf(file, "{\"header\":{\"id\":\"0x%llx\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},",
            (unsigned long long)atomic_load(&comm->id), atomic_load(&comm->rank), comm->ranks, comm->nodes);
    fprintf(file, "\"metadata\":{\"rec_mechanism\":\"topoloom\",\"hostname\":\"%s\",\"pid\":%d,\"device\":%d",
            get_host_name(), comm->process, comm->device);
    int rank, size;
    if (read_rank_and_size(&rank, &size)) fprintf(file, ",\"job_rank\":%d,\"job_size\":%d", rank, size);
    fprintf(file, "},");
}

/// Writes an entry. Returns 0 or, if the size of its calls in bytes is unknown, their number.
static uint64_t write_entry(FILE* file, struct communicator* comm, const struct count_entry* entry,
                            const char* function) {
    const uint64_t calls = atomic_load(&entry->calls);
    if (entry->element_bytes == 0 || calls == 0) return calls;
    const int is_message = strcmp(function, "Send") == 0;
    const uint64_t elements = is_message ? atomic_load(&entry->elements) : entry->count;
    const char* kind = is_message ? "p2p" : "coll";
    write_header(file, comm);
    fprintf(file, "\"%s_perf\":{\"%s\":\"%s\",\"%s_calls\":%llu,\"%s_msg_size_bytes\":%llu,\"%s\":%d}}\n",
            kind, kind, function, kind, (unsigned long long)calls, kind,
            (unsigned long long)(elements * entry->element_bytes), is_message ? "p2p_peer" : "coll_root",
            entry->peer);
    return 0;
}

static void write_counts(struct communicator* comm) {
    if (comm->process != (int)getpid() || comm->is_written) return;
    comm->is_written = 1;
    FILE* file = atomic_load(&comm->id) != 0 ? open_file() : NULL;
    if (file == NULL) return;
    uint64_t lost = atomic_load(&comm->counts.lost);
    for (uint64_t i = 0; i <= comm->counts.mask; i++) {
        struct count_entry* entry = &comm->counts.entries[i];
        if (is_filled(entry)) lost += write_entry(file, comm, entry, comm->counts.functions[i]);
    }
    write_header(file, comm);
    fprintf(file, "\"recording\":{\"ended\":true,\"lost_calls\":%llu}}\n", (unsigned long long)lost);
    if (fclose(file) != 0) warn_once("cannot write all counts: ", strerror(errno));
}

/// Writes the counts of all communicators. Frees no memory, because other threads may still count.
static void write_all_counts(void) {
    pthread_mutex_lock(&mutex_);
    for (struct communicator* comm = first_; comm != NULL; comm = comm->next) write_counts(comm);
    pthread_mutex_unlock(&mutex_);
}

struct communicator* open_communicator(uint64_t id, int rank, int ranks, int nodes) {
    struct communicator* comm = calloc(1, sizeof *comm);
    const uint64_t kinds = MIN_KINDS + KINDS_PER_RANK * (uint64_t)(ranks > 0 ? ranks : UNKNOWN_SIZE);
    FILE* file = open_file();
    if (comm == NULL || file == NULL || make_counts(&comm->counts, kinds) != 0) {
        if (file != NULL) warn_once("there is no memory", "");
        if (file != NULL) fclose(file);
        free(comm);
        return NULL;
    }
    atomic_init(&comm->id, id);
    atomic_init(&comm->rank, rank);
    comm->ranks = ranks;
    comm->nodes = nodes;
    comm->device = find_current_gpu();
    comm->process = (int)getpid();
    if (id != 0) {
        write_header(file, comm);
        fprintf(file, "\"recording\":{\"ended\":false}}\n");
    }
    fclose(file);
    pthread_mutex_lock(&mutex_);
    // The list is ordered by age: the communicator of the whole job comes before those of its subsets.
    struct communicator** link = &first_;
    while (*link != NULL) link = &(*link)->next;
    *link = comm;
    if (process_ == 0) {
        process_ = comm->process;
        write_on_sigterm(write_all_counts);
    }
    pthread_mutex_unlock(&mutex_);
    return comm;
}

void close_communicator(struct communicator* comm) {
    pthread_mutex_lock(&mutex_);
    struct communicator** link = &first_;
    while (*link != NULL && *link != comm) link = &(*link)->next;
    if (*link != NULL) *link = comm->next;
    write_counts(comm);
    pthread_mutex_unlock(&mutex_);
    free_counts(&comm->counts);
    free(comm);
}

/// Runs at exit, or when NCCL unloads the plugin.
__attribute__((destructor)) static void unload(void) {
    if (getpid() == process_) write_all_counts();
    restore_sigterm();
}
