// SPDX-License-Identifier: BSD-3-Clause
// What the parts of re-mapped communicators offer each other. Functions that return int return what MPI functions do.
// Rank 0 decides, and says what is wrong before all raise it: an error handler may end the job at once.
#ifndef TOPOLOOM_REMAP_H
#define TOPOLOOM_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operations.h"
#include "topoloom_mpi.h"

enum { why_size = 512 };

// ---- errors.c ----------------------------------------------------------------------------------------------------
/// Raises an error class that rank 0 has found on all ranks; rank 0 says why in one line. Collective.
int agree(MPI_Comm comm, const char* name, int error_class, const char* why);
/// The same where any rank may lack memory.
int agree_on_memory(MPI_Comm comm, const char* name, bool enough);

// ---- comm_remap.c ------------------------------------------------------------------------------------------------
/// Of processes that all have one group; raises an error if not.
int check_comm(MPI_Comm comm, const char* name, const void* newcomm);
/// Checks a vector on rank 0 that has `count` numbers; MPI_SUCCESS, or an error class with the reason.
int check_permutation(const int ranks[], int count, int size, char why[why_size]);
/// A communicator in which rank i is the process that is ranks[i] in comm, which counts on rank 0. Collective.
int make_remapped(MPI_Comm comm, const char* name, const int ranks[], MPI_Comm* newcomm);

// ---- options.c ---------------------------------------------------------------------------------------------------
enum order_kind { from_file, blocked, tiled, of_numbers, of_messages };
struct order {
    const char* text;  // as it was given
    enum order_kind kind;
    char* argument;  // of file(NAME) and tiled(EXTENTS); owned
};
enum { most_orders = 16 };
struct order_options {
    char* text;  // owned
    struct order orders[most_orders];
    int order_count;
    int root, channels, seed, message, repeats, bytes;
    const struct operation* operation;  // NULL: none is named
    bool report;
};
/// For `ranks` processes. MPI_SUCCESS, or an error class with the reason.
int read_order_options(const char* text, int ranks, struct order_options* options, char why[why_size]);
void free_order_options(struct order_options* options);
/// Extents of a grid such as 4x8; their number, or 0 where they are none or more than `most`.
int read_extents(const char* text, int extents[], int most);

// ---- order_file.c ------------------------------------------------------------------------------------------------
/// Reads a permutation of `size` ranks. MPI_SUCCESS, or an error class with the reason.
int read_order_file(const char* name, int size, int ranks[], char why[why_size]);

// ---- round_trips.c -----------------------------------------------------------------------------------------------
/// seconds[i * size + j] of a message from process i to j, on rank 0: half of the median of several round trips, one pair
/// after another while the others wait (Karlsson 2012, sec. 4.1). Collective over comm, which nothing else uses.
int measure_messages(MPI_Comm comm, const char* name, int bytes, double* seconds);

// ---- orders.c ----------------------------------------------------------------------------------------------------
/// Finds ranks[i], on rank 0, where the reason is if it cannot. `seconds` of messages count for orders of messages. Collective.
int find_order(MPI_Comm comm, const struct order* order, const struct order_options* options,
               const double* seconds, int ranks[], char why[why_size]);

// ---- fastest.c ---------------------------------------------------------------------------------------------------
/// The candidate on which the operation takes the least time, the same on all ranks: each is run in turns from a common start,
/// and medians count. Collective over comm, which nothing else uses.
int find_fastest(MPI_Comm comm, const char* name, const MPI_Comm candidates[],
                 const struct order_options* options, int* fastest, int64_t nanoseconds[]);

#endif
