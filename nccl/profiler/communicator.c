// SPDX-License-Identifier: BSD-3-Clause
// Communicators of this process, and its file in the folder TOPOLOOM_NCCL_OUTPUT: lines of NCCL's Inspector,
// with calls that are alike in one line, a line where a communicator begins and one where it ends.
#include "communicator.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ending.h"
#include "place.h"

enum { FEWEST_KINDS = 3000, UNKNOWN_SIZE = 4096, KINDS_PER_RANK = 3 };

static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static struct communicator* first_;
static int process_;  // that began the first: in its children the mutex may be locked for ever

static void complain(const char* what, const char* reason) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "topoloom: this process's use of NCCL is not recorded: %s%s\n", what, reason);
}

static FILE* open_file(void) {
    const char* folder = getenv("TOPOLOOM_NCCL_OUTPUT");
    if (folder == NULL || *folder == '\0') {
        complain("TOPOLOOM_NCCL_OUTPUT names no folder", "");
        return NULL;
    }
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s.%ld.jsonl", folder, place_host(), (long)getpid());
    FILE* file = length < (int)sizeof path ? fopen(path, "a") : NULL;
    if (file == NULL) complain("cannot write into TOPOLOOM_NCCL_OUTPUT: ", strerror(errno));
    return file;
}

static void write_head(FILE* file, struct communicator* one) {
    fprintf(file, "{\"header\":{\"id\":\"0x%llx\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},",
            (unsigned long long)atomic_load(&one->id), atomic_load(&one->rank), one->ranks, one->nodes);
    fprintf(file, "\"metadata\":{\"rec_mechanism\":\"topoloom\",\"hostname\":\"%s\",\"pid\":%d,\"device\":%d",
            place_host(), one->process, one->device);
    int rank, size;
    if (place_in_job(&rank, &size)) fprintf(file, ",\"job_rank\":%d,\"job_size\":%d", rank, size);
    fprintf(file, "},");
}

/// Write an entry; return the calls that it cannot tell the bytes of.
static uint64_t write_entry(FILE* file, struct communicator* one, const struct entry* entry,
                            const char* function) {
    const uint64_t calls = atomic_load(&entry->calls);
    if (entry->element_bytes == 0 || calls == 0) return calls;
    const int is_message = strcmp(function, "Send") == 0;
    const uint64_t elements = is_message ? atomic_load(&entry->elements) : entry->count;
    const char* kind = is_message ? "p2p" : "coll";
    write_head(file, one);
    fprintf(file, "\"%s_perf\":{\"%s\":\"%s\",\"%s_calls\":%llu,\"%s_msg_size_bytes\":%llu,\"%s\":%d}}\n",
            kind, kind, function, kind, (unsigned long long)calls, kind,
            (unsigned long long)(elements * entry->element_bytes), is_message ? "p2p_peer" : "coll_root",
            entry->place);
    return 0;
}

/// Write what was counted, once.
static void write_all(struct communicator* one) {
    if (one->process != (int)getpid() || one->is_written) return;
    one->is_written = 1;
    FILE* file = atomic_load(&one->id) != 0 ? open_file() : NULL;
    if (file == NULL) return;
    uint64_t lost = atomic_load(&one->table.lost);
    for (uint64_t i = 0; i <= one->table.mask; i++) {
        struct entry* entry = &one->table.entries[i];
        if (entry_is_filled(entry)) lost += write_entry(file, one, entry, one->table.functions[i]);
    }
    write_head(file, one);
    fprintf(file, "\"recording\":{\"ended\":true,\"lost_calls\":%llu}}\n", (unsigned long long)lost);
    if (fclose(file) != 0) complain("cannot write all of it: ", strerror(errno));
}

/// Other threads may still count: nothing is freed.
static void write_the_rest(void) {
    pthread_mutex_lock(&mutex_);
    for (struct communicator* one = first_; one != NULL; one = one->next) write_all(one);
    pthread_mutex_unlock(&mutex_);
}

struct communicator* communicator_begin(uint64_t id, int rank, int ranks, int nodes) {
    struct communicator* one = calloc(1, sizeof *one);
    const uint64_t kinds = FEWEST_KINDS + KINDS_PER_RANK * (uint64_t)(ranks > 0 ? ranks : UNKNOWN_SIZE);
    FILE* file = open_file();
    if (one == NULL || file == NULL || table_make(&one->table, kinds) != 0) {
        if (file != NULL) complain("there is no memory", "");
        if (file != NULL) fclose(file);
        free(one);
        return NULL;
    }
    atomic_init(&one->id, id);
    atomic_init(&one->rank, rank);
    one->ranks = ranks;
    one->nodes = nodes;
    one->device = place_device();
    one->process = (int)getpid();
    if (id != 0) {
        write_head(file, one);
        fprintf(file, "\"recording\":{\"ended\":false}}\n");
    }
    fclose(file);
    pthread_mutex_lock(&mutex_);
    struct communicator** link = &first_;  // the oldest first: the job's own comes before its parts
    while (*link != NULL) link = &(*link)->next;
    *link = one;
    if (process_ == 0) {
        process_ = one->process;
        ending_watch(write_the_rest);
    }
    pthread_mutex_unlock(&mutex_);
    return one;
}

void communicator_end(struct communicator* one) {
    pthread_mutex_lock(&mutex_);
    struct communicator** link = &first_;
    while (*link != NULL && *link != one) link = &(*link)->next;
    if (*link != NULL) *link = one->next;
    write_all(one);
    pthread_mutex_unlock(&mutex_);
    table_free(&one->table);
    free(one);
}

/// Where the process exits, or NCCL unloads us.
__attribute__((destructor)) static void leave(void) {
    if (getpid() == process_) write_the_rest();
    ending_forget();
}
