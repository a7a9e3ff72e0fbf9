/* SPDX-License-Identifier: BSD-3-Clause */
/* libtopoloom-collective: MPI's collectives, implemented by schedules that match the machine and the size of
 *each call.
 *
 * Names, arguments, MPI_IN_PLACE and return values are as in MPI. The first call on a communicator duplicates it, to
 * separate messages from those of the program; the duplicate is freed with the communicator. The schedule of a call
 * depends only on its operation, its size, the settings and, with learn=1, on times shared by all ranks. So all ranks
 * choose the same schedule.
 *
 * Rank 0 of the communicator reads the settings from the environment variable TOPOLOOM_COLLECTIVES: options separated by
 * commas, or the name of a decision table. Without settings, the choice depends only on which processes
 * share a host.
 *   machine=FILE     machine file: lines `machine TEXT` and `node NUMBER HOST`, and message costs
 *   placement=FILE   slot of each rank of MPI_COMM_WORLD, written by `topoloom map`
 *   decisions=FILE   decision table, written by `topoloom collective rank --decisions`
 *   schedule=NAME    the only schedule, for operations that support it
 *   exchange=NAME    algorithm of topoloom_exchange.h: reduction, nbx or mesh
 *   learn=1          choose schedules also by measured times of blocking calls
 *   trace=FILE       rank 0 appends which ranks waited for which, for the first 100 blocking calls of a communicator
 *   progress=1       a thread per process advances started collectives, if the program requested MPI_THREAD_MULTIPLE
 *   report=1         rank 0 prints the strategy of each communicator to standard error
 *
 * Errors invoke the communicator's error handler: for a started collective, when it is tested or waited for.
 * In MPICH, errors of messages are raised on MPI_COMM_WORLD instead. Intercommunicators are not supported.
 * The operator of a started collective receives duplicates of derived datatypes, because the program may free
 * the originals.
 */
#ifndef TOPOLOOM_COLLECTIVE_H
#define TOPOLOOM_COLLECTIVE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_COLLECTIVE_API __attribute__((visibility("default")))

/* A non-blocking or persistent collective: the counterpart of MPI_Request. */
typedef struct topoloom_request_state* topoloom_request; /* NOLINT(readability-identifier-naming): C */
#define TOPOLOOM_REQUEST_NULL ((topoloom_request)0)

/* Blocking, non-blocking and persistent form of each operation. Without progress=1, a started collective advances only
 * when the process tests or waits for a request. */
TOPOLOOM_COLLECTIVE_API int topoloom_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                              MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                               MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                   void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                   MPI_Comm comm, MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_alltoallv(const void* sendbuf, const int sendcounts[],
                                               const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                               const int recvcounts[], const int rdispls[],
                                               MPI_Datatype recvtype, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ialltoallv(const void* sendbuf, const int sendcounts[],
                                                const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                                const int recvcounts[], const int rdispls[],
                                                MPI_Datatype recvtype, MPI_Comm comm,
                                                topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                                    const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                                    const int recvcounts[], const int rdispls[],
                                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                    topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                               MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                    MPI_Comm comm, MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                void* recvbuf, const int recvcounts[], const int displs[],
                                                MPI_Datatype recvtype, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                 void* recvbuf, const int recvcounts[], const int displs[],
                                                 MPI_Datatype recvtype, MPI_Comm comm,
                                                 topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_allgatherv_init(const void* sendbuf, int sendcount,
                                                     MPI_Datatype sendtype, void* recvbuf,
                                                     const int recvcounts[], const int displs[],
                                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                     topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_allreduce(const void* sendbuf, void* recvbuf, int count,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iallreduce(const void* sendbuf, void* recvbuf, int count,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                    MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_reduce_scatter(const void* sendbuf, void* recvbuf,
                                                    const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                                    MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ireduce_scatter(const void* sendbuf, void* recvbuf,
                                                     const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                                     MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_reduce_scatter_init(const void* sendbuf, void* recvbuf,
                                                         const int recvcounts[], MPI_Datatype datatype,
                                                         MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                         topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                           topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_reduce_scatter_block_init(const void* sendbuf, void* recvbuf,
                                                               int recvcount, MPI_Datatype datatype,
                                                               MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                               topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_scan(const void* sendbuf, void* recvbuf, int count,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iscan(const void* sendbuf, void* recvbuf, int count,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                           topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_scan_init(const void* sendbuf, void* recvbuf, int count,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                               topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_exscan(const void* sendbuf, void* recvbuf, int count,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iexscan(const void* sendbuf, void* recvbuf, int count,
                                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                             topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_exscan_init(const void* sendbuf, void* recvbuf, int count,
                                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                 MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                           MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ibcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                            MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                                                MPI_Comm comm, MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_reduce(const void* sendbuf, void* recvbuf, int count,
                                            MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ireduce(const void* sendbuf, void* recvbuf, int count,
                                             MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                             topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_reduce_init(const void* sendbuf, void* recvbuf, int count,
                                                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                                 MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                            MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                             MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                 int root, MPI_Comm comm, MPI_Info info,
                                                 topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, const int recvcounts[], const int displs[],
                                             MPI_Datatype recvtype, int root, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, const int recvcounts[], const int displs[],
                                              MPI_Datatype recvtype, int root, MPI_Comm comm,
                                              topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, const int recvcounts[], const int displs[],
                                                  MPI_Datatype recvtype, int root, MPI_Comm comm,
                                                  MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                             MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                              MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                  int root, MPI_Comm comm, MPI_Info info,
                                                  topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                              MPI_Datatype recvtype, int root, MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_iscatterv(const void* sendbuf, const int sendcounts[],
                                               const int displs[], MPI_Datatype sendtype, void* recvbuf,
                                               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                               topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_scatterv_init(const void* sendbuf, const int sendcounts[],
                                                   const int displs[], MPI_Datatype sendtype, void* recvbuf,
                                                   int recvcount, MPI_Datatype recvtype, int root,
                                                   MPI_Comm comm, MPI_Info info, topoloom_request* request);

TOPOLOOM_COLLECTIVE_API int topoloom_barrier(MPI_Comm comm);
TOPOLOOM_COLLECTIVE_API int topoloom_ibarrier(MPI_Comm comm, topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_barrier_init(MPI_Comm comm, MPI_Info info, topoloom_request* request);

/* Equivalents of MPI_Start etc. Null and inactive requests count as complete, completion frees non-persistent
 * requests, and statuses are empty. */
TOPOLOOM_COLLECTIVE_API int topoloom_start(topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_startall(int count, topoloom_request requests[]);
TOPOLOOM_COLLECTIVE_API int topoloom_test(topoloom_request* request, int* flag, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_testall(int count, topoloom_request requests[], int* flag,
                                             MPI_Status statuses[]);
TOPOLOOM_COLLECTIVE_API int topoloom_wait(topoloom_request* request, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_waitall(int count, topoloom_request requests[], MPI_Status statuses[]);
/* Frees an inactive persistent request. */
TOPOLOOM_COLLECTIVE_API int topoloom_request_free(topoloom_request* request);

/* With learn=1, shares the measured times among all ranks; from the next call on, ranks choose the fastest
 * schedules. Collective. The library itself runs fences, at first after each call, then less and less often.
 * Call this function at suitable points of the program, such as the start of a phase. Without learn=1 it has
 * no effect.
 *
 * A fence allocates no memory. If a blocking call fails on one rank before it begins, such as for lack of memory, all
 * later calls of this rank on the communicator fail: its measured times would be incomplete. */
TOPOLOOM_COLLECTIVE_API int topoloom_collective_fence(MPI_Comm comm);

/* Returns the schedule of calls with this operation (`alltoall`, ...) and size; `bytes` is defined as in
 * `topoloom collective`. Collective on first use of a communicator. The text is valid until the communicator
 * is freed. */
TOPOLOOM_COLLECTIVE_API int topoloom_schedule_of(MPI_Comm comm, const char* operation, long long bytes,
                                                 const char** schedule);

#ifdef __cplusplus
}
#endif

#endif
