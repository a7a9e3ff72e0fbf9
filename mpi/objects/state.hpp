// SPDX-License-Identifier: BSD-3-Clause
// The objects of a process, and the scheduler's information about objects on other ranks.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "combined_exchange_state.hpp"
#include "hash_table.hpp"
#include "message.hpp"
#include "topoloom_scheduler.hpp"
#include "transport.hpp"

namespace topoloom::objects {

/// Traffic from one object to another since the last rebalance, and the sequence number of the next message.
struct Traffic {
    std::int64_t bytes = 0, messages = 0;
    std::int64_t multicast_bytes = 0,
                 reduced_bytes = 0;  // those of `bytes` in multicasts, and those in reductions over sections
    std::uint32_t next_sequence = 0;
};

/// A number that identifies an object, or the main program of a rank.
struct ObjectKey {
    static constexpr int shift = 40;
    static constexpr std::uint64_t main_program = 0xFFFFFF;
    [[nodiscard]] static std::uint64_t make(std::uint64_t array, std::uint64_t index) {
        return array << shift | index;
    }
    [[nodiscard]] static std::uint64_t get_array(std::uint64_t key) { return key >> shift; }
    [[nodiscard]] static std::uint64_t get_index(std::uint64_t key) {
        return key & ((std::uint64_t{1} << shift) - 1);
    }
};

struct ObjectAddress {
    std::uint16_t array = 0;
    std::uint64_t index = 0;
};

/// The rank of an object after this number of moves.
struct Location {
    std::int32_t rank = 0;
    std::uint32_t moves = 0;
};

/// An object's state in one many-to-many during a phase: the current round, and the object's insertions in
/// this round.
struct Insertions {
    std::uint64_t phase = 0;
    std::uint32_t round = 0;
    std::uint64_t count = 0;
};

/// Location of a moved object, to be sent to all ranks.
struct MovedObject {
    std::uint64_t index = 0;
    Location location;
    std::uint64_t array = 0;
};

/// An object on this rank, with its scheduling state.
struct Resident {
    void* object = nullptr;
    std::uint64_t index = 0;
    std::uint32_t array = 0;
    std::uint32_t moves = 0;
    std::uint64_t broadcasts = 0;        // number of broadcasts delivered to the object
    std::uint64_t reductions = 0;        // number of reductions to which the object has contributed
    double seconds = 0;                  // in methods
    HashTable<Traffic> sent;             // traffic by ObjectKey of the receiver
    HashTable<std::uint32_t> expected;   // next sequence number by sender, in ordered arrays
    std::vector<Message*> out_of_order;  // messages that wait for earlier messages
    int target_rank = -1;                // rank of a requested migration; -1: none
    HashTable<Insertions> insertions;    // insertions by number of the many-to-many
    std::int32_t fence_rank = 0;         // rank of the object at the last fence, if it has moved
    std::uint64_t moved_in_phase =
        ~std::uint64_t{0};  // phase of the last move; fence_rank is valid only in this phase
    ~Resident() {
        for (Message* const message : out_of_order) Message::discard(message);
    }
};

struct Array {
    ElementType type;
    void* user_array = nullptr;  // the program's Objects<T>; null: removed
    ArraySettings settings;
    HashTable<Resident*> residents;
    std::uint64_t fence_objects = 0;   // number of objects on this rank at the last fence
    HashTable<Location> locations;     // of remote objects that left, have their home here, or were reported
    std::vector<Message*> broadcasts;  // broadcasts of this phase, for objects that have not received them
    std::uint64_t broadcast_count = 0;
};

/// Whether a reduction is combined on the rank of one object instead of rank 0.
[[nodiscard]] inline bool is_for_one_object(const ReductionGroup& group, const ReductionTarget& target) {
    return group.is_section() && target.kind == ReductionTarget::element;
}

/// Header of a partial result that is sent up the tree of ranks, or to an object.
struct PartialHeader {
    ReductionGroup group;
    ReductionTarget target;
    std::uint64_t contributions = 0;
    std::int32_t operation = 0;
    std::int32_t padding = 0;
};
struct PartialResult {
    PartialHeader header;
    std::vector<char> value;
};

struct Callback {
    Runtime::Invoke invoke;
    bool (*combine)(int, std::vector<char>&, const char*, std::size_t);
};

struct DetailedMeasurements : Measurements {
    std::vector<std::uint32_t> moves;
    std::vector<std::uint32_t> current_rank;  // rank of each object before requested migrations
};

/// State of a scheduler. Comments name the file that defines the functions; each file calls only functions of files
/// above.
struct SchedulerState final : Receiver {
    SchedulerState(MPI_Comm comm, const SchedulerOptions& scheduler_options);
    ~SchedulerState();

    // diagnostics.cpp
    /// Raises an error through the communicator's error handler. If the handler returns, throws ObjectsError.
    [[noreturn]] void fail(const std::string& text) const;
    void fail_in_method(const char* call) const;
    [[nodiscard]] std::string describe_object(std::uint32_t array, std::uint64_t index) const;
    /// Must be called inside a catch block.
    [[nodiscard]] std::string describe_serialize_error(std::uint32_t array, std::uint64_t index) const;

    // locations.cpp
    [[nodiscard]] Resident* find_resident(std::uint32_t array, std::uint64_t index);
    [[nodiscard]] int get_home_rank(const Array& array, std::uint64_t index) const;
    [[nodiscard]] int get_last_known_rank(Array& array, std::uint64_t index) const;
    void record_location(Array& array, std::uint64_t index, const Location& location);
    void report_location(const ObjectAddress& object, int to, const Location& location);
    void discard_locations();

    // messages.cpp
    void send(Message* message);
    void forward_message(const MessageHeader& header, const char* values);
    void release_message(Message* message);
    void release_and_discard(Message* message);

    // broadcast.cpp
    void broadcast(Message* message);
    void receive_broadcast(const MessageHeader& header, const char* values);
    void deliver_broadcasts(Array& array, Resident& resident);
    void multicast(const MessageHeader& header, const std::vector<std::uint64_t>& members,
                   const char* values);
    void receive_multicast(const MessageHeader& header, const char* values);
    void discard_broadcasts();

    // reductions.cpp
    void contribute(const PartialHeader& header, const char* value, std::size_t bytes);
    void forward_partials();
    [[nodiscard]] bool forward_partial(const PartialResult& partial);
    void finish_reduction(const PartialResult& partial);
    void distribute_result(const MessageHeader& header, const char* values);

    // method_times.cpp
    void start_measuring();
    /// Adds the times of recent calls to their objects, multiplied by the share of the time in which the CPU
    /// ran this thread.
    void assign_method_times();

    // combined_exchange.cpp
    [[nodiscard]] std::uint32_t add_exchange(std::uint32_t array, const ManyToManyOptions& exchange_options);
    void install_strategy(CombinedExchange& exchange, Combining strategy);
    [[nodiscard]] int get_insertion_rank(const Resident& resident) const;
    [[nodiscard]] Insertions& get_insertions(Resident& resident, std::uint32_t exchange);
    void insert(std::uint32_t exchange, Resident& resident, Message* message);
    void finish_insertions(std::uint32_t exchange, Resident& resident);
    void receive_insertion(Message* message);
    void receive_insertions_done(const MessageHeader& header);
    void open_exchange(const MessageHeader& header);
    void receive_combined(const MessageHeader& header, const char* values);
    void deliver_combined_message(Message* message);
    void advance_exchange(CombinedExchange& exchange, const MessageHeader& header);
    void count_exchange_traffic(CombinedExchange& exchange, const CombinedExchange::Round& round);
    void send_stage(CombinedExchange& exchange, CombinedExchange::Round& round, const MessageHeader& of);
    void run_fence();
    [[nodiscard]] std::vector<MovedObject> list_arrivals();
    void gather_locations(const std::vector<MovedObject>& own);
    void choose_strategy(CombinedExchange& exchange, const CombinedExchange::Totals& totals);

    // migration.cpp
    Resident* create_resident(std::uint32_t array, std::uint64_t index, void* object);
    void request_migration(Resident& resident, int rank);
    void send_migrating_object(Resident* resident);
    void receive_migrating_object(const MessageHeader& header, const char* values);

    // dispatch.cpp
    bool receive_record(int from, const MessageHeader& header, const char* values) override;
    bool dispatch_record(int from, const MessageHeader& header, const char* values);
    void dispatch_control_record(const MessageHeader& header, const char* values);
    void deliver_message(Message* message);
    void invoke_method(Resident& resident, Message* message);

    // run.cpp
    void run();
    void wait_for_space();
    void wait_until_not_full(bool delivers);
    void wait_for_messages(bool is_blocked);
    void deliver_next(Message* message);
    void process_migrations();
    void rethrow_pending_exception();

    // measurements.cpp
    /// Returns the number of the first object of each array, followed by the total number of objects.
    [[nodiscard]] std::vector<std::uint64_t> list_first_objects() const;
    [[nodiscard]] DetailedMeasurements measurements();
    void reset_measurements();

    MPI_Comm comm;
    SchedulerOptions options;
    std::unique_ptr<Transport> transport;
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<Callback> callbacks;
    std::deque<CombinedExchange> exchanges;
    std::uint64_t phases = 0;             // number of phases that have ended
    std::vector<ObjectAddress> arrivals;  // objects that migrated to this rank in this phase
    MessageQueue queue;
    Resident* current = nullptr;  // object whose method is running
    int delivering = 0;           // nesting depth of methods and callbacks
    bool is_running = false;      // run()
    std::deque<ObjectAddress>
        migration_requests;      // migrations to be processed in run() while no method is running
    double blocked_seconds = 0;  // seconds for which methods were blocked in sends
    double idle_since = 0;       // 0: not idle
    HashTable<Traffic> sent_by_main;
    std::map<std::tuple<std::uint64_t, std::uint64_t>, PartialResult>
        partials;  // partial results by group and round
    std::uint64_t sections = 0;
    std::exception_ptr pending_exception;  // exception of a received record, which run() rethrows

    // Calls since the CPU time was last read, with their elapsed seconds.
    std::vector<std::pair<Resident*, double>> calls;
    double last_clock = 0, last_processor = 0;
};

/// Returns the text of the current exception. Must be called inside a catch block.
[[nodiscard]] std::string describe_exception();
/// Interval in seconds between two readings of the CPU time, because a reading takes 0.3 us.
constexpr double assign_interval = 100e-6;
/// Elapsed seconds; CPU seconds of this thread.
[[nodiscard]] double read_wall_clock();
[[nodiscard]] double read_cpu_clock();

}  // namespace topoloom::objects
