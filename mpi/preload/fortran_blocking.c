// SPDX-License-Identifier: BSD-3-Clause
// MPI's blocking collectives for programs in Fortran.
#include "fortran.h"

#ifdef OPEN_MPI
#define BARRIER(name) \
    SHIM_EXPORT void name(INT comm, INT error) { end(error, MPI_Barrier(COMM(comm))); }
#define BROADCAST(name)                                                                       \
    SHIM_EXPORT void name(void* buffer, INT count, INT type, INT root, INT comm, INT error) { \
        end(error, MPI_Bcast(memory(buffer), *count, TYPE(type), *root, COMM(comm)));         \
    }
#define REDUCE(name)                                                                                     \
    SHIM_EXPORT void name(void* from, void* to, INT count, INT type, INT op, INT root, INT comm,         \
                          INT error) {                                                                   \
        end(error, MPI_Reduce(memory(from), memory(to), *count, TYPE(type), OP(op), *root, COMM(comm))); \
    }
/// `counts` is *count, or count itself where ranks have their own.
#define COMBINE(name, of_c, counts)                                                                 \
    SHIM_EXPORT void name(void* from, void* to, INT count, INT type, INT op, INT comm, INT error) { \
        end(error, of_c(memory(from), memory(to), counts, TYPE(type), OP(op), COMM(comm)));         \
    }
#define EXCHANGE(name, of_c)                                                                              \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_type, INT comm, \
                          INT error) {                                                                    \
        end(error,                                                                                        \
            of_c(memory(from), *sent, TYPE(sent_type), memory(to), *got, TYPE(got_type), COMM(comm)));    \
    }
#define WITH_ROOT(name, of_c)                                                                             \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_type, INT root, \
                          INT comm, INT error) {                                                          \
        end(error, of_c(memory(from), *sent, TYPE(sent_type), memory(to), *got, TYPE(got_type), *root,    \
                        COMM(comm)));                                                                     \
    }
#define ALL_TO_ALL_V(name)                                                                                 \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_at, INT sent_type, void* to, INT got, INT got_at, \
                          INT got_type, INT comm, INT error) {                                             \
        end(error, MPI_Alltoallv(memory(from), sent, sent_at, TYPE(sent_type), memory(to), got, got_at,    \
                                 TYPE(got_type), COMM(comm)));                                             \
    }
#define ALL_GATHER_V(name)                                                                                  \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_at, INT got_type, \
                          INT comm, INT error) {                                                            \
        end(error, MPI_Allgatherv(memory(from), *sent, TYPE(sent_type), memory(to), got, got_at,            \
                                  TYPE(got_type), COMM(comm)));                                             \
    }
#define GATHER_V(name)                                                                                      \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_at, INT got_type, \
                          INT root, INT comm, INT error) {                                                  \
        end(error, MPI_Gatherv(memory(from), *sent, TYPE(sent_type), memory(to), got, got_at,               \
                               TYPE(got_type), *root, COMM(comm)));                                         \
    }
#define SCATTER_V(name)                                                                                      \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_at, INT sent_type, void* to, INT got, INT got_type, \
                          INT root, INT comm, INT error) {                                                   \
        end(error, MPI_Scatterv(memory(from), sent, sent_at, TYPE(sent_type), memory(to), *got,              \
                                TYPE(got_type), *root, COMM(comm)));                                         \
    }

BARRIER(mpi_barrier_)
BARRIER(mpi_barrier_f08_)
BROADCAST(mpi_bcast_)
BROADCAST(mpi_bcast_f08_)
REDUCE(mpi_reduce_)
REDUCE(mpi_reduce_f08_)
COMBINE(mpi_allreduce_, MPI_Allreduce, *count)
COMBINE(mpi_allreduce_f08_, MPI_Allreduce, *count)
COMBINE(mpi_scan_, MPI_Scan, *count)
COMBINE(mpi_scan_f08_, MPI_Scan, *count)
COMBINE(mpi_exscan_, MPI_Exscan, *count)
COMBINE(mpi_exscan_f08_, MPI_Exscan, *count)
COMBINE(mpi_reduce_scatter_block_, MPI_Reduce_scatter_block, *count)
COMBINE(mpi_reduce_scatter_block_f08_, MPI_Reduce_scatter_block, *count)
COMBINE(mpi_reduce_scatter_, MPI_Reduce_scatter, count)
COMBINE(mpi_reduce_scatter_f08_, MPI_Reduce_scatter, count)
EXCHANGE(mpi_alltoall_, MPI_Alltoall)
EXCHANGE(mpi_alltoall_f08_, MPI_Alltoall)
EXCHANGE(mpi_allgather_, MPI_Allgather)
EXCHANGE(mpi_allgather_f08_, MPI_Allgather)
WITH_ROOT(mpi_gather_, MPI_Gather)
WITH_ROOT(mpi_gather_f08_, MPI_Gather)
WITH_ROOT(mpi_scatter_, MPI_Scatter)
WITH_ROOT(mpi_scatter_f08_, MPI_Scatter)
ALL_TO_ALL_V(mpi_alltoallv_)
ALL_TO_ALL_V(mpi_alltoallv_f08_)
ALL_GATHER_V(mpi_allgatherv_)
ALL_GATHER_V(mpi_allgatherv_f08_)
GATHER_V(mpi_gatherv_)
GATHER_V(mpi_gatherv_f08_)
SCATTER_V(mpi_scatterv_)
SCATTER_V(mpi_scatterv_f08_)
#endif
