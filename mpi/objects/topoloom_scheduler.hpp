// SPDX-License-Identifier: BSD-3-Clause
// Options and results. Programs include topoloom_objects.hpp instead. Namespace topoloom::objects is internal.
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

/// Measurements of all objects since the last rebalance, equal on all ranks. Objects are numbered by array, in the
/// order of creation, then by index, where the last axis varies fastest.
struct Measurements {
    std::vector<double> seconds;             ///< CPU time in methods
    std::vector<std::int64_t> packed_bytes;  ///< bytes of the object when it migrates
    std::vector<std::uint32_t> rank;  ///< rank of the object, or its new rank if it will migrate in run()
    /// Object u sends bytes[k] bytes in messages[k] messages to object peers[k], for first[u] <= k < first[u + 1].
    std::vector<std::uint64_t> first;
    std::vector<std::uint32_t> peers;
    std::vector<std::int64_t> bytes, messages;
    /// 1 if most bytes of the object are in multicasts, or in reductions over sections whose result it
    /// receives: each rank then receives or sends these bytes only once.
    std::vector<std::uint8_t> is_proxied;

    [[nodiscard]] std::size_t objects() const { return rank.size(); }
};

/// Options of rebalance(). All members except `node` must be equal on all ranks.
struct RebalanceOptions {
    std::string machine;  ///< machine, such as torus:4x4; empty: inferred from ranks that share nodes
    int node = -1;        ///< this rank's node in the machine; -1: nodes are numbered by their first ranks
    double seconds_per_byte = 0;  ///< of migration
    double periods = 1;  ///< time until the next rebalance, divided by the time since the last one; positive
    double tolerance = 0.05;  ///< allowed excess of a rank's load over the mean, as a fraction
};

/// Effect of a rebalance. Loads are the seconds of the busiest rank.
struct RebalanceResult {
    std::int64_t moved = 0;  ///< objects
    std::int64_t moved_bytes = 0;
    double busiest_before = 0, busiest_after = 0, average = 0;
    double hop_bytes_before = 0, hop_bytes_after = 0;  ///< sum of bytes times distance over all messages
};

/// Options of a scheduler. All members except `stall_timeout` must be equal on all ranks.
struct SchedulerOptions {
    /// Memory limit per rank for messages from and for other ranks, in bytes; at least 4096 per other rank. At the
    /// limit, sends wait until other ranks have received messages.
    std::int64_t memory_bytes = std::int64_t{1} << 28;
    double stall_timeout = 0;   ///< seconds without work or messages after which an error is raised; 0: never
    int message_bytes = 16384;  ///< maximum bytes of aggregated messages to a rank
    bool measure = true;        ///< whether to measure loads and traffic
};

/// Strategy of a many-to-many: messages are sent directly, or combined along the axes of a virtual mesh (two axes),
/// grid (three axes) or hypercube.
enum class Combining : std::uint8_t { direct, mesh, grid, hypercube };

struct ManyToManyOptions {
    /// Strategies from which fences choose; must be equal on all ranks. The first strategy is used until the
    /// first fence.
    std::vector<Combining> strategies = {Combining::direct, Combining::mesh, Combining::grid,
                                         Combining::hypercube};
    double alpha = 0, beta = 0;  ///< seconds per message and per byte; 0: measured between neighbors
};

/// The strategy of a many-to-many, and the mean values from which it was chosen: those of the last phase with
/// messages.
struct ManyToManyChoice {
    Combining strategy = Combining::direct;
    double degree = 0;  ///< number of destination ranks per rank
    double bytes = 0;   ///< bytes per destination rank, including a header of 48 bytes per message
};

/// Route of a multicast to the ranks of its section: from the sender to each rank, from rank to rank, or along a tree.
enum class Route : std::uint8_t { direct, ring, tree };

namespace objects {

struct Message;
struct Resident;  // an object on this rank, with its scheduling state

/// A method that can be called by messages.
struct MethodEntry {
    std::string_view name;
    void (*invoke)(void* object, Reader& values);
    /// Combines two values of the method's parameter into the first; null unless the method has exactly one parameter.
    bool (*combine)(int operation, std::vector<char>& first, const char* second, std::size_t bytes);
};

/// Operations of the element type of an array.
struct ElementType {
    std::string_view name;
    void* (*make)();
    void (*destroy)(void* object);
    std::size_t (*size)(void* object);
    void (*pack)(void* object, Writer& writer);
    void (*unpack)(void* object, Reader& reader);
    void (*bind)(void* object, void* array, Resident* resident);
    const MethodEntry* entries;
    std::size_t entry_count;
};

/// Extents of an array with one to three axes; the other extents are 1.
struct Extents {
    std::array<std::uint64_t, 3> size{1, 1, 1};
    int axes = 1;
    [[nodiscard]] std::uint64_t count() const { return size[0] * size[1] * size[2]; }
};

struct ArraySettings {
    Extents extents;
    bool is_ordered = false;
    std::function<int(std::uint64_t)> home;
};

/// Destination of the result of a reduction.
struct ReductionTarget {
    enum TargetKind : std::uint32_t { callback, everyone, element } kind = callback;
    std::uint32_t array = 0, entry = 0;  // for callbacks, `entry` is the callback's number
    std::uint64_t index = 0;
};

/// Participants of a reduction: an array or a section. Sections have separate numbers.
struct ReductionGroup {
    std::uint64_t number = 0;
    std::uint64_t members = 0;
    std::uint64_t round = 0;  // number of earlier reductions of this group
    std::uint64_t here = 0;   // number of members on this rank; 0: unknown
    [[nodiscard]] bool is_section() const { return number >> 63 != 0; }
};

struct SchedulerState;

class TOPOLOOM_OBJECTS_API Runtime {
   public:
    Runtime(MPI_Comm comm, const SchedulerOptions& options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    [[nodiscard]] int rank() const;
    [[nodiscard]] int ranks() const;
    void run();
    [[nodiscard]] std::int64_t peak_message_bytes() const;
    [[nodiscard]] Measurements measurements();
    void write_graph(const std::string& path);
    RebalanceResult rebalance(const std::string& policy, const RebalanceOptions& options);

    std::uint32_t add_array(const ElementType& type, void* array, ArraySettings settings);
    void remove_array(std::uint32_t array);
    void create_resident(std::uint32_t array, std::uint64_t index, void* object);
    [[nodiscard]] void* get_array(std::uint32_t array) const;
    [[nodiscard]] int get_home_rank(std::uint32_t array, std::uint64_t index) const;
    [[nodiscard]] const Extents& extents(std::uint32_t array) const;

    /// Allocates a message with space for its values. The functions below send and free it.
    static Message* make_message(std::size_t bytes);
    static char* values(Message* message);
    void send(Message* message, std::uint32_t array, std::uint32_t entry, std::uint64_t index, int priority);
    void broadcast(Message* message, std::uint32_t array, std::uint32_t entry, int priority);
    void multicast(Message* message, std::uint32_t array, std::uint32_t entry,
                   const std::vector<std::uint64_t>& members, Route route);
    std::uint32_t add_many_to_many(std::uint32_t array, const ManyToManyOptions& options);
    [[nodiscard]] ManyToManyChoice get_choice(std::uint32_t many_to_many) const;
    void insert(std::uint32_t many_to_many, Resident* from, Message* message, std::uint32_t array,
                std::uint32_t entry, std::uint64_t index);
    void finish_insertions(std::uint32_t many_to_many, Resident* from);
    void contribute(const ReductionGroup& group, int operation, const ReductionTarget& target,
                    Message* value);

    using Invoke = std::function<void(Reader&)>;
    std::uint32_t add_callback(Invoke invoke,
                               bool (*combine)(int, std::vector<char>&, const char*, std::size_t));

    [[nodiscard]] std::uint64_t index(const Resident* resident) const;
    std::uint64_t take_reduction_number(Resident* resident);
    std::uint64_t make_section_number();
    void request_migration(Resident* resident, int rank);
    [[nodiscard]] void* find_object(std::uint32_t array, std::uint64_t index) const;
    [[nodiscard]] Resident* find_resident(std::uint32_t array, std::uint64_t index) const;
    /// Calls `visit` for the objects of an array on this rank, in the order of indices.
    void for_each_local(std::uint32_t array, const std::function<void(void*)>& visit) const;

    /// Raises an error through the communicator's error handler. If the handler returns, throws ObjectsError.
    [[noreturn]] void fail(const std::string& text) const;

   private:
    std::unique_ptr<SchedulerState> state_;
};

}  // namespace objects
}  // namespace topoloom

#endif
