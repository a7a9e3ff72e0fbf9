// SPDX-License-Identifier: BSD-3-Clause
// What a process knows of objects. The parts: messages.cpp brings messages to objects, moving.cpp objects to ranks,
// groups.cpp has broadcasts and multicasts, reductions.cpp reductions, run.cpp the loop.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "brackets.hpp"
#include "message.hpp"
#include "table.hpp"
#include "topoloom_scheduler.hpp"
#include "transport.hpp"

namespace topoloom::objects {

/// What an object has sent to another since the last rebalance, and the number of its next message.
struct Sent {
    std::int64_t bytes = 0, messages = 0;
    std::int64_t cast_bytes = 0, reduced_bytes = 0;  // of these by multicasts, by reductions of sections
    std::uint32_t next = 0;
};

/// Who sends: an object, or the main program of a rank.
struct Sender {
    static constexpr int shift = 40;
    static constexpr std::uint64_t main_program = 0xFFFFFF;
    [[nodiscard]] static std::uint64_t of(std::uint64_t array, std::uint64_t index) {
        return array << shift | index;
    }
    [[nodiscard]] static std::uint64_t array(std::uint64_t key) { return key >> shift; }
    [[nodiscard]] static std::uint64_t index(std::uint64_t key) {
        return key & ((std::uint64_t{1} << shift) - 1);
    }
};

struct Address {
    std::uint16_t array = 0;
    std::uint64_t index = 0;
};

/// Where an object was when it had moved so often.
struct Location {
    std::int32_t rank = 0;
    std::uint32_t moves = 0;
};

/// What an object does in a many-to-many in a phase: its turn, and what it has inserted in this.
struct Inserting {
    std::uint64_t phase = 0;
    std::uint32_t turn = 0;
    std::uint64_t inserted = 0;
};

/// Of an object that has moved, for all ranks.
struct Whereabouts {
    std::uint64_t index = 0;
    Location location;
    std::uint64_t array = 0;
};

/// An object that is here.
struct Resident {
    void* object = nullptr;
    std::uint64_t index = 0;
    std::uint32_t array = 0;
    std::uint32_t moves = 0;
    std::uint64_t broadcasts = 0;  // that it has been given
    std::uint64_t reductions = 0;  // that it has contributed to
    double seconds = 0;
    Table<Sent> sent;               // by Sender::of the receiver
    Table<std::uint32_t> expected;  // of ordered arrays: the number of the next message, by sender
    std::vector<Message*> early;    // those that others go before
    int wanted = -1;                // the rank to move to
    Table<Inserting> inserting;     // by many-to-many
    std::int32_t designated = 0;    // where it was at the last fence, if it has moved since,
    std::uint64_t left_in = ~std::uint64_t{0};  // as is known by the phase in which it left
    ~Resident() {
        for (Message* const message : early) Message::discard(message);
    }
};

struct Array {
    Type type;
    void* front = nullptr;  // the Objects<T>; null: gone
    ArraySetting setting;
    Table<Resident*> residents;
    std::uint64_t designated = 0;      // objects that were here at the last fence
    Table<Location> locations;         // of others: where an object went from here, arrived, or answered
    std::vector<Message*> broadcasts;  // of this phase, which objects that arrive may lack
    std::uint64_t broadcast_count = 0;
};

/// Whether the parts of a reduction meet where the object is that it is for, and not on rank 0.
[[nodiscard]] inline bool is_for_one_object(const Group& group, const Target& target) {
    return group.is_section() && target.kind == Target::element;
}

/// A part of a reduction on its way up the tree of ranks, or to an object.
struct PartialHead {
    Group group;
    Target target;
    std::uint64_t contributions = 0;
    std::int32_t operation = 0;
    std::int32_t padding = 0;
};
struct Partial {
    PartialHead head;
    std::vector<char> value;
};

struct Callback {
    Runtime::Invoke invoke;
    bool (*combine)(int, std::vector<char>&, const char*, std::size_t);
};

/// And how often objects have moved, and where those are that are to move.
struct Gathered : Measured {
    std::vector<std::uint32_t> moves, here;
};

struct State final : Receiver {
    State(MPI_Comm comm, const SchedulerOptions& given);
    ~State();

    // messages.cpp
    void send(Message* message);
    bool take(int from, const Header& header, const char* values) override;
    bool take_one(int from, const Header& header, const char* values);
    void deliver(Message* message);
    void release(Message* message);
    void discard(Message* message);
    void pass_on(const Header& header, const char* values);
    [[nodiscard]] Resident* resident(std::uint32_t array, std::uint64_t index);
    [[nodiscard]] int home(const Array& array, std::uint64_t index) const;
    [[nodiscard]] int whereabouts(Array& array, std::uint64_t index) const;
    void locate(Array& array, std::uint64_t index, const Location& location);
    void say_where(const Address& object, int to, const Location& location);

    // moving.cpp
    Resident* create(std::uint32_t array, std::uint64_t index, void* object);
    void ask_to_move(Resident& resident, int rank);
    void depart(Resident* resident);
    void arrive(const Header& header, const char* values);
    void forget_locations();

    // groups.cpp
    void broadcast(Message* message);
    void take_broadcast(const Header& header, const char* values);
    void give_broadcasts(Array& array, Resident& resident);
    void multicast(const Header& header, const std::vector<std::uint64_t>& members, const char* values);
    void take_multicast(const Header& header, const char* values);
    void forget_broadcasts();

    // brackets.cpp
    [[nodiscard]] std::uint32_t add_bracket(std::uint32_t array, const ManyToManyOptions& given);
    void install(Bracket& bracket, Combining strategy);
    [[nodiscard]] int designated(const Resident& resident) const;
    [[nodiscard]] Inserting& inserting(Resident& resident, std::uint32_t bracket);
    void insert(std::uint32_t bracket, Resident& resident, Message* message);
    void be_done(std::uint32_t bracket, Resident& resident);
    void take_inserted(Message* message);
    void take_done(const Header& header);
    void take_opening(const Header& header);
    void take_combined(const Header& header, const char* values);
    void take_carried(Message* message);
    void go_on(Bracket& bracket, const Header& header);
    void note(Bracket& bracket, const Bracket::Turn& turn);
    void send_stage(Bracket& bracket, Bracket::Turn& turn, const Header& of);
    void fence();
    [[nodiscard]] std::vector<Whereabouts> own_arrivals();
    void learn_locations(const std::vector<Whereabouts>& own);
    void learn(Bracket& bracket, const Bracket::Seen& of_all);

    // reductions.cpp
    void contribute(const PartialHead& head, const char* value, std::size_t bytes);
    void send_partials();
    [[nodiscard]] bool send_on(const Partial& partial);
    void finish(const Partial& partial);
    void take_result(const Header& header, const char* values);

    // run.cpp
    void run();
    void make_room();
    void wait_for_room(bool delivers);
    void wait(bool has_room);
    void deliver_next(Message* message);
    void depart_late();
    void begin_measuring();
    void raise_trouble();
    void call(Resident& resident, Message* message);
    void settle_loads();
    [[noreturn]] void fail(const std::string& text) const;
    void refuse_in_methods(const char* call) const;
    [[nodiscard]] std::string name_of(std::uint32_t array, std::uint64_t index) const;
    /// Within a catch.
    [[nodiscard]] std::string serialize_threw(std::uint32_t array, std::uint64_t index) const;

    // measured.cpp
    /// The number of the first object of each array; then of all.
    [[nodiscard]] std::vector<std::uint64_t> first_objects() const;
    [[nodiscard]] Gathered measured();
    void forget_measured();

    MPI_Comm comm;
    SchedulerOptions options;
    std::unique_ptr<Transport> transport;
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<Callback> callbacks;
    std::deque<Bracket> brackets;
    std::uint64_t phases = 0;      // that have ended
    std::vector<Address> arrived;  // in this phase
    Queue queue;
    Resident* current = nullptr;  // whose method runs
    int delivering = 0;           // methods and callbacks that run, one within a send of the main program
    bool is_running = false;      // run()
    std::deque<Address> late;     // objects that leave when no method runs in run()
    double waited = 0;            // seconds in sends, of methods
    double quiet_since = 0;       // when something came last
    Table<Sent> sent_by_main;
    std::map<std::tuple<std::uint64_t, std::uint64_t>, Partial> partials;  // by group and turn
    std::uint64_t sections = 0;
    std::exception_ptr trouble;  // with what has come, for run() to raise

    // Calls since the processor time was last read: what they took by the clock.
    std::vector<std::pair<Resident*, double>> calls;
    double clock_then = 0, processor_then = 0;
};

/// What is being thrown says; within a catch.
[[nodiscard]] std::string thrown_text();
/// Seconds by the clock, and of this thread's processor.
[[nodiscard]] double clock_now();
[[nodiscard]] double processor_now();

}  // namespace topoloom::objects
