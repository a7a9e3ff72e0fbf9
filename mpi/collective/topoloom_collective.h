/* SPDX-License-Identifier: BSD-3-Clause */
/* libtopoloom-collective: MPI's collectives, by the schedule that suits the machine and the size of each call.
 *
 * Names, arguments, MPI_IN_PLACE and return values are MPI's. The first call on a communicator duplicates it, so that
 * messages are kept apart from the program's; the duplicate is freed with the communicator. The schedule of a call depends
 * only on its operation, its size, the settings and, with learn=1, on what all ranks have learned: ranks always agree.
 *
 * Rank 0 of the communicator reads the settings from the environment variable TOPOLOOM_COLLECTIVES: options separated by
 * semicolons, or the name of a decision table. Without it, only the hosts of the processes are known.
 *   machine=FILE     lines `machine TEXT` and `node NUMBER HOST`, and message costs
 *   placement=FILE   written by `topoloom map`: the slot of each rank of MPI_COMM_WORLD
 *   decisions=FILE   written by `topoloom collective --decisions`
 *   schedule=NAME    the only schedule, for operations that support it
 *   exchange=NAME    of topoloom_exchange.h: reduction, nbx or mesh
 *   learn=1          choose schedules by measured times of the communicator's blocking calls, too
 *   trace=FILE       rank 0 appends who waited for whom in the first 100 blocking calls of a communicator
 *   progress=1       a thread per process advances started collectives, if the program asked for MPI_THREAD_MULTIPLE
 *   report=1         rank 0 prints to standard error what each communicator uses
 *
 * Errors are raised by the communicator's error handler, those of a started collective when it is tested or waited for.
 * MPICH raises errors of messages on MPI_COMM_WORLD. Intercommunicators are not supported. The operator of a started
 * collective gets duplicates of derived datatypes, because the program may have freed its own.
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

/* The blocking, non-blocking and persistent form of each operation. Without progress=1, a started collective advances only
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

/* As MPI_Start and its relatives: a null or inactive request is complete, completion frees a request unless it is
 * persistent, and statuses are empty. */
TOPOLOOM_COLLECTIVE_API int topoloom_start(topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_startall(int count, topoloom_request requests[]);
TOPOLOOM_COLLECTIVE_API int topoloom_test(topoloom_request* request, int* flag, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_testall(int count, topoloom_request requests[], int* flag,
                                             MPI_Status statuses[]);
TOPOLOOM_COLLECTIVE_API int topoloom_wait(topoloom_request* request, MPI_Status* status);
TOPOLOOM_COLLECTIVE_API int topoloom_waitall(int count, topoloom_request requests[], MPI_Status statuses[]);
/* Frees an inactive persistent request. */
TOPOLOOM_COLLECTIVE_API int topoloom_request_free(topoloom_request* request);

/* With learn=1, all ranks share the measured times of their calls; from the next call on, they choose the schedules that are
 * then fastest. Collective. The library runs fences itself, after each call at first, then ever more rarely; this function is
 * for a good time that only the program knows, such as the start of a phase. Without learn=1 it does nothing.
 *
 * It needs no memory beyond what the setup of the communicator has allocated. A rank on which a blocking call fails before it
 * begins, such as for lack of memory, knows less than others: it fails all later calls on the communicator. */
TOPOLOOM_COLLECTIVE_API int topoloom_collective_fence(MPI_Comm comm);

/* Finds the schedule of a call of this operation (`alltoall`, ...) and size; bytes are those of `topoloom collective`. The
 * first use of a communicator is collective. The text lives as long as the communicator. */
TOPOLOOM_COLLECTIVE_API int topoloom_schedule_of(MPI_Comm comm, const char* operation, long long bytes,
                                                 const char** schedule);

#ifdef __cplusplus
}
#endif

#endif
