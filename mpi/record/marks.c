// SPDX-License-Identifier: BSD-3-Clause
// How far each process came, for `topoloom record` to tell: lines in one file per host, marks-HOST.
//
//   loaded PROGRAM             before main
//   other                      the program uses another MPI, and goes on without us
//   sessions                   MPI_Session_init was called
//   started JOB RANK SIZE      MPI_Init is done; JOB is common to the ranks of a world
//   ended JOB RANK HOW NUMBER  without MPI_Finalize, by a signal, exit, ...
//   unseen                     MPI was started, but not by a call that we saw
// Spawned processes leave none but the first.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

static char file_[4096];

static bool prepare(void) {
    char host[256] = "";
    const char* folder = getenv(shim.variable);
    if (file_[0] != '\0') return true;
    if (folder == NULL || folder[0] != '/' || gethostname(host, sizeof host - 1) != 0) return false;
    const int length = snprintf(file_, sizeof file_, "%s/marks-%s", folder, host);
    if (length < (int)sizeof file_) return true;
    file_[0] = '\0';
    return false;
}

void mark(const char* format, ...) {
    char line[4200];
    if (!prepare()) return;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    const int file = open(file_, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    // One write, so that lines of several processes do not mix.
    if (length > 0 && length < (int)sizeof line && write(file, line, (size_t)length) != length)
        file_[0] = '\0';
    close(file);
}

void mark_other_mpi(void) { mark("other\n"); }

__attribute__((constructor)) static void mark_loaded(void) {
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    mark("loaded %s\n", program);
}

__attribute__((destructor)) static void mark_unseen(void) {
    int initialized = 0;
    if (record_started || !prepare()) return;
    PMPI_Initialized(&initialized);
    if (initialized) mark("unseen\n");
}
