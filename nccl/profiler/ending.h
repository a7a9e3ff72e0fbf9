// SPDX-License-Identifier: BSD-3-Clause
/// Writing where the process is asked to end: torchrun and mpirun end their ranks with SIGTERM.
#ifndef TOPOLOOM_NCCL_ENDING_H
#define TOPOLOOM_NCCL_ENDING_H

/// From now on SIGTERM has `write` called, outside of the handler, before it ends the process; not where the
/// program handles it itself. Once per process.
void ending_watch(void (*write)(void));

/// Stop that: the process exits, or we are unloaded.
void ending_forget(void);

#endif
