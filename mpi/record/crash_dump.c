// SPDX-License-Identifier: BSD-3-Clause
// Crash dumps: if the program ends without MPI_Finalize (MPI_Abort, a signal, exit), each rank writes a file.
//
// write_dump_once must be async-signal-safe, so names and buffers are prepared in advance.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { buffer_words = 4096, longest_name = 4096, seconds_to_die = 10 };

static const char* folder_;
static char name_[longest_name], unfinished_[longest_name + 8], job_ends_[longest_name];
static int64_t buffer_[buffer_words];
static atomic_bool begun_, written_, notified_;
static pid_t process_;
// SIGURG requests a dump (sent by notify_peers.c, and by `topoloom record` before it ends a job). The other signals end
// the program.
static const int signals_[] = {SIGURG,  SIGTERM, SIGINT,  SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
                               SIGPIPE, SIGXCPU, SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGABRT};
enum { signal_count = sizeof signals_ / sizeof signals_[0], first_crash = 10 };
static struct sigaction previous_[signal_count];
static char stack_[1 << 16];  // alternate stack, for signals after a stack overflow

/// Whether this process writes a dump. Forked children do not.
static bool is_dump_enabled(void) { return process_ != 0 && process_ == getpid(); }

bool is_crash_dump_due(void) { return is_dump_enabled() && !notified_; }

static void write_dump(const char* cause, int number) {
    const int file = open(unfinished_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!record_spawned) log_status("ended %llx %d %s %d\n", record_job, record_rank, cause, number);
    if (file < 0) return;
    struct sink sink = {.file = file, .words = buffer_, .capacity = buffer_words};
    sink.failed =
        write(file, record_file_header, sizeof record_file_header) != (ssize_t)sizeof record_file_header;
    write_rank_block(&sink, false);
    if (close(file) != 0 || sink.failed)
        unlink(unfinished_);
    else
        rename(unfinished_, name_);
}

/// Writes the dump, or waits for the thread that writes it: a process that dies meanwhile would lose its counts. Signals
/// are blocked, so that this thread is not the one it waits for.
static void write_dump_once(const char* cause, int number) {
    if (!is_dump_enabled()) return;
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    if (!atomic_exchange(&begun_, true)) {
        write_dump(cause, number);
        written_ = true;
    }
    for (int i = 0; i < 1000 * seconds_to_die && !written_; ++i) nanosleep(&pause, NULL);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
}

/// Writes the dump and notifies peers, even if a peer has requested our dump before: the launcher may kill ranks that
/// have not written yet.
void dump_and_notify(const char* cause, int number) {
    write_dump_once(cause, number);
    if (is_dump_enabled() && !atomic_exchange(&notified_, true)) request_peer_dumps(folder_);
}

static bool is_job_ending(void) { return access(job_ends_, F_OK) == 0; }

/// If `topoloom record` is about to end the job, waits for that, so that a call interrupted by the signal
/// does not continue.
static void wait_for_job_end(void) {
    const struct timespec timeout = {.tv_sec = seconds_to_die};
    if (is_dump_enabled() && is_job_ending()) nanosleep(&timeout, NULL);  // sleep ends at the next signal
}

static void handle_signal(int number, siginfo_t* info, void* context) {
    (void)context;
    const int error = errno;
    int i = 0;
    while (i + 1 < signal_count && signals_[i] != number) ++i;
    if (number == SIGURG)
        write_dump_once("asked", number);
    else if (is_job_ending())  // `topoloom record` has requested the dumps of all ranks
        write_dump_once("signal", number);
    else
        dump_and_notify("signal", number);
    if (number == SIGURG) {
        wait_for_job_end();
    } else {  // raise the signal with its previous action; hardware faults recur without raise()
        sigaction(number, &previous_[i], NULL);
        if (i < first_crash || info->si_code <= 0) raise(number);
    }
    errno = error;
}

/// Whether the default action applies, or, for crash signals, a handler of Open MPI or UCX that only prints a
/// backtrace.
static bool is_replaceable_action(const struct sigaction* action, bool is_crash) {
    Dl_info library;
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL) return true;
    if (!is_crash || (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN)) return false;
    return dladdr((void*)(uintptr_t)action->sa_sigaction, &library) != 0 && library.dli_fname != NULL &&
           (strstr(library.dli_fname, "/libopen-pal") != NULL ||
            strstr(library.dli_fname, "/libucs") != NULL);
}

void prepare_crash_dump(const char* folder) {
    const char* stem = record_spawned ? "spawned" : "partial";
    const int length =
        snprintf(name_, sizeof name_, "%s/%s-%d-%llx.topoloom", folder, stem, record_rank, record_job);
    if (length < 0 || length >= longest_name) return;
    snprintf(unfinished_, sizeof unfinished_, "%s.part", name_);
    snprintf(job_ends_, sizeof job_ends_, "%s/ending", folder);
    folder_ = folder;
    process_ = getpid();
    stack_t stack = {.ss_sp = stack_, .ss_size = sizeof stack_}, current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) sigaltstack(&stack, NULL);
    for (int i = 0; i < signal_count; ++i) {
        const struct sigaction action = {.sa_sigaction = handle_signal,
                                         .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK};
        if (sigaction(signals_[i], NULL, &previous_[i]) == 0 &&
            is_replaceable_action(&previous_[i], i >= first_crash))
            sigaction(signals_[i], &action, NULL);
    }
}

void cancel_crash_dump(void) {
    process_ = 0;
    for (int i = 0; i < signal_count; ++i) {
        struct sigaction current;
        if (sigaction(signals_[i], NULL, &current) == 0 && (current.sa_flags & SA_SIGINFO) &&
            current.sa_sigaction == handle_signal)
            sigaction(signals_[i], &previous_[i], NULL);
    }
}

static const char* exit_cause_ = "main";
static int exit_number_;

void set_exit_reason(const char* cause, int number) {
    if (!is_dump_enabled()) return;
    exit_cause_ = cause;
    exit_number_ = number;
}

__attribute__((destructor)) static void dump_at_exit(void) { dump_and_notify(exit_cause_, exit_number_); }
