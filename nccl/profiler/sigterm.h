// SPDX-License-Identifier: BSD-3-Clause
// Writes the counts on SIGTERM, with which torchrun and mpirun end their ranks.
#ifndef TOPOLOOM_NCCL_SIGTERM_H
#define TOPOLOOM_NCCL_SIGTERM_H

/// On SIGTERM, calls `write` outside of the signal handler, then ends the process. Does nothing if the program handles
/// SIGTERM. Once per process.
void write_on_sigterm(void (*write)(void));

/// Call it when the process exits or the plugin is unloaded.
void restore_sigterm(void);

#endif
