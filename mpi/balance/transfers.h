// SPDX-License-Identifier: BSD-3-Clause
// Transfers of an exchange: one per source, and one per receiver.
#ifndef TOPOLOOM_BALANCE_TRANSFERS_H
#define TOPOLOOM_BALANCE_TRANSFERS_H

#include "balance.h"

struct transfer {
    int rank;  // rank of the peer
    long long tasks, bytes;
    char* data;
    long long* sizes;    // sizes of tasks in bytes; NULL: all tasks have the same size
    int accepted_bytes;  // the receiver's reply: accepted bytes per task; 1: any sizes; 0: refused
    bool is_accepted;    // whether the receiver accepts the tasks
    bool is_sent;        // whether the source sends the planned tasks
    int open_parts;      // number of parts that are posted and incomplete
    bool has_stalled;
};

enum event_kind { sizes_sent, sizes_received, reply_sent, reply_received, part_sent, part_received };

/// Identifies the purpose of a request.
struct request_event {
    enum event_kind kind;
    int transfer;
    bool is_first;  // whether this is the first part of its transfer
};

struct topoloom_exchange_state {
    struct plan* plan;
    char* tasks;
    long long* sizes;
    long long task_bytes, capacity, byte_capacity;  // task_bytes: bytes per task; 0: tasks of different sizes
    long long bytes, kept_bytes;                    // before
    int tag;
    struct transfer *to, *from;
    char* arrived;  // buffer for tasks from all sources; NULL: received directly behind the kept tasks
    long long* arrived_sizes;
    int unknown_sizes;    // number of sources whose sizes have not arrived
    int awaited_replies;  // number of receivers whose replies have not arrived
    bool is_reserved;     // all ranks have reserved capacity, so there are no replies
    bool has_replied, is_accepted;
    const char* fault;  // reason why this rank neither sends nor receives; NULL: none
    int status;
    MPI_Request* requests;
    struct request_event* events;
    int* indices;
    MPI_Status* statuses;
    int request_count, request_capacity;
    double last_progress;  // time of the last progress, in s; 0: not waiting yet
    bool is_cancelled;
};

// ---- stall.c -----------------------------------------------------------------------------------------------------
/// Records progress. Returns whether the last progress is longer ago than the stall timeout.
bool update_stall_timer(struct topoloom_exchange_state* exchange, bool has_progressed);
/// Raises an error that names the stalled ranks.
int raise_stall(const struct topoloom_exchange_state* exchange);

// ---- transfers.c -------------------------------------------------------------------------------------------------
long long sum_task_sizes(const long long* sizes, long long count);
/// Whether capacity suffices for all received tasks.
bool fits_capacity(const struct topoloom_exchange_state* exchange);
/// Posts the messages that do not depend on other ranks.
void start_transfers(struct topoloom_exchange_state* exchange);
/// Advances the exchange; if `waits`, waits for an event. Returns whether the exchange is complete.
bool advance_transfers(struct topoloom_exchange_state* exchange, bool waits);

#endif
