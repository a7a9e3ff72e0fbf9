// SPDX-License-Identifier: BSD-3-Clause
// When the program ends without MPI_Finalize (MPI_Abort, a signal, exit) each rank leaves a file of its own.
//
// All of write_once may run in a signal handler: names and buffers are ready beforehand.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { buffer_words = 4096, longest_name = 4096, seconds_to_die = 10 };

static const char* folder_;
static char name_[longest_name], unfinished_[longest_name + 8], ending_[longest_name];
static int64_t buffer_[buffer_words];
static atomic_bool written_, left_;
static pid_t process_;
// SIGURG asks for the notes (others.c, and `topoloom record` before it ends a job); the others end the program.
static const int signals_[] = {SIGTERM, SIGINT, SIGURG, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { signal_count = sizeof signals_ / sizeof signals_[0], first_crash = 3 };
static struct sigaction before_[signal_count];
static char stack_[1 << 16];  // for a stack that is used up

static bool is_ours(void) { return process_ != 0 && process_ == getpid(); }  // not a forked child's

bool partial_is_expected(void) { return is_ours() && !left_; }

static void write_once(const char* how, int number) {
    if (!is_ours() || atomic_exchange(&written_, true)) return;
    const int file = open(unfinished_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!record_spawned) mark("ended %llx %d %s %d\n", record_job, record_rank, how, number);
    if (file < 0) return;
    struct sink sink = {.file = file, .words = buffer_, .capacity = buffer_words};
    sink.failed = write(file, record_file_head, sizeof record_file_head) != (ssize_t)sizeof record_file_head;
    block_write(&sink, false);
    if (close(file) != 0 || sink.failed)
        unlink(unfinished_);
    else
        rename(unfinished_, name_);
}

/// Also if another rank has asked us before: the launcher may kill those that have not written yet.
void partial_leave(const char* how, int number) {
    write_once(how, number);
    if (is_ours() && !atomic_exchange(&left_, true)) others_ask(folder_);
}

/// Where `topoloom record` is about to end the job, a call that the signal woke must not go on.
static void wait_for_end(void) {
    const struct timespec patience = {.tv_sec = seconds_to_die};
    if (is_ours() && access(ending_, F_OK) == 0) nanosleep(&patience, NULL);  // until the next signal
}

static void on_signal(int number, siginfo_t* info, void* context) {
    (void)context;
    const int error = errno;
    int i = 0;
    while (i + 1 < signal_count && signals_[i] != number) ++i;
    if (i >= first_crash)
        partial_leave("signal", number);
    else
        write_once(number == SIGURG ? "asked" : "signal", number);
    if (number == SIGURG) {
        wait_for_end();
    } else {  // and now die of it, as the program would have; what the machine raised comes again by itself
        sigaction(number, &before_[i], NULL);
        if (i < first_crash || info->si_code <= 0) raise(number);
    }
    errno = error;
}

/// A crash that nobody handles, or only MPI (Open MPI; UCX, below MPICH), which prints where it was.
static bool is_unhandled(const struct sigaction* action, bool crash) {
    Dl_info where;
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL) return true;
    if (!crash || (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN)) return false;
    return dladdr((void*)(uintptr_t)action->sa_sigaction, &where) != 0 && where.dli_fname != NULL &&
           (strstr(where.dli_fname, "/libopen-pal") != NULL || strstr(where.dli_fname, "/libucs") != NULL);
}

void partial_prepare(const char* folder) {
    const char* kind = record_spawned ? "spawned" : "partial";
    const int length =
        snprintf(name_, sizeof name_, "%s/%s-%d-%llx.topoloom", folder, kind, record_rank, record_job);
    if (length < 0 || length >= longest_name) return;
    snprintf(unfinished_, sizeof unfinished_, "%s.part", name_);
    snprintf(ending_, sizeof ending_, "%s/ending", folder);
    folder_ = folder;
    process_ = getpid();
    stack_t stack = {.ss_sp = stack_, .ss_size = sizeof stack_}, theirs;
    if (sigaltstack(NULL, &theirs) == 0 && (theirs.ss_flags & SS_DISABLE)) sigaltstack(&stack, NULL);
    for (int i = 0; i < signal_count; ++i) {
        const struct sigaction mine = {.sa_sigaction = on_signal,
                                       .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK};
        if (sigaction(signals_[i], NULL, &before_[i]) == 0 && is_unhandled(&before_[i], i >= first_crash))
            sigaction(signals_[i], &mine, NULL);
    }
}

void partial_release(void) {
    process_ = 0;
    for (int i = 0; i < signal_count; ++i) {
        struct sigaction now;
        if (sigaction(signals_[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == on_signal)
            sigaction(signals_[i], &before_[i], NULL);
    }
}

static const char* how_ = "main";
static int number_;

void partial_leaving(const char* how, int number) {
    if (!is_ours()) return;
    how_ = how;
    number_ = number;
}

__attribute__((destructor)) static void at_exit(void) { partial_leave(how_, number_); }
