// SPDX-License-Identifier: BSD-3-Clause
// Some launchers kill all ranks with SIGKILL as soon as the first rank fails. So the failing rank first requests crash
// dumps of the other ranks on its node by SIGURG, which is ignored by default. This code may run in a signal handler,
// so it cannot use opendir or malloc.
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { max_environment = 1 << 20, entries_size = 1 << 15 };
static const char suffix[] = ".topoloom";
static char environment_[max_environment], entries_[entries_size];

struct folder_entry {  // of getdents64(2)
    uint64_t inode, offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/// Counts the entries of a folder for which `matches` returns true.
static int count_entries(const char* folder, bool (*matches)(const char* name, const char* setting),
                         const char* setting) {
    int count = 0;
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return 0;
    for (long got; (got = syscall(SYS_getdents64, file, entries_, entries_size)) > 0;)
        for (long at = 0; at < got;) {
            const struct folder_entry* entry = (const struct folder_entry*)(entries_ + at);
            count += matches(entry->name, setting);
            at += entry->length;
        }
    close(file);
    return count;
}

/// Whether the process has the same TOPOLOOM_RECORD, and so is a rank of the same job.
static bool is_rank_of_job(const char* process, const char* setting) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%.20s/environ", process);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used < max_environment; used += (size_t)(got > 0 ? got : 0))
        got = read(file, environment_ + used, max_environment - used);
    close(file);
    return memmem(environment_, used, setting, strlen(setting) + 1) != NULL;  // with the zero byte
}

static bool signal_rank_of_job(const char* process, const char* setting) {
    if (!isdigit((unsigned char)process[0]) || !is_rank_of_job(process, setting)) return false;
    const pid_t id = (pid_t)atol(process);
    return id != getpid() && kill(id, SIGURG) == 0;
}

static bool is_recording_file(const char* name, const char* setting) {
    (void)setting;
    const size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

void request_peer_dumps(const char* folder) {
    static char setting[4200];
    snprintf(setting, sizeof setting, RECORD_VARIABLE "=%s", folder);
    const int signaled = count_entries("/proc", signal_rank_of_job, setting);
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 0; i < 50 && count_entries(folder, is_recording_file, NULL) < signaled + 1; ++i)
        nanosleep(&pause, NULL);
}
