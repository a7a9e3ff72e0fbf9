/* SPDX-License-Identifier: BSD-3-Clause */
/* libtopoloom-collective: MPI's collectives by the schedule that suits the machine and the size of each call.
 *
 * Names, arguments, MPI_IN_PLACE and return values are MPI's. A communicator gets a private duplicate when it is
 * first used, so that no message meets the program's; it is freed with the communicator. Which schedule a call
 * takes depends on its operation, its size and the machine alone, which rank 0 of the communicator reads from the
 * environment variable TOPOLOOM_COLLECTIVES, and on what all ranks have learned, so that they always agree. It has
 * options separated by semicolons, or is the name of a decision table.
 *   machine=FILE     lines `machine TEXT` and `node NUMBER HOST`, and what messages cost
 *   placement=FILE   what `topoloom map` writes: where each rank of MPI_COMM_WORLD is
 *   decisions=FILE   what `topoloom collective --decisions` writes
 *   schedule=NAME    only this one, in operations that it can do
 *   exchange=NAME    of topoloom_exchange.h: reduction, nbx or mesh
 *   learn=1          measured times of the blocking calls of a communicator correct what is known of the machine
 *   trace=FILE       rank 0 appends to it who waited for whom in blocking calls: the first 100 of a communicator
 *   progress=1       a thread of each process takes on what it has started, if the program asked for MPI_THREAD_MULTIPLE
 *   report=1         rank 0 says on standard error what each communicator uses
 * Without it the machine is learned from the hosts of the processes.
 *
 * Errors are raised by the communicator's error handler, as by MPI, those of a started collective when it is tested or
 * waited for; MPICH raises what goes wrong with messages on MPI_COMM_WORLD. Intercommunicators are not served. The operator
 * of a started collective gets duplicates of derived datatypes, which the program may have freed.
 */
#ifndef TOPOLOOM_COLLECTIVE_H
#define TOPOLOOM_COLLECTIVE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_COLLECTIVE_API __attribute__((visibility("default")))

/* A collective that has been started, or may be: what MPI_Request is to MPI's. */
typedef struct topoloom_request_state* topoloom_request; /* NOLINT(readability-identifier-naming): C */
#define TOPOLOOM_REQUEST_NULL ((topoloom_request)0)

/* Blocking; non-blocking, to be waited for; persistent, to be started as often as wanted, with the same buffers.
 * A started collective goes on whenever its request is tested or waited for. */
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

/* As MPI_Start and so on: a null or inactive request is complete, and one that is not persistent is freed when it
 * is. Statuses are empty. */
TOPOLOOM_COLLECTIVE_API int topoloom_start(topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_startall(int count, topoloom_request requests[]);
TOPOLOOM_COLLECTIVE_API int topoloom_test(topoloom_request* request, int* flag, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_testall(int count, topoloom_request requests[], int* flag,
                                             MPI_Status statuses[]);
TOPOLOOM_COLLECTIVE_API int topoloom_wait(topoloom_request* request, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_waitall(int count, topoloom_request requests[], MPI_Status statuses[]);
/* Of an inactive persistent request. */
TOPOLOOM_COLLECTIVE_API int topoloom_request_free(topoloom_request* request);

/* With learn=1: all ranks tell each other what their calls took, and from the next call on take what is then the fastest.
 * Collective. The library does so itself, after each call while there is much to learn, then ever more rarely; this is
 * for times that a program knows to be good, as before a phase. Without learn=1 it does nothing. Its memory is there from
 * when the communicator is set up. A rank that fails a blocking call before it begins, such as for want of memory, knows less
 * than others from then on, and fails all calls on the communicator rather than take another schedule. */
TOPOLOOM_COLLECTIVE_API int topoloom_collective_fence(MPI_Comm comm);

/* The schedule that a call of this operation (`alltoall`, ...) and size takes; bytes as in `topoloom collective`.
 * Collective when the communicator is first used. The text lives as long as the communicator. */
TOPOLOOM_COLLECTIVE_API int topoloom_schedule_of(MPI_Comm comm, const char* operation, long long bytes,
                                                 const char** schedule);

#ifdef __cplusplus
}
#endif

#endif
