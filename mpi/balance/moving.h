// SPDX-License-Identifier: BSD-3-Clause
// Tasks under way.
#ifndef TOPOLOOM_MOVING_H
#define TOPOLOOM_MOVING_H

#include "balance.h"

/// What goes to a receiver, or comes from a source.
struct side {
    int rank;
    long long tasks, bytes;
    char* data;
    long long* sizes;  // NULL: all of one size
    int takes;      // bytes of each task that the receiver has room for, as it says; 1: of any sizes; 0: none
    bool has_room;  // for tasks of these bytes
    bool moves;     // it hands over what the plan says
    int open_parts;  // posted, and not complete
    bool is_silent;  // it was waited for in vain
};

enum event_kind { sizes_sent, sizes_came, room_sent, room_said, part_sent, part_came };

/// What the completion of a request means.
struct event {
    enum event_kind kind;
    int side;
    bool is_first;  // of a side's parts
};

struct topoloom_tasks_moving {
    struct plan* plan;
    char* tasks;
    long long* sizes;
    long long task_bytes, room, byte_room;  // task_bytes 0: sized
    long long bytes, kept_bytes;            // before
    int tag;
    struct side *to, *from;
    char* arrived;  // from all sources; NULL: they go straight behind the kept tasks
    long long* arrived_sizes;
    int unknown;      // sources whose sizes have not come
    int unasked;      // receivers that have not said whether they have room
    bool is_unasked;  // whether there is room
    bool is_answered, has_room;
    const char* fault;  // for which this rank neither gives nor takes
    int status;
    MPI_Request* requests;
    struct event* events;
    int* indices;
    MPI_Status* statuses;
    int open, most;
    double since;  // when something last happened; 0: nothing has been waited for
    bool is_given_up;
};

/// Whether all that comes has room.
bool fits(const struct topoloom_tasks_moving* moving);
/// Posts what needs no answer of others.
void start_moving(struct topoloom_tasks_moving* moving);
/// Does what can be done now, or waits for something; true: all is done.
bool step_moving(struct topoloom_tasks_moving* moving, bool waits);

/// Notes whether something has happened; whether nothing has for longer than the plan's patience.
bool lost_patience(struct topoloom_tasks_moving* moving, bool happened);
/// Says which ranks were waited for in vain.
int raise_silence(const struct topoloom_tasks_moving* moving);

long long sum_sizes(const long long* sizes, long long count);

#endif
