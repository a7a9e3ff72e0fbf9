// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Objects<T>: indexed arrays of objects that send each other messages and migrate between ranks.
//
//     struct Cell : topoloom::Object<Cell> {
//         void take(int side, std::vector<double> edge);        // called by messages
//         void serialize(auto& archive) { archive(values); }    // for migration
//         using methods = topoloom::Methods<&Cell::take>;
//         std::vector<double> values;
//     };
//     topoloom::Scheduler scheduler(MPI_COMM_WORLD);
//     topoloom::Objects<Cell> cells(scheduler, {8, 8}, [](topoloom::Index at) { return Cell(at); });
//     cells[{0, 3}].send<&Cell::take>(1, edge);
//     scheduler.run();                                          // returns when all messages are delivered on all ranks
//
// Only one thread at a time may use a scheduler and its objects. Errors invoke the error handler that the communicator
// had when the scheduler was created. If the handler returns, they throw ObjectsError.
#ifndef TOPOLOOM_OBJECTS_HPP
#define TOPOLOOM_OBJECTS_HPP

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom_methods.hpp"
#include "topoloom_scheduler.hpp"

namespace topoloom {

/// A function that receives the result of a reduction on every rank.
template <typename T>
struct Callback {
    std::uint32_t number = 0;
};

/// Runs the objects of its arrays over a private duplicate of the communicator. Messages with lower priority values are
/// delivered first; messages of equal priority, in the order of arrival. Construction and destruction are collective.
class Scheduler {
   public:
    explicit Scheduler(MPI_Comm comm, const SchedulerOptions& options = {}) : runtime_(comm, options) {}

    /// Calls methods until all messages are delivered on all ranks, including messages sent by these methods.
    /// Collective.
    void run() { runtime_.run(); }
    [[nodiscard]] int rank() const { return runtime_.rank(); }
    [[nodiscard]] int ranks() const { return runtime_.ranks(); }
    /// Peak memory, in bytes, of messages on this rank that came from or went to other ranks. Exceeds
    /// memory_bytes only if methods on several ranks waited for each other in a cycle, or if a single message
    /// was longer.
    [[nodiscard]] std::int64_t peak_message_bytes() const { return runtime_.peak_message_bytes(); }

    /// Returns the measurements of all objects since the last rebalance. Collective, between two runs.
    [[nodiscard]] Measurements measurements() { return runtime_.measurements(); }
    /// Writes the measurements on rank 0 as a communication graph (.npz) for `topoloom map`. Collective, between two
    /// runs.
    void write_graph(const std::string& path) { runtime_.write_graph(path); }
    /// Moves objects to new ranks chosen by a policy: none, greedy, few-bytes, repartition, place, bricks, or a
    /// balancer such as diffusion or alias. Fails on all ranks if the policy or an option is invalid. Collective,
    /// between two runs.
    RebalanceResult rebalance(const std::string& policy, const RebalanceOptions& options = {}) {
        return runtime_.rebalance(policy, options);
    }

    /// Registers a function that receives results of reductions. All ranks must register functions in the same order.
    template <typename T>
    [[nodiscard]] Callback<T> callback(std::function<void(const T&)> function) {
        return {runtime_.add_callback(
            [function = std::move(function)](objects::Reader& reader) {
                T value{};
                reader(value);
                function(value);
            },
            &objects::combine_packed<T>)};
    }
    [[nodiscard]] objects::Runtime& runtime() { return runtime_; }

   private:
    objects::Runtime runtime_;
};

template <typename T>
class Objects;

/// Identifies an array. Can be stored in messages and objects.
template <typename T>
struct Handle {
    std::uint32_t number = 0;
};

namespace objects {

/// Converts an argument to the type of a method's parameter if they differ.
template <typename Parameter, typename Argument>
decltype(auto) convert_argument(const Argument& argument) {
    static_assert(std::is_convertible_v<const Argument&, Parameter>,
                  "topoloom: the method takes another type here");
    if constexpr (std::is_same_v<Parameter, Argument>)
        return (argument);
    else
        return static_cast<Parameter>(argument);
}

template <auto method, typename... Arguments>
Message* make_message_for(const Arguments&... arguments) {
    static_assert(sizeof...(Arguments) == Signature<decltype(method)>::count,
                  "topoloom: the method takes another number of values");
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        [[maybe_unused]] std::tuple<decltype(convert_argument<std::tuple_element_t<i, ValuesOf<method>>>(
            arguments))...>
        values(convert_argument<std::tuple_element_t<i, ValuesOf<method>>>(arguments)...);
        Message* const message = Runtime::make_message(packed_size(std::get<i>(values)...));
        Writer writer(Runtime::values(message));
        writer(std::get<i>(values)...);
        return message;
    }(std::index_sequence_for<Arguments...>{});
}

template <typename T, auto method>
constexpr std::uint32_t get_method_number() {
    constexpr std::size_t number = T::methods::template get_number<method>();
    static_assert(number < T::methods::count, "topoloom: list the method in T::methods");
    return static_cast<std::uint32_t>(number);
}

template <typename T, auto method>
constexpr MethodEntry make_entry() {
    MethodEntry entry{method_name<method>(), nullptr, nullptr};
    entry.invoke = [](void* object, Reader& reader) {
        [[maybe_unused]] ValuesOf<method> values{};
        std::apply([&](auto&... value) { reader(value...); }, values);
        std::apply([&](auto&... value) { (static_cast<T*>(object)->*method)(std::move(value)...); }, values);
    };
    if constexpr (std::tuple_size_v<ValuesOf<method>> == 1)
        entry.combine = &combine_packed<std::tuple_element_t<0, ValuesOf<method>>>;
    return entry;
}

template <typename Value>
Message* make_packed_message(const Value& value) {
    Message* const message = Runtime::make_message(packed_size(value));
    Writer(Runtime::values(message))(value);
    return message;
}

/// Returns the row-major number of an index, or the number of objects if the index is out of range.
inline std::uint64_t to_linear_index(const Extents& extents, const Index& at) {
    const std::array<std::int64_t, 3> coordinates{at.x, at.y, at.z};
    std::uint64_t number = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto one = static_cast<std::uint64_t>(coordinates[axis]);
        if (one >= extents.size[axis]) [[unlikely]]
            return extents.count();
        number = number * extents.size[axis] + one;
    }
    return number;
}

inline Index to_index(const Extents& extents, std::uint64_t number) {
    return {number / (extents.size[1] * extents.size[2]), number / extents.size[2] % extents.size[1],
            number % extents.size[2]};
}

}  // namespace objects

/// A many-to-many exchange between the objects of an array. Can be copied, and stored in messages and objects.
template <typename T>
struct ManyToMany {
    std::uint32_t number = 0;
};

/// A list of objects of an array. Can be copied, and stored in messages and objects. In a reduction over a section,
/// each member uses a copy of the same section.
template <typename T>
struct Section {
    Handle<T> array;
    std::uint64_t number = 0;
    std::uint64_t round = 0;
    std::vector<std::uint64_t> members;
    void serialize(auto& archive) { archive(array, number, round, members); }
};

/// Base class of the objects of an array: `struct Cell : topoloom::Object<Cell>`. Its functions can be called in
/// methods, but not in constructors.
template <typename T>
class Object {
   public:
    [[nodiscard]] Index index() const {
        return objects::to_index(runtime().extents(array_->handle().number), runtime().index(resident_));
    }
    [[nodiscard]] Objects<T>& array() const { return *array_; }
    template <typename Other>
    [[nodiscard]] Objects<Other>& objects_of(Handle<Other> handle) const {
        return *static_cast<Objects<Other>*>(runtime().get_array(handle.number));
    }
    [[nodiscard]] Scheduler& scheduler() const { return array_->scheduler(); }

    /// Migrates this object after the current method returns; outside of run(), when run() begins.
    void migrate_to(int rank) { runtime().request_migration(resident_, rank); }

    /// Contributes to a reduction over all objects of the array. All objects must contribute to reductions in the same
    /// order. The result is passed to the callback on every rank.
    template <objects::Operation How, typename Value>
    void contribute(Callback<Value> to, const std::type_identity_t<Value>& value) {
        runtime().contribute(group(), objects::operation_of<How>,
                             {objects::ReductionTarget::callback, 0, to.number, 0},
                             objects::make_packed_message(value));
    }
    /// Contributes to a reduction whose result is sent to a method of all objects of the array.
    template <objects::Operation How, auto method, typename Value>
    void contribute(const Value& value) {
        const objects::ReductionTarget all{objects::ReductionTarget::everyone, array_->handle().number,
                                           objects::get_method_number<T, method>(), 0};
        runtime().contribute(group(), objects::operation_of<How>, all,
                             objects::make_message_for<method>(value));
    }
    /// Contributes to a reduction whose result is sent to a method of one object of the array.
    template <objects::Operation How, auto method, typename Value>
    void contribute_to(const Index& to, const Value& value) {
        const objects::ReductionTarget one{objects::ReductionTarget::element, array_->handle().number,
                                           objects::get_method_number<T, method>(), array_->linear_index(to)};
        runtime().contribute(group(), objects::operation_of<How>, one,
                             objects::make_message_for<method>(value));
    }
    /// Contributes to a reduction over a section. Each member must have a copy of the section.
    template <objects::Operation How, typename Value>
    void contribute(Section<T>& section, Callback<Value> to, const std::type_identity_t<Value>& value) {
        runtime().contribute(
            {section.number, section.members.size(), section.round++}, objects::operation_of<How>,
            {objects::ReductionTarget::callback, 0, to.number, 0}, objects::make_packed_message(value));
    }
    /// Contributes to a reduction over a section whose result is sent to one object of any array. Each rank
    /// sends one combined message.
    template <objects::Operation How, auto method, typename Other, typename Value>
    void contribute_to(Section<T>& section, Handle<Other> others, const Index& to, const Value& value) {
        const objects::ReductionTarget one{objects::ReductionTarget::element, others.number,
                                           objects::get_method_number<Other, method>(),
                                           objects_of(others).linear_index(to)};
        const auto is_here = [&](std::uint64_t member) {
            return runtime().find_object(section.array.number, member) != nullptr;
        };
        const auto here = static_cast<std::uint64_t>(std::ranges::count_if(section.members, is_here));
        runtime().contribute({section.number, section.members.size(), section.round++, here},
                             objects::operation_of<How>, one, objects::make_message_for<method>(value));
    }

    /// Inserts a message for another object of the array. When all objects are done, messages are combined and sent.
    template <auto method, typename... Arguments>
    void insert(ManyToMany<T> exchange, const Index& to, const Arguments&... arguments) {
        runtime().insert(exchange.number, resident_, objects::make_message_for<method>(arguments...),
                         array_->handle().number, objects::get_method_number<T, method>(),
                         array_->linear_index(to));
    }
    /// Ends the insertions of this object. Every object must call this once per use of the exchange, before the fence.
    void done(ManyToMany<T> exchange) { runtime().finish_insertions(exchange.number, resident_); }

   private:
    friend class Objects<T>;
    [[nodiscard]] objects::Runtime& runtime() const { return array_->scheduler().runtime(); }
    [[nodiscard]] objects::ReductionGroup group() const {
        return {array_->handle().number, array_->size(), runtime().take_reduction_number(resident_)};
    }
    Objects<T>* array_ = nullptr;
    objects::Resident* resident_ = nullptr;
};

/// A reference to one object on any rank.
template <typename T>
class Element {
   public:
    Element(objects::Runtime& runtime, std::uint32_t array, std::uint64_t index)
        : runtime_(runtime), array_(array), index_(index) {}

    /// Calls a method of the object asynchronously with these values.
    template <auto method, typename... Arguments>
    void send(const Arguments&... arguments) const {
        send_with_priority<method>(0, arguments...);
    }
    /// Like send(), but with a priority; send() has priority 0. Lower values are delivered first.
    template <auto method, typename... Arguments>
    void send_with_priority(int priority, const Arguments&... arguments) const {
        runtime_.send(objects::make_message_for<method>(arguments...), array_,
                      objects::get_method_number<T, method>(), index_, priority);
    }

   private:
    objects::Runtime& runtime_;
    std::uint32_t array_;
    std::uint64_t index_;
};

struct ObjectsOptions {
    /// Whether the messages that one object sends to another by send() are delivered in order, regardless of
    /// priorities and migrations.
    bool is_ordered = false;
    /// Returns the home rank of an object; this rank creates the object and tracks its location. Must be the
    /// same function on all ranks. Default: blocks of indices.
    std::function<int(const Index&)> home;
};

/// An array of objects. All ranks must construct and destroy their arrays together, between two runs and in
/// the same order.
template <typename T>
class Objects {
    static_assert(std::derived_from<T, Object<T>>, "topoloom: T derives from topoloom::Object<T>");
    static_assert(std::is_default_constructible_v<T>,
                  "topoloom: an object that migrates is default-constructed first");
    static_assert(objects::SerializesItself<T, objects::Sizer> &&
                      objects::SerializesItself<T, objects::Writer> &&
                      objects::SerializesItself<T, objects::Reader>,
                  "topoloom: objects migrate between ranks: give T a member function "
                  "`void serialize(auto& archive) { archive(first, second); }` that names its members");

   public:
    /// `make` returns the object of an index. It is called on the home rank of the object.
    template <std::invocable<Index> Make>
    Objects(Scheduler& scheduler, std::initializer_list<std::int64_t> extents, Make make,
            const ObjectsOptions& options = {})
        : scheduler_(scheduler) {
        objects::ArraySettings settings{validate_extents(extents), options.is_ordered, {}};
        if (options.home)
            settings.home = [home = options.home, size = settings.extents](std::uint64_t number) {
                return home(objects::to_index(size, number));
            };
        number_ = runtime().add_array(get_type(), this, settings);
        try {
            for (std::uint64_t i = 0; i < settings.extents.count(); ++i)
                if (runtime().get_home_rank(number_, i) == runtime().rank())
                    runtime().create_resident(number_, i,
                                              new T(make(objects::to_index(settings.extents, i))));
        } catch (...) {
            runtime().remove_array(number_);
            throw;
        }
    }
    ~Objects() { runtime().remove_array(number_); }
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    [[nodiscard]] Element<T> operator[](const Index& at) { return {runtime(), number_, linear_index(at)}; }
    /// Calls a method of every object exactly once, even if objects migrate meanwhile.
    template <auto method, typename... Arguments>
    void broadcast(const Arguments&... arguments) {
        runtime().broadcast(objects::make_message_for<method>(arguments...), number_,
                            objects::get_method_number<T, method>(), 0);
    }
    [[nodiscard]] Section<T> section(const std::vector<Index>& members) {
        Section<T> made{handle(), runtime().make_section_number(), 0, {}};
        for (const Index& at : members) made.members.push_back(linear_index(at));
        return made;
    }
    /// Calls a method of all objects of a section, by one message per rank with such objects.
    template <auto method, Route route = Route::tree, typename... Arguments>
    void multicast(const Section<T>& to, const Arguments&... arguments) {
        runtime().multicast(objects::make_message_for<method>(arguments...), number_,
                            objects::get_method_number<T, method>(), to.members, route);
    }

    /// Creates a many-to-many exchange. Collective, between two runs, in the same order on all ranks.
    [[nodiscard]] ManyToMany<T> many_to_many(const ManyToManyOptions& options = {}) {
        return {runtime().add_many_to_many(number_, options)};
    }
    /// Returns the strategy chosen at the last fence. Between two runs, it is the same on all ranks.
    [[nodiscard]] ManyToManyChoice choice(ManyToMany<T> exchange) const {
        return runtime().get_choice(exchange.number);
    }

    [[nodiscard]] Handle<T> handle() const { return {number_}; }
    [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }
    [[nodiscard]] std::uint64_t size() const { return runtime().extents(number_).count(); }
    /// Returns the object if it is on this rank, otherwise null. The pointer is valid until the object migrates.
    [[nodiscard]] T* local(const Index& at) const {
        return static_cast<T*>(runtime().find_object(number_, linear_index(at)));
    }
    /// Calls `visit` for the objects on this rank, in the order of indices.
    void for_each_local(const std::function<void(T&)>& visit) const {
        runtime().for_each_local(number_, [&](void* object) { visit(*static_cast<T*>(object)); });
    }
    /// Migrates an object on this rank when the next run() begins.
    void migrate(const Index& at, int rank) {
        runtime().request_migration(runtime().find_resident(number_, linear_index(at)), rank);
    }
    /// Returns the row-major number of an index. Fails if the index is out of range.
    [[nodiscard]] std::uint64_t linear_index(const Index& at) const {
        const std::uint64_t number = objects::to_linear_index(runtime().extents(number_), at);
        if (number >= size()) [[unlikely]]
            fail_out_of_range(at);
        return number;
    }

   private:
    [[nodiscard]] objects::Runtime& runtime() const { return scheduler_.runtime(); }
    [[nodiscard]] objects::Extents validate_extents(std::initializer_list<std::int64_t> extent_list) const {
        objects::Extents extents;
        extents.axes = static_cast<int>(extent_list.size());
        bool fits = extent_list.size() >= 1 && extent_list.size() <= 3;
        double count = 1;
        for (std::size_t axis = 0; fits && axis < extent_list.size(); ++axis) {
            const std::int64_t one = extent_list.begin()[axis];
            fits = one >= 1 && (count *= static_cast<double>(one)) < 4294967296.0;
            if (fits) extents.size[axis] = static_cast<std::uint64_t>(one);
        }
        if (!fits)
            runtime().fail("an array of " + std::string(objects::type_name<T>()) +
                           " needs one to three positive extents, and fewer than 2^32 objects");
        return extents;
    }
    [[noreturn]] void fail_out_of_range(const Index& at) const {
        const objects::Extents& extents = runtime().extents(number_);
        std::string index = std::to_string(at.x), size = std::to_string(extents.size[0]);
        if (extents.axes > 1 || at.y != 0 || at.z != 0) index += ", " + std::to_string(at.y);
        if (extents.axes > 2 || at.z != 0) index += ", " + std::to_string(at.z);
        for (int axis = 1; axis < extents.axes; ++axis)
            size += " x " + std::to_string(extents.size[static_cast<std::size_t>(axis)]);
        runtime().fail("there is no object (" + index + ") in the array of " + size + " " +
                       std::string(objects::type_name<T>()));
    }

    static const objects::ElementType& get_type() {
        static constexpr auto entries = T::methods::apply_to_all([]<auto... listed>() {
            return std::array<objects::MethodEntry, sizeof...(listed)>{objects::make_entry<T, listed>()...};
        });
        static constexpr objects::ElementType made{
            objects::type_name<T>(),
            []() -> void* { return new T(); },
            [](void* object) { delete static_cast<T*>(object); },
            [](void* object) { return objects::packed_size(*static_cast<T*>(object)); },
            [](void* object, objects::Writer& writer) { writer(*static_cast<T*>(object)); },
            [](void* object, objects::Reader& reader) { reader(*static_cast<T*>(object)); },
            [](void* object, void* array, objects::Resident* resident) {
                static_cast<T*>(object)->array_ = static_cast<Objects*>(array);
                static_cast<T*>(object)->resident_ = resident;
            },
            entries.data(),
            entries.size()};
        return made;
    }

    Scheduler& scheduler_;
    std::uint32_t number_ = 0;
};

}  // namespace topoloom

#endif
