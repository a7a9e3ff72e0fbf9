// SPDX-License-Identifier: BSD-3-Clause
// The scheduler of a process: whose turn it is, where objects are, and when all is done. Programs include
// topoloom_objects.hpp; what is in namespace topoloom::objects is for that.
#ifndef TOPOLOOM_SCHEDULER_HPP
#define TOPOLOOM_SCHEDULER_HPP

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom_archive.hpp"

#define TOPOLOOM_OBJECTS_API __attribute__((visibility("default")))

namespace topoloom {

/// What objects did since the last rebalance, on every rank the same. Objects are numbered array by array in the order in
/// which these were made, and by index, the last axis fastest.
struct Measured {
    std::vector<double> seconds;             ///< of processor time in methods
    std::vector<std::int64_t> packed_bytes;  ///< what moving it takes
    std::vector<std::uint32_t> rank;         ///< where it is, or moves when run() begins
    /// What object u sends: bytes[k] in messages[k] messages to peers[k], first[u] <= k < first[u + 1].
    std::vector<std::uint64_t> first;
    std::vector<std::uint32_t> peers;
    std::vector<std::int64_t> bytes, messages;
    /// 1: of all bytes that it sends and receives, most go to or come from a rank once, by its multicasts and by
    /// reductions of sections for it.
    std::vector<std::uint8_t> is_proxied;

    [[nodiscard]] std::size_t objects() const { return rank.size(); }
};

/// What rebalancing goes by, beside what is measured: the same on all ranks, but for the node.
struct RebalanceOptions {
    std::string machine;  ///< such as torus:4x4; empty: what ranks share, learned
    int node = -1;  ///< the number of this rank's node in it; -1: nodes in the order of their first ranks
    double seconds_per_byte = 0;  ///< that moving takes
    double periods = 1;           ///< how often the time since the last rebalance comes again; above 0
    double tolerance = 0.05;      ///< of load above the average
};

/// What a rebalance did. Loads in seconds, of the busiest rank.
struct Rebalanced {
    std::int64_t moved = 0;  ///< objects
    std::int64_t moved_bytes = 0;
    double busiest_before = 0, busiest_after = 0, average = 0;
    double hop_bytes_before = 0, hop_bytes_after = 0;  ///< bytes times distance, of all messages
};

/// The same on all ranks, but for the patience.
struct SchedulerOptions {
    /// That a rank holds at most of messages from other ranks and for them; methods, and the main program, wait in sends for
    /// others to take theirs. At least 4096 for each other rank.
    std::int64_t memory_bytes = std::int64_t{1} << 28;
    double patience = 0;        ///< s that a rank waits with nothing to do until it is an error; 0: for ever
    int message_bytes = 16384;  ///< what ranks gather for each other at most before it travels
    bool measures = true;       ///< loads and who sends to whom
};

/// How messages of a many-to-many travel: straight to their ranks, or combined along the axes of a virtual mesh of two axes, a grid
/// of three, or a hypercube.
enum class Combining : std::uint8_t { direct, mesh, grid, hypercube };

struct ManyToManyOptions {
    /// What fences choose from, all ranks the same; until the first one that is taken which is first here.
    std::vector<Combining> among = {Combining::direct, Combining::mesh, Combining::grid,
                                    Combining::hypercube};
    double alpha = 0, beta = 0;  ///< seconds for a message and for a byte; 0: measured between neighbors
};

/// The strategy of a many-to-many, and what it follows from: averages of the phase before the last fence in which it was used.
struct Learned {
    Combining strategy = Combining::direct;
    double degree = 0;  ///< ranks that a rank has messages for
    double bytes = 0;   ///< to each of these, with 48 for each message
};

/// How a multicast reaches the ranks of its section: each from the sender, each from the one before, or along a tree.
enum class Route : std::uint8_t { direct, ring, tree };

namespace objects {

struct Message;   // of an object, in memory
struct Resident;  // an object that is here

/// One method that messages call.
struct Entry {
    std::string_view name;
    void (*invoke)(void* object, Reader& values);
    /// Reduces two values of its one parameter into the first; null where it has not one.
    bool (*combine)(int operation, std::vector<char>& first, const char* second, std::size_t bytes);
};

/// What the scheduler needs of the type of an array.
struct Type {
    std::string_view name;
    void* (*make)();
    void (*destroy)(void* object);
    std::size_t (*size)(void* object);
    void (*pack)(void* object, Writer& writer);
    void (*unpack)(void* object, Reader& reader);
    void (*bind)(void* object, void* array, Resident* resident);
    const Entry* entries;
    std::size_t entry_count;
};

/// Extents of an array of one to three axes; others are 1.
struct Extents {
    std::array<std::uint64_t, 3> size{1, 1, 1};
    int axes = 1;
    [[nodiscard]] std::uint64_t count() const { return size[0] * size[1] * size[2]; }
};

struct ArraySetting {
    Extents extents;
    bool is_ordered = false;
    std::function<int(std::uint64_t)> home;
};

/// Where the result of a reduction goes.
struct Target {
    enum Kind : std::uint32_t { callback, everyone, element } kind = callback;
    std::uint32_t array = 0, entry = 0;  // or the callback's number in `entry`
    std::uint64_t index = 0;
};

/// Who reduces: all of an array, or a section, which has a number of its own.
struct Group {
    std::uint64_t number = 0;
    std::uint64_t members = 0;
    std::uint64_t turn = 0;  // how many reductions it had before
    std::uint64_t here = 0;  // members on this rank; 0: not known
    [[nodiscard]] bool is_section() const { return number >> 63 != 0; }
};

struct State;

class TOPOLOOM_OBJECTS_API Runtime {
   public:
    Runtime(MPI_Comm comm, const SchedulerOptions& options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int ranks() const;
    void run();
    [[nodiscard]] std::int64_t most_held() const;
    [[nodiscard]] Measured measured();
    void write_measured(const std::string& path);
    Rebalanced rebalance(const std::string& policy, const RebalanceOptions& options);

    std::uint32_t add_array(const Type& type, void* array, ArraySetting setting);
    void remove_array(std::uint32_t array);
    void create(std::uint32_t array, std::uint64_t index, void* object);
    [[nodiscard]] void* array(std::uint32_t array) const;
    [[nodiscard]] int home(std::uint32_t array, std::uint64_t index) const;
    [[nodiscard]] const Extents& extents(std::uint32_t array) const;

    /// Room for the values of a message, then to be sent by one of the next three.
    static Message* make_message(std::size_t bytes);
    static char* room(Message* message);
    void send(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index, int priority);
    void broadcast(Message* message, std::uint32_t array, std::uint32_t entry, int priority);
    void multicast(Message* message, std::uint32_t array, std::uint32_t entry,
                   const std::vector<std::uint64_t>& members, Route route);
    std::uint32_t add_many_to_many(std::uint32_t array, const ManyToManyOptions& options);
    [[nodiscard]] Learned learned(std::uint32_t many_to_many) const;
    void insert(std::uint32_t many_to_many, Resident* from, Message* message, std::uint32_t array,
                std::uint32_t entry, std::uint64_t index);
    void be_done(std::uint32_t many_to_many, Resident* from);
    void contribute(const Group& group, int operation, const Target& target, Message* value);

    using Invoke = std::function<void(Reader&)>;
    std::uint32_t add_callback(Invoke invoke,
                               bool (*combine)(int, std::vector<char>&, const char*, std::size_t));

    [[nodiscard]] std::uint64_t index(const Resident* resident) const;
    std::uint64_t next_turn(Resident* resident);
    std::uint64_t next_section();
    void migrate(Resident* resident, int rank);
    [[nodiscard]] void* find(std::uint32_t array, std::uint64_t index) const;
    [[nodiscard]] Resident* resident(std::uint32_t array, std::uint64_t index) const;
    /// Calls `visit` for every object of the array that is here, in the order of indices.
    void each(std::uint32_t array, const std::function<void(void*)>& visit) const;

    /// Raises an error by the communicator's error handler; where that returns, throws ObjectsError.
    [[noreturn]] void fail(const std::string& text) const;

   private:
    std::unique_ptr<State> state_;
};

}  // namespace objects
}  // namespace topoloom

#endif
