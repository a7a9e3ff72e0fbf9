// SPDX-License-Identifier: BSD-3-Clause
// Runs the state machine of termination detection without MPI, for a few ranks whose computations and messages take any
// time.
// `quiescence_model all RANKS ITEMS PHASES RULE` tries every interleaving.
// `quiescence_model drawn RUNS SEED RULE` tries random interleavings.
// RULE is `ours`, `counts` (ignores the waves of stamps) or `phases` (ignores the phases of
// stamps); the test must detect the latter two.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "quiescence.h"

namespace {

constexpr int most_ranks = 5, most_messages = 16;

struct Rules {
    int ranks = 3, items = 2, passes = 1, phases = 2;
    bool forgets_waves = false, forgets_phases = false;
};

/// A message is sent, then in the receiver's memory, then delivered.
struct Message {
    stamp sent_at;
    int8_t from, to, passes, is_received;
};

struct Rank {
    quiescence q;
    int32_t phase;     // current phase of the rank's program
    int8_t is_done;    // whether its program has ended its pushes in this phase
    int8_t in_flight;  // sent messages that are not yet received
    int8_t undelivered;
    int8_t unused;
};

struct State {
    std::array<Rank, most_ranks> ranks;
    std::array<Message, most_messages> messages;
    std::array<std::array<int64_t, 2>, 2> sums;  // sums of the current and the previous wave
    std::array<int8_t, 2> joined;
    int8_t message_count, pushed, waves_since, unused;  // waves that ended after the last delivery

    [[nodiscard]] size_t key() const {
        return std::hash<std::string_view>{}({reinterpret_cast<const char*>(this), sizeof *this});
    }
};

[[noreturn]] void fail(const char* what) {
    std::printf("%s\n", what);
    std::exit(1);
}

State make_initial_state() {
    State s;
    std::memset(static_cast<void*>(&s), 0, sizeof s);
    return s;
}

void add_message(State& s, int from, int to, int passes) {
    Rank& rank = s.ranks[from];
    Message& made = s.messages[s.message_count++];
    made = {count_sent(&rank.q), static_cast<int8_t>(from), static_cast<int8_t>(to),
            static_cast<int8_t>(passes), 0};
    ++rank.in_flight;
    ++s.pushed;
}

/// A handler that forwards an item sends two copies.
void deliver_message(State& s, int index, int one, int other, const Rules& rules) {
    const Message message = s.messages[index];
    s.messages[index] = s.messages[--s.message_count];
    std::memset(static_cast<void*>(&s.messages[s.message_count]), 0, sizeof(Message));
    Rank& rank = s.ranks[message.to];
    if (message.sent_at.phase != static_cast<uint32_t>(rank.phase)) fail("an item came in another phase");
    stamp seen = message.sent_at;
    if (rules.forgets_waves) seen.wave = rank.q.wave;
    count_received(&rank.q, seen);
    --rank.undelivered;
    s.waves_since = 0;
    if (message.passes == 0) return;
    add_message(s, message.to, one, message.passes - 1);
    add_message(s, message.to, other, message.passes - 1);
}

void join_next_wave(State& s, Rank& rank, const Rules& rules) {
    const int wave = static_cast<int>(rank.q.wave % 2);
    if (s.joined[wave] == rules.ranks) {  // the wave before the last, which all ranks have read
        s.joined[wave] = 0;
        s.sums[wave] = {0, 0};
    }
    std::array<int64_t, 2> counts{};
    join_wave(&rank.q, counts.data());
    for (int i = 0; i < 2; ++i) s.sums[wave][i] += counts[i];
    if (++s.joined[wave] == rules.ranks && ++s.waves_since > 2)
        fail("a third wave ended after the last message");
}

void finish_wave(State& s, Rank& rank, const Rules& rules) {
    const int wave = static_cast<int>((rank.q.wave + 1) % 2);  // the wave before the next
    if (!end_wave(&rank.q, s.sums[wave].data())) return;
    const auto phase = static_cast<uint32_t>(rank.phase);
    for (int i = 0; i < s.message_count; ++i)
        if (s.messages[i].sent_at.phase == phase) fail("a phase ended before its last message was delivered");
    for (int r = 0; r < rules.ranks; ++r)
        if (s.ranks[r].phase == rank.phase && !s.ranks[r].is_done)
            fail("a phase ended before a rank was done");
    ++rank.phase;
    rank.is_done = 0;
    s.waves_since = 0;
}

/// Lists all possible next states.
void list_next_states(const State& s, const Rules& rules, std::vector<State>& next) {
    next.clear();
    const auto add = [&]() -> State& { return next.emplace_back(s); };
    const int most = rules.items * rules.phases;
    for (int r = 0; r < rules.ranks; ++r) {
        const Rank& rank = s.ranks[r];
        if (rank.phase == rules.phases) continue;
        if (!rank.is_done) {
            add().ranks[r].is_done = 1;
            for (int to = 0; to < rules.ranks && s.pushed < most; ++to)
                for (int passes = 0; passes <= rules.passes && to != r; ++passes)
                    add_message(add(), r, to, passes);
        } else if (!rank.q.in_wave && rank.in_flight == 0 && rank.undelivered == 0) {
            State& made = add();
            join_next_wave(made, made.ranks[r], rules);
        }
        if (rank.q.in_wave && s.joined[(rank.q.wave + 1) % 2] == rules.ranks) {
            State& made = add();
            finish_wave(made, made.ranks[r], rules);
        }
    }
    for (int i = 0; i < s.message_count; ++i) {
        const Message& message = s.messages[i];
        const Rank& receiver = s.ranks[message.to];
        if (!message.is_received) {
            State& made = add();
            made.messages[i].is_received = 1;
            --made.ranks[message.from].in_flight;
            ++made.ranks[message.to].undelivered;
        } else if (rules.forgets_phases || !is_of_next_phase(&receiver.q, message.sent_at)) {
            if (message.passes == 0) deliver_message(add(), i, 0, 0, rules);
            for (int one = 0; one < rules.ranks && message.passes > 0; ++one)
                for (int other = 0; other <= one; ++other)
                    if (one != message.to && other != message.to)
                        deliver_message(add(), i, one, other, rules);
        }
    }
}

bool is_final(const State& s, const Rules& rules) {
    for (int r = 0; r < rules.ranks; ++r)
        if (s.ranks[r].phase != rules.phases) return false;
    return s.message_count == 0;
}

size_t explore_all_states(const Rules& rules) {
    std::vector<State> waiting{make_initial_state()}, next;
    std::unordered_set<size_t> seen{waiting.front().key()};
    while (!waiting.empty()) {
        const State s = waiting.back();
        waiting.pop_back();
        list_next_states(s, rules, next);
        if (next.empty() && !is_final(s, rules)) fail("the end was missed");
        for (const State& one : next)
            if (seen.insert(one.key()).second) waiting.push_back(one);
    }
    return seen.size();
}

void run_random_interleavings(long runs, unsigned seed, Rules rules) {
    std::mt19937_64 random(seed);
    std::vector<State> next;
    for (long run = 0; run < runs; ++run) {
        rules.ranks = 2 + static_cast<int>(random() % (most_ranks - 1));
        rules.items = static_cast<int>(random() % 3);
        rules.passes = static_cast<int>(random() % 3);
        State s = make_initial_state();
        for (list_next_states(s, rules, next); !next.empty(); list_next_states(s, rules, next))
            s = next[random() % next.size()];
        if (!is_final(s, rules)) fail("the end was missed");
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const std::string what = argv[1], rule = argv[argc - 1];
    Rules rules;
    rules.forgets_waves = rule == "counts";
    rules.forgets_phases = rule == "phases";
    if (what == "drawn") {
        run_random_interleavings(std::atol(argv[2]), static_cast<unsigned>(std::atoi(argv[3])), rules);
        std::printf("every run ended in time\n");
        return 0;
    }
    rules.ranks = std::atoi(argv[2]);
    rules.items = std::atoi(argv[3]);
    rules.phases = std::atoi(argv[4]);
    std::printf("every interleaving of %zu states ends in time\n", explore_all_states(rules));
    return 0;
}
