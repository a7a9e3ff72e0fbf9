// SPDX-License-Identifier: BSD-3-Clause
// When the program ends without MPI_Finalize (MPI_Abort, SIGTERM, SIGINT, exit) each rank leaves a file of
// its own.
//
// All of partial_write may run in a signal handler: names and buffers are ready beforehand.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

enum { buffer_words = 4096, longest_name = 4096 };

static const char* folder_;
static char name_[longest_name], unfinished_[longest_name + 8];
static int64_t buffer_[buffer_words];
static atomic_flag written_ = ATOMIC_FLAG_INIT;
static pid_t process_;
// SIGURG asks for the notes (others.c, and `topoloom record` before it ends a job); the others end the
// program.
static const int signals_[] = {SIGTERM, SIGINT, SIGURG};
enum { signal_count = sizeof signals_ / sizeof signals_[0] };

static bool is_ours(void) { return process_ != 0 && process_ == getpid(); }  // not a forked child's

static void write_once(void) {
    if (!is_ours() || atomic_flag_test_and_set(&written_)) return;
    const int file = open(unfinished_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return;
    struct sink sink = {.file = file, .words = buffer_, .capacity = buffer_words};
    sink.failed = write(file, record_file_head, sizeof record_file_head) != (ssize_t)sizeof record_file_head;
    block_write(&sink, false);
    if (close(file) != 0 || sink.failed)
        unlink(unfinished_);
    else
        rename(unfinished_, name_);
}

static void on_signal(int number) {
    const int error = errno;
    write_once();
    errno = error;
    if (number == SIGURG) return;
    signal(number, SIG_DFL);  // and now die of it, as the program would have
    raise(number);
}

void partial_write(void) {
    if (!is_ours()) return;
    write_once();
    others_ask(folder_);
}

void partial_prepare(const char* folder) {
    const int length =
        snprintf(name_, sizeof name_, "%s/partial-%d-%ld.topoloom", folder, record_rank, (long)getpid());
    if (length < 0 || length >= longest_name) return;
    snprintf(unfinished_, sizeof unfinished_, "%s.part", name_);
    folder_ = folder;
    process_ = getpid();
    for (int i = 0; i < signal_count; ++i) {
        struct sigaction old, mine = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        if (sigaction(signals_[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
            old.sa_handler == SIG_DFL)
            sigaction(signals_[i], &mine, NULL);
    }
}

void partial_release(void) {
    process_ = 0;
    for (int i = 0; i < signal_count; ++i) {
        struct sigaction now;
        if (sigaction(signals_[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == on_signal)
            signal(signals_[i], SIG_DFL);
    }
}

__attribute__((destructor)) static void at_exit(void) { partial_write(); }
