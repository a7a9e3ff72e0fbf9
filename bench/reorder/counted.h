// SPDX-License-Identifier: BSD-3-Clause
// Included before the sources of libtopoloom-mpi: counts their allocated bytes and communication calls.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

extern long counted_bytes, counted_calls;
#define malloc(size) (counted_bytes += (long)(size), malloc(size))
#define calloc(count, size) (counted_bytes += (long)((count) * (size)), calloc(count, size))
#define PMPI_Bcast(...) (++counted_calls, PMPI_Bcast(__VA_ARGS__))
#define PMPI_Gather(...) (++counted_calls, PMPI_Gather(__VA_ARGS__))
#define PMPI_Gatherv(...) (++counted_calls, PMPI_Gatherv(__VA_ARGS__))
#define PMPI_Iscatter(...) (++counted_calls, PMPI_Iscatter(__VA_ARGS__))
#define PMPI_Allreduce(...) (++counted_calls, PMPI_Allreduce(__VA_ARGS__))
#define PMPI_Sendrecv(...) (++counted_calls, PMPI_Sendrecv(__VA_ARGS__))
#define PMPI_Comm_split(...) (++counted_calls, PMPI_Comm_split(__VA_ARGS__))
