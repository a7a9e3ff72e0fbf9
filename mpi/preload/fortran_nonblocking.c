// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of Fortran programs.
#include "fortran.h"

#ifdef OPEN_MPI
static void return_started(INT request, MPI_Request started, INT error, int status) {
    if (status == MPI_SUCCESS) *request = PMPI_Request_c2f(started);
    set_error(error, status);
}

/// The body of a wrapper that starts a C function with these arguments and a request.
#define START(c_function, ...)                                \
    {                                                         \
        MPI_Request started = MPI_REQUEST_NULL;               \
        const int status = c_function(__VA_ARGS__, &started); \
        return_started(request, started, error, status);      \
    }
#define BARRIER(name) SHIM_EXPORT void name(INT comm, INT request, INT error) START(MPI_Ibarrier, COMM(comm))
#define BROADCAST(name)                                                                                  \
    SHIM_EXPORT void name(void* buffer, INT count, INT type, INT root, INT comm, INT request, INT error) \
        START(MPI_Ibcast, to_c_buffer(buffer), *count, TYPE(type), *root, COMM(comm))
#define REDUCE(name)                                                                                      \
    SHIM_EXPORT void name(void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT root, INT comm,  \
                          INT request, INT error)                                                         \
        START(MPI_Ireduce, to_c_buffer(sendbuf), to_c_buffer(recvbuf), *count, TYPE(type), OP(op), *root, \
              COMM(comm))
/// `counts` is *count, or count for an array by rank.
#define COMBINE(name, c_function, counts)                                                                   \
    SHIM_EXPORT void name(void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT comm, INT request, \
                          INT error) START(c_function, to_c_buffer(sendbuf), to_c_buffer(recvbuf), counts,  \
                                           TYPE(type), OP(op), COMM(comm))
#define EXCHANGE(name, c_function)                                                                  \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount, \
                          INT recvtype, INT comm, INT request, INT error)                           \
        START(c_function, to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf),   \
              *recvcount, TYPE(recvtype), COMM(comm))
#define WITH_ROOT(name, c_function)                                                                 \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount, \
                          INT recvtype, INT root, INT comm, INT request, INT error)                 \
        START(c_function, to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf),   \
              *recvcount, TYPE(recvtype), *root, COMM(comm))
#define ALL_GATHER_V(name)                                                                             \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount,    \
                          INT rdispls, INT recvtype, INT comm, INT request, INT error)                 \
        START(MPI_Iallgatherv, to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf), \
              recvcount, rdispls, TYPE(recvtype), COMM(comm))

BOTH(BARRIER, mpi_ibarrier)
BOTH(BROADCAST, mpi_ibcast)
BOTH(REDUCE, mpi_ireduce)
BOTH(COMBINE, mpi_iallreduce, MPI_Iallreduce, *count)
BOTH(COMBINE, mpi_iscan, MPI_Iscan, *count)
BOTH(COMBINE, mpi_iexscan, MPI_Iexscan, *count)
BOTH(COMBINE, mpi_ireduce_scatter_block, MPI_Ireduce_scatter_block, *count)
BOTH(COMBINE, mpi_ireduce_scatter, MPI_Ireduce_scatter, count)
BOTH(EXCHANGE, mpi_ialltoall, MPI_Ialltoall)
BOTH(EXCHANGE, mpi_iallgather, MPI_Iallgather)
BOTH(WITH_ROOT, mpi_igather, MPI_Igather)
BOTH(WITH_ROOT, mpi_iscatter, MPI_Iscatter)
BOTH(ALL_GATHER_V, mpi_iallgatherv)
#endif
