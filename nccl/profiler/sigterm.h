// SPDX-License-Identifier: BSD-3-Clause
// Writes the counts on SIGTERM, which torchrun and mpirun send to end their ranks.
#ifndef TOPOLOOM_NCCL_SIGTERM_H
#define TOPOLOOM_NCCL_SIGTERM_H

/// Installs a SIGTERM handler that calls `write` in a thread, then ends the process. Does nothing if the program
/// handles SIGTERM, or on a second call.
void write_on_sigterm(void (*write)(void));

/// Removes the handler. Call this when the process exits or the plugin is unloaded.
void restore_sigterm(void);

#endif
