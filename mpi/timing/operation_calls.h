// SPDX-License-Identifier: BSD-3-Clause
// List of the collectives that can be timed. Define OPERATION before including this file:
//   OPERATION(name, lower, Mpi, in_by_rank, out_by_rank, is_reduction, arguments of MPI_Mpi from `struct buffers* b`...)
OPERATION("alltoall", alltoall, Alltoall, true, true, false, b->in, b->count, b->type, b->out, b->count,
          b->type, b->comm)
OPERATION("allgather", allgather, Allgather, false, true, false, b->in, b->count, b->type, b->out, b->count,
          b->type, b->comm)
OPERATION("allreduce", allreduce, Allreduce, false, false, true, b->in, b->out, b->count, b->type, b->op,
          b->comm)
OPERATION("bcast", bcast, Bcast, false, false, false, b->out, b->count, b->type, b->root, b->comm)
OPERATION("reduce", reduce, Reduce, false, false, true, b->in, b->out, b->count, b->type, b->op, b->root,
          b->comm)
OPERATION("reduce_scatter", reduce_scatter_block, Reduce_scatter_block, true, false, true, b->in, b->out,
          b->count, b->type, b->op, b->comm)
OPERATION("gather", gather, Gather, false, true, false, b->in, b->count, b->type, b->out, b->count, b->type,
          b->root, b->comm)
OPERATION("scatter", scatter, Scatter, true, false, false, b->in, b->count, b->type, b->out, b->count,
          b->type, b->root, b->comm)
OPERATION("scan", scan, Scan, false, false, true, b->in, b->out, b->count, b->type, b->op, b->comm)
OPERATION("exscan", exscan, Exscan, false, false, true, b->in, b->out, b->count, b->type, b->op, b->comm)
OPERATION("barrier", barrier, Barrier, false, false, false, b->comm)
