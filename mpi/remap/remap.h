// SPDX-License-Identifier: BSD-3-Clause
// Functions of type int return MPI_SUCCESS or an MPI error class unless stated otherwise. Rank 0 checks the input. It
// prints the error message before all ranks raise the error, because an error handler may end the job at once.
#ifndef TOPOLOOM_REMAP_H
#define TOPOLOOM_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operations.h"
#include "topoloom_mpi.h"

enum { error_size = 512, max_dimensions = 16 };

// ---- errors.c ----------------------------------------------------------------------------------------------------
/// Raises the error class of rank 0 on all ranks, after rank 0 has printed `error`. Collective.
int raise_on_all_ranks(MPI_Comm comm, const char* name, int error_class, const char* error);
/// Raises MPI_ERR_NO_MEM on all ranks if memory is exhausted on any rank. Collective.
int raise_on_exhausted_memory(MPI_Comm comm, const char* name, bool has_memory);

// ---- comm_remap.c ------------------------------------------------------------------------------------------------
/// Raises an error for an intercommunicator, or if `newcomm` is NULL.
int check_comm(MPI_Comm comm, const char* name, const void* newcomm);
/// Checks that a vector of `count` numbers is a permutation. Called only on rank 0.
int check_permutation(const int ranks[], int count, int size, char error[error_size]);
/// Creates a communicator in which rank i is the process ranks[i] of comm. `ranks` is significant only at rank 0.
/// Collective.
int create_remapped_comm(MPI_Comm comm, const char* name, const int ranks[], MPI_Comm* newcomm);

// ---- options.c ---------------------------------------------------------------------------------------------------
enum order_kind { from_file, blocked, tiled, by_rank_numbers, by_message_times };
struct order {
    const char* text;  // as given
    enum order_kind kind;
    char* argument;  // ARGUMENT of file(NAME) or tiled(EXTENTS); owned
};
enum { max_orders = 16 };
struct order_options {
    char* text;  // owned
    struct order orders[max_orders];
    int order_count;
    int root, channels, seed, message, repeats, bytes;
    const struct operation* operation;  // NULL = not specified
    bool report;
};
/// Parses the options for a communicator of `ranks` processes.
int parse_order_options(const char* text, int ranks, struct order_options* options, char error[error_size]);
void free_order_options(struct order_options* options);
/// Parses the extents of a grid, such as 4x8. Returns the number of extents, or 0 if invalid or more than `capacity`.
int parse_extents(const char* text, int extents[], int capacity);

// ---- order_file.c ------------------------------------------------------------------------------------------------
/// Reads a permutation of `size` ranks from a file.
int read_order_file(const char* name, int size, int ranks[], char error[error_size]);

// ---- round_trips.c -----------------------------------------------------------------------------------------------
/// Measures message times, one pair at a time (Karlsson 2012, sec. 4.1). On rank 0, seconds[i * size + j] is the time
/// of a message from process i to j, half of the median of several round trips. Collective; comm must have no other
/// traffic.
int measure_message_times(MPI_Comm comm, const char* name, int bytes, double* seconds);

// ---- orders.c ----------------------------------------------------------------------------------------------------
/// Computes ranks[i] on rank 0. `seconds` is used only by orders of kind by_message_times. Collective.
int find_order(MPI_Comm comm, const struct order* order, const struct order_options* options,
               const double* seconds, int ranks[], char error[error_size]);

// ---- fastest.c ---------------------------------------------------------------------------------------------------
/// Finds the candidate with the lowest median time of the operation. The result is the same on all ranks. Collective;
/// comm must have no other traffic.
int find_fastest(MPI_Comm comm, const char* name, const MPI_Comm candidates[],
                 const struct order_options* options, int* fastest, int64_t nanoseconds[]);
/// Sorts the values, and returns the upper median.
double find_median(double values[], size_t count);

#endif
