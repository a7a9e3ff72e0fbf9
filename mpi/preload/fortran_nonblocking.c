// SPDX-License-Identifier: BSD-3-Clause
// MPI's non-blocking collectives for programs in Fortran.
#include "fortran.h"

#ifdef OPEN_MPI
static void end_with(INT request, MPI_Request started, INT error, int status) {
    if (status == MPI_SUCCESS) *request = PMPI_Request_c2f(started);
    end(error, status);
}

/// The body of a call that starts one of C with these arguments and a request.
#define START(of_c, ...)                                \
    {                                                   \
        MPI_Request started = MPI_REQUEST_NULL;         \
        const int status = of_c(__VA_ARGS__, &started); \
        end_with(request, started, error, status);      \
    }
#define BARRIER(name) SHIM_EXPORT void name(INT comm, INT request, INT error) START(MPI_Ibarrier, COMM(comm))
#define BROADCAST(name)                                                                                  \
    SHIM_EXPORT void name(void* buffer, INT count, INT type, INT root, INT comm, INT request, INT error) \
        START(MPI_Ibcast, memory(buffer), *count, TYPE(type), *root, COMM(comm))
#define REDUCE(name)                                                                             \
    SHIM_EXPORT void name(void* from, void* to, INT count, INT type, INT op, INT root, INT comm, \
                          INT request, INT error)                                                \
        START(MPI_Ireduce, memory(from), memory(to), *count, TYPE(type), OP(op), *root, COMM(comm))
/// `counts` is *count, or count itself where ranks have their own.
#define COMBINE(name, of_c, counts)                                                                 \
    SHIM_EXPORT void name(void* from, void* to, INT count, INT type, INT op, INT comm, INT request, \
                          INT error)                                                                \
        START(of_c, memory(from), memory(to), counts, TYPE(type), OP(op), COMM(comm))
#define EXCHANGE(name, of_c)                                                                              \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_type, INT comm, \
                          INT request, INT error)                                                         \
        START(of_c, memory(from), *sent, TYPE(sent_type), memory(to), *got, TYPE(got_type), COMM(comm))
#define WITH_ROOT(name, of_c)                                                                             \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_type, INT root, \
                          INT comm, INT request, INT error)                                               \
        START(of_c, memory(from), *sent, TYPE(sent_type), memory(to), *got, TYPE(got_type), *root,        \
              COMM(comm))
#define ALL_GATHER_V(name)                                                                                  \
    SHIM_EXPORT void name(void* from, INT sent, INT sent_type, void* to, INT got, INT got_at, INT got_type, \
                          INT comm, INT request, INT error)                                                 \
        START(MPI_Iallgatherv, memory(from), *sent, TYPE(sent_type), memory(to), got, got_at,               \
              TYPE(got_type), COMM(comm))

BARRIER(mpi_ibarrier_)
BARRIER(mpi_ibarrier_f08_)
BROADCAST(mpi_ibcast_)
BROADCAST(mpi_ibcast_f08_)
REDUCE(mpi_ireduce_)
REDUCE(mpi_ireduce_f08_)
COMBINE(mpi_iallreduce_, MPI_Iallreduce, *count)
COMBINE(mpi_iallreduce_f08_, MPI_Iallreduce, *count)
COMBINE(mpi_iscan_, MPI_Iscan, *count)
COMBINE(mpi_iscan_f08_, MPI_Iscan, *count)
COMBINE(mpi_iexscan_, MPI_Iexscan, *count)
COMBINE(mpi_iexscan_f08_, MPI_Iexscan, *count)
COMBINE(mpi_ireduce_scatter_block_, MPI_Ireduce_scatter_block, *count)
COMBINE(mpi_ireduce_scatter_block_f08_, MPI_Ireduce_scatter_block, *count)
COMBINE(mpi_ireduce_scatter_, MPI_Ireduce_scatter, count)
COMBINE(mpi_ireduce_scatter_f08_, MPI_Ireduce_scatter, count)
EXCHANGE(mpi_ialltoall_, MPI_Ialltoall)
EXCHANGE(mpi_ialltoall_f08_, MPI_Ialltoall)
EXCHANGE(mpi_iallgather_, MPI_Iallgather)
EXCHANGE(mpi_iallgather_f08_, MPI_Iallgather)
WITH_ROOT(mpi_igather_, MPI_Igather)
WITH_ROOT(mpi_igather_f08_, MPI_Igather)
WITH_ROOT(mpi_iscatter_, MPI_Iscatter)
WITH_ROOT(mpi_iscatter_f08_, MPI_Iscatter)
ALL_GATHER_V(mpi_iallgatherv_)
ALL_GATHER_V(mpi_iallgatherv_f08_)
#endif
