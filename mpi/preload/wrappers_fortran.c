// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the collectives in Open MPI's Fortran bindings: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08,
// whose error argument is optional). The bindings of the MPICH family call the C functions MPI_X and need no wrappers.
#include "preload.h"

#ifdef OPEN_MPI
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran integers differ from int");

// Addresses that identify Fortran's MPI_IN_PLACE and MPI_BOTTOM. Programs without Fortran do not define them.
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void* to_c_buffer(void* buffer) {
    if (buffer != NULL && buffer == (void*)&mpi_fortran_in_place_) return MPI_IN_PLACE;
    return buffer == (void*)&mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

static void set_error(MPI_Fint* error, int status) {
    if (error != NULL) *error = status;
}

#define UNPACK(...) __VA_ARGS__
#define BLOCKING_PROCEDURE(procedure, function, parameters, arguments) \
    SHIM_EXPORT void procedure(UNPACK parameters, INT error) { set_error(error, function arguments); }
#define NONBLOCKING_PROCEDURE(procedure, function, parameters, arguments)   \
    SHIM_EXPORT void procedure(UNPACK parameters, INT request, INT error) { \
        MPI_Request started = MPI_REQUEST_NULL;                             \
        const int status = function(UNPACK arguments, &started);            \
        if (status == MPI_SUCCESS) *request = PMPI_Request_c2f(started);    \
        set_error(error, status);                                           \
    }
#define BLOCKING(name, Name, parameters, arguments)                      \
    BLOCKING_PROCEDURE(mpi_##name##_, MPI_##Name, parameters, arguments) \
    BLOCKING_PROCEDURE(mpi_##name##_f08_, MPI_##Name, parameters, arguments)
#define BOTH_FORMS(name, Name, parameters, arguments)                         \
    BLOCKING(name, Name, parameters, arguments)                               \
    NONBLOCKING_PROCEDURE(mpi_i##name##_, MPI_I##name, parameters, arguments) \
    NONBLOCKING_PROCEDURE(mpi_i##name##_f08_, MPI_I##name, parameters, arguments)

#define INT MPI_Fint*
#define SENDBUF to_c_buffer(sendbuf)
#define RECVBUF to_c_buffer(recvbuf)
#define TYPE PMPI_Type_f2c(*type)
#define SENDTYPE PMPI_Type_f2c(*sendtype)
#define RECVTYPE PMPI_Type_f2c(*recvtype)
#define OP PMPI_Op_f2c(*op)
#define COMM PMPI_Comm_f2c(*comm)

#define REDUCTION(name, Name, counts)                                                             \
    BOTH_FORMS(name, Name, (void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT comm), \
               (SENDBUF, RECVBUF, counts, TYPE, OP, COMM))
#define EXCHANGE(name, Name)                                                                                \
    BOTH_FORMS(                                                                                             \
        name, Name,                                                                                         \
        (void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount, INT recvtype, INT comm), \
        (SENDBUF, *sendcount, SENDTYPE, RECVBUF, *recvcount, RECVTYPE, COMM))
#define ROOTED(name, Name)                                                                              \
    BOTH_FORMS(name, Name,                                                                              \
               (void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcount, INT recvtype, \
                INT root, INT comm),                                                                    \
               (SENDBUF, *sendcount, SENDTYPE, RECVBUF, *recvcount, RECVTYPE, *root, COMM))

BOTH_FORMS(barrier, Barrier, (INT comm), (COMM))
BOTH_FORMS(bcast, Bcast, (void* buffer, INT count, INT type, INT root, INT comm),
           (to_c_buffer(buffer), *count, TYPE, *root, COMM))
BOTH_FORMS(reduce, Reduce, (void* sendbuf, void* recvbuf, INT count, INT type, INT op, INT root, INT comm),
           (SENDBUF, RECVBUF, *count, TYPE, OP, *root, COMM))
REDUCTION(allreduce, Allreduce, *count)
REDUCTION(scan, Scan, *count)
REDUCTION(exscan, Exscan, *count)
REDUCTION(reduce_scatter_block, Reduce_scatter_block, *count)
REDUCTION(reduce_scatter, Reduce_scatter, count)
EXCHANGE(alltoall, Alltoall)
EXCHANGE(allgather, Allgather)
ROOTED(gather, Gather)
ROOTED(scatter, Scatter)
BOTH_FORMS(allgatherv, Allgatherv,
           (void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcounts, INT displs,
            INT recvtype, INT comm),
           (SENDBUF, *sendcount, SENDTYPE, RECVBUF, recvcounts, displs, RECVTYPE, COMM))
BLOCKING(alltoallv, Alltoallv,
         (void* sendbuf, INT sendcounts, INT sdispls, INT sendtype, void* recvbuf, INT recvcounts,
          INT rdispls, INT recvtype, INT comm),
         (SENDBUF, sendcounts, sdispls, SENDTYPE, RECVBUF, recvcounts, rdispls, RECVTYPE, COMM))
BLOCKING(gatherv, Gatherv,
         (void* sendbuf, INT sendcount, INT sendtype, void* recvbuf, INT recvcounts, INT displs, INT recvtype,
          INT root, INT comm),
         (SENDBUF, *sendcount, SENDTYPE, RECVBUF, recvcounts, displs, RECVTYPE, *root, COMM))
BLOCKING(scatterv, Scatterv,
         (void* sendbuf, INT sendcounts, INT displs, INT sendtype, void* recvbuf, INT recvcount, INT recvtype,
          INT root, INT comm),
         (SENDBUF, sendcounts, displs, SENDTYPE, RECVBUF, *recvcount, RECVTYPE, *root, COMM))
#endif
