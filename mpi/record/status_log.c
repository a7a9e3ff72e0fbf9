// SPDX-License-Identifier: BSD-3-Clause
// Writes the status log, from which `topoloom record` learns how far each process got. One file per host, log-HOST, has
// these lines:
//
//   loaded PROGRAM             before main
//   other                      the program uses another MPI and runs without the recorder
//   sessions                   MPI_Session_init was called
//   started JOB RANK SIZE      MPI_Init has returned; JOB is the same for all ranks of a world
//   ended JOB RANK CAUSE N     without MPI_Finalize: by a signal, exit, ...
//   unseen                     MPI was initialized, but by a call that has no wrapper
// Spawned processes log only the first line.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

static char file_[4096];

static bool find_log_file(void) {
    char host[256] = "";
    const char* folder = getenv(RECORD_VARIABLE);
    if (file_[0] != '\0') return true;
    if (folder == NULL || folder[0] != '/' || gethostname(host, sizeof host - 1) != 0) return false;
    const int length = snprintf(file_, sizeof file_, "%s/log-%s", folder, host);
    if (length < (int)sizeof file_) return true;
    file_[0] = '\0';
    return false;
}

void log_status(const char* format, ...) {
    char line[4200];
    if (!find_log_file()) return;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    const int file = open(file_, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    // a single write, so that lines of several processes do not interleave
    if (length > 0 && length < (int)sizeof line && write(file, line, (size_t)length) != length)
        file_[0] = '\0';
    close(file);
}
