// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of Fortran programs.
#include "fortran.h"

#ifdef OPEN_MPI
#define BARRIER(name) \
    SHIM_EXPORT void name(INT comm, INT error) { set_error(error, MPI_Barrier(COMM(comm))); }
#define BROADCAST(name)                                                                          \
    SHIM_EXPORT void name(void* buffer, INT count, INT type, INT root, INT comm, INT error) {    \
        set_error(error, MPI_Bcast(to_c_buffer(buffer), *count, TYPE(type), *root, COMM(comm))); \
    }
#define REDUCE(name)                                                                                        \
    SHIM_EXPORT void name(void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT root, INT comm,    \
                          INT error) {                                                                      \
        set_error(error, MPI_Reduce(to_c_buffer(sendbuf), to_c_buffer(recvbuf), *count, TYPE(type), OP(op), \
                                    *root, COMM(comm)));                                                    \
    }
/// `counts` is *count, or count for an array by rank.
#define COMBINE(name, c_function, counts)                                                                   \
    SHIM_EXPORT void name(void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT comm, INT error) { \
        set_error(error, c_function(to_c_buffer(sendbuf), to_c_buffer(recvbuf), counts, TYPE(type), OP(op), \
                                    COMM(comm)));                                                           \
    }
#define EXCHANGE(name, c_function)                                                                          \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount,         \
                          INT recvtype, INT comm, INT error) {                                              \
        set_error(error, c_function(to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf), \
                                    *recvcount, TYPE(recvtype), COMM(comm)));                               \
    }
#define WITH_ROOT(name, c_function)                                                                         \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount,         \
                          INT recvtype, INT root, INT comm, INT error) {                                    \
        set_error(error, c_function(to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf), \
                                    *recvcount, TYPE(recvtype), *root, COMM(comm)));                        \
    }
#define ALL_TO_ALL_V(name)                                                                              \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sdispls, INT sendtype, void* recvbuf,       \
                          INT recvcount, INT rdispls, INT recvtype, INT comm, INT error) {              \
        set_error(error,                                                                                \
                  MPI_Alltoallv(to_c_buffer(sendbuf), sendcount, sdispls, TYPE(sendtype),               \
                                to_c_buffer(recvbuf), recvcount, rdispls, TYPE(recvtype), COMM(comm))); \
    }
#define ALL_GATHER_V(name)                                                                               \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount,      \
                          INT rdispls, INT recvtype, INT comm, INT error) {                              \
        set_error(error,                                                                                 \
                  MPI_Allgatherv(to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf), \
                                 recvcount, rdispls, TYPE(recvtype), COMM(comm)));                       \
    }
#define GATHER_V(name)                                                                                       \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount,          \
                          INT rdispls, INT recvtype, INT root, INT comm, INT error) {                        \
        set_error(error, MPI_Gatherv(to_c_buffer(sendbuf), *sendcount, TYPE(sendtype), to_c_buffer(recvbuf), \
                                     recvcount, rdispls, TYPE(recvtype), *root, COMM(comm)));                \
    }
#define SCATTER_V(name)                                                                                      \
    SHIM_EXPORT void name(void* sendbuf, INT sendcount, INT sdispls, INT sendtype, void* recvbuf,            \
                          INT recvcount, INT recvtype, INT root, INT comm, INT error) {                      \
        set_error(error, MPI_Scatterv(to_c_buffer(sendbuf), sendcount, sdispls, TYPE(sendtype),              \
                                      to_c_buffer(recvbuf), *recvcount, TYPE(recvtype), *root, COMM(comm))); \
    }

BOTH(BARRIER, mpi_barrier)
BOTH(BROADCAST, mpi_bcast)
BOTH(REDUCE, mpi_reduce)
BOTH(COMBINE, mpi_allreduce, MPI_Allreduce, *count)
BOTH(COMBINE, mpi_scan, MPI_Scan, *count)
BOTH(COMBINE, mpi_exscan, MPI_Exscan, *count)
BOTH(COMBINE, mpi_reduce_scatter_block, MPI_Reduce_scatter_block, *count)
BOTH(COMBINE, mpi_reduce_scatter, MPI_Reduce_scatter, count)
BOTH(EXCHANGE, mpi_alltoall, MPI_Alltoall)
BOTH(EXCHANGE, mpi_allgather, MPI_Allgather)
BOTH(WITH_ROOT, mpi_gather, MPI_Gather)
BOTH(WITH_ROOT, mpi_scatter, MPI_Scatter)
BOTH(ALL_TO_ALL_V, mpi_alltoallv)
BOTH(ALL_GATHER_V, mpi_allgatherv)
BOTH(GATHER_V, mpi_gatherv)
BOTH(SCATTER_V, mpi_scatterv)
#endif
