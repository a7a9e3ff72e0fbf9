// SPDX-License-Identifier: BSD-3-Clause
// MPI's non-blocking collectives, but those whose blocks differ and go straight to their rank in every library.
#include "preload.h"
#include "stand_in.h"

SHIM_EXPORT int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Ibarrier);
    if (!serves_barrier(nonblocking, comm)) return next(comm, request);
    topoloom_request ours;
    return hand_over(topoloom_ibarrier(comm, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Ialltoall);
    if (!serves_alltoall(nonblocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    topoloom_request ours;
    const int started =
        topoloom_ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Iallgather);
    if (!serves_allgather(nonblocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    topoloom_request ours;
    const int started =
        topoloom_iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Iallgatherv);
    if (!serves_allgatherv(nonblocking, sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
    topoloom_request ours;
    const int started = topoloom_iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                             recvtype, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Iallreduce);
    if (!serves_combining(nonblocking, TOPOLOOM_ALL_REDUCE, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, request);
    topoloom_request ours;
    return hand_over(topoloom_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Ireduce_scatter);
    if (!serves_reduce_scatter(nonblocking, recvcounts, datatype, op, comm))
        return next(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
    topoloom_request ours;
    const int started = topoloom_ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                          MPI_Request* request) {
    DEFINITION(MPI_Ireduce_scatter_block);
    if (!serves_combining(nonblocking, TOPOLOOM_REDUCE_SCATTER, recvcount, datatype, op, comm))
        return next(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
    topoloom_request ours;
    const int started =
        topoloom_ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Iscan);
    if (!serves_combining(nonblocking, TOPOLOOM_SCAN, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, request);
    topoloom_request ours;
    return hand_over(topoloom_iscan(sendbuf, recvbuf, count, datatype, op, comm, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Iexscan);
    if (!serves_combining(nonblocking, TOPOLOOM_EXSCAN, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, request);
    topoloom_request ours;
    return hand_over(topoloom_iexscan(sendbuf, recvbuf, count, datatype, op, comm, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                           MPI_Request* request) {
    DEFINITION(MPI_Ibcast);
    if (!serves_bcast(nonblocking, buffer, count, datatype, root, comm))
        return next(buffer, count, datatype, root, comm, request);
    topoloom_request ours;
    return hand_over(topoloom_ibcast(buffer, count, datatype, root, comm, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            int root, MPI_Comm comm, MPI_Request* request) {
    DEFINITION(MPI_Ireduce);
    if (!serves_reduce(nonblocking, count, datatype, op, root, comm))
        return next(sendbuf, recvbuf, count, datatype, op, root, comm, request);
    topoloom_request ours;
    return hand_over(topoloom_ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, &ours), &ours,
                     request);
}

SHIM_EXPORT int MPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                            MPI_Request* request) {
    DEFINITION(MPI_Igather);
    if (!serves_gather(nonblocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    topoloom_request ours;
    const int started =
        topoloom_igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &ours);
    return hand_over(started, &ours, request);
}

SHIM_EXPORT int MPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                             MPI_Request* request) {
    DEFINITION(MPI_Iscatter);
    if (!serves_scatter(nonblocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    topoloom_request ours;
    const int started =
        topoloom_iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &ours);
    return hand_over(started, &ours, request);
}
