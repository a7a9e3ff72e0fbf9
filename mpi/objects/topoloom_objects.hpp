// SPDX-License-Identifier: BSD-3-Clause
// topoloom::Objects<T>: indexed arrays of objects that send each other messages, and move between ranks.
//
//     struct Cell : topoloom::Object<Cell> {
//         void take(int side, std::vector<double> edge);        // called by messages
//         void serialize(auto& archive) { archive(values); }    // moves it
//         using methods = topoloom::Methods<&Cell::take>;
//         std::vector<double> values;
//     };
//     topoloom::Scheduler scheduler(MPI_COMM_WORLD);
//     topoloom::Objects<Cell> cells(scheduler, {8, 8}, [](topoloom::Index at) { return Cell(at); });
//     cells[{0, 3}].send<&Cell::take>(1, edge);
//     scheduler.run();                                          // to the end of all messages, on all ranks
//
// All of it is for one thread at a time. Errors are raised by the error handler that the communicator had when the
// scheduler was made; where that returns, ObjectsError is thrown.
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

#include "topoloom_names.hpp"
#include "topoloom_scheduler.hpp"

namespace topoloom {

/// The result of a reduction comes to this function on every rank.
template <typename T>
struct Callback {
    std::uint32_t number = 0;
};

/// Runs objects of all arrays that are made with it, the lowest priority first and in the order of arrival within one, over a
/// private duplicate of the communicator. Making and destroying it is collective.
class Scheduler {
   public:
    explicit Scheduler(MPI_Comm comm, const SchedulerOptions& options = {}) : runtime_(comm, options) {}

    /// Collective: calls methods until every message is taken, on all ranks, those too that methods send meanwhile.
    void run() { runtime_.run(); }
    [[nodiscard]] int rank() const { return runtime_.rank(); }
    [[nodiscard]] int ranks() const { return runtime_.ranks(); }
    /// The most bytes of messages from other ranks and for them that this rank has held at once. More than memory_bytes only
    /// where methods of ranks waited for each other in a circle, or one message was longer.
    [[nodiscard]] std::int64_t most_held() const { return runtime_.most_held(); }

    /// Collective; between two runs. What objects did since the last rebalance.
    [[nodiscard]] Measured measured() { return runtime_.measured(); }
    /// The same as a communication graph that `topoloom map` reads: an .npz file, written by rank 0.
    void write_measured(const std::string& path) { runtime_.write_measured(path); }
    /// Collective; between two runs. Moves objects where the policy wants them: none, greedy, place, bricks, or a balancer such
    /// as diffusion or alias.
    Rebalanced rebalance(const std::string& policy, const RebalanceOptions& options = {}) {
        return runtime_.rebalance(policy, options);
    }

    /// For results of reductions. Made in the same order on all ranks.
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

/// One array, in messages and in objects that move.
template <typename T>
struct Handle {
    std::uint32_t number = 0;
};

namespace objects {

/// The value that a method's parameter takes, converted only where types differ.
template <typename Parameter, typename Given>
decltype(auto) as_parameter(const Given& given) {
    static_assert(std::is_convertible_v<const Given&, Parameter>,
                  "topoloom: the method takes another type here");
    if constexpr (std::is_same_v<Parameter, Given>)
        return (given);
    else
        return static_cast<Parameter>(given);
}

template <auto method, typename... Given>
Message* message_for(const Given&... given) {
    static_assert(sizeof...(Given) == Signature<decltype(method)>::count,
                  "topoloom: the method takes another number of values");
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        [[maybe_unused]] std::tuple<decltype(as_parameter<std::tuple_element_t<i, ValuesOf<method>>>(
            given))...>
        values(as_parameter<std::tuple_element_t<i, ValuesOf<method>>>(given)...);
        Message* const message = Runtime::make_message(packed_size(std::get<i>(values)...));
        Writer writer(Runtime::room(message));
        writer(std::get<i>(values)...);
        return message;
    }(std::index_sequence_for<Given...>{});
}

template <typename T, auto method>
constexpr std::uint32_t number_of() {
    constexpr std::size_t number = T::methods::template number<method>();
    static_assert(number < T::methods::count, "topoloom: list the method in T::methods");
    return static_cast<std::uint32_t>(number);
}

template <typename T, auto method>
constexpr Entry entry_of() {
    Entry entry{method_name<method>(), nullptr, nullptr};
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
Message* packed(const Value& value) {
    Message* const message = Runtime::make_message(packed_size(value));
    Writer(Runtime::room(message))(value);
    return message;
}

inline std::uint64_t flat(const Runtime& runtime, std::uint32_t array, const Index& at) {
    const auto& size = runtime.extents(array).size;
    const std::array<std::int64_t, 3> given{at.x, at.y, at.z};
    std::uint64_t number = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto one = static_cast<std::uint64_t>(given[axis]);
        if (one >= size[axis]) [[unlikely]]
            return runtime.extents(array).count();  // which no object has
        number = number * size[axis] + one;
    }
    return number;
}

inline Index unflat(const Extents& extents, std::uint64_t number) {
    return {number / (extents.size[1] * extents.size[2]), number / extents.size[2] % extents.size[1],
            number % extents.size[2]};
}

}  // namespace objects

/// A many-to-many between the objects of an array. May be copied, and travel in messages and objects.
template <typename T>
struct ManyToMany {
    std::uint32_t number = 0;
};

/// Some objects of an array, listed. May be copied, and travel in messages and objects; its reductions are between copies of
/// one section.
template <typename T>
struct Section {
    Handle<T> array;
    std::uint64_t number = 0;
    std::uint64_t turn = 0;
    std::vector<std::uint64_t> members;
    void serialize(auto& archive) { archive(array, number, turn, members); }
};

/// What a type derives from whose objects are in an array: `struct Cell : topoloom::Object<Cell>`. These functions are for
/// methods, not for constructors.
template <typename T>
class Object {
   public:
    [[nodiscard]] Index index() const {
        return objects::unflat(runtime().extents(array_->handle().number), runtime().index(resident_));
    }
    [[nodiscard]] Objects<T>& array() const { return *array_; }
    template <typename Other>
    [[nodiscard]] Objects<Other>& objects_of(Handle<Other> handle) const {
        return *static_cast<Objects<Other>*>(runtime().array(handle.number));
    }
    [[nodiscard]] Scheduler& scheduler() const { return array_->scheduler(); }

    /// When the method that a message has called is over; outside run(), when that begins.
    void migrate_to(int rank) { runtime().migrate(resident_, rank); }

    /// Every object of the array calls this in the same order; when all have, the result goes to the callback on every rank.
    template <objects::Operation How, typename Value>
    void contribute(Callback<Value> to, const std::type_identity_t<Value>& value) {
        runtime().contribute(group(), objects::operation_of<How>,
                             {objects::Target::callback, 0, to.number, 0}, objects::packed(value));
    }
    /// The result is sent to that method of all objects of the array.
    template <objects::Operation How, auto method, typename Value>
    void contribute(const Value& value) {
        const objects::Target all{objects::Target::everyone, array_->handle().number,
                                  objects::number_of<T, method>(), 0};
        runtime().contribute(group(), objects::operation_of<How>, all, objects::message_for<method>(value));
    }
    /// Or of one of them.
    template <objects::Operation How, auto method, typename Value>
    void contribute_to(const Index& to, const Value& value) {
        const objects::Target one{objects::Target::element, array_->handle().number,
                                  objects::number_of<T, method>(), array_->checked(to)};
        runtime().contribute(group(), objects::operation_of<How>, one, objects::message_for<method>(value));
    }
    /// Among the objects of a section, each of which has a copy of it.
    template <objects::Operation How, typename Value>
    void contribute(Section<T>& section, Callback<Value> to, const std::type_identity_t<Value>& value) {
        runtime().contribute({section.number, section.members.size(), section.turn++},
                             objects::operation_of<How>, {objects::Target::callback, 0, to.number, 0},
                             objects::packed(value));
    }
    /// Or for one object, of any array: what members on one rank contribute goes to its rank in one message, combined.
    template <objects::Operation How, auto method, typename Other, typename Value>
    void contribute_to(Section<T>& section, Handle<Other> others, const Index& to, const Value& value) {
        const objects::Target one{objects::Target::element, others.number,
                                  objects::number_of<Other, method>(), objects_of(others).checked(to)};
        const auto is_here = [&](std::uint64_t member) {
            return runtime().find(section.array.number, member) != nullptr;
        };
        const auto here = static_cast<std::uint64_t>(std::ranges::count_if(section.members, is_here));
        runtime().contribute({section.number, section.members.size(), section.turn++, here},
                             objects::operation_of<How>, one, objects::message_for<method>(value));
    }

    /// A message for another object of the array that travels when all objects are done, combined with others.
    template <auto method, typename... Given>
    void insert(ManyToMany<T> into, const Index& to, const Given&... given) {
        runtime().insert(into.number, resident_, objects::message_for<method>(given...),
                         array_->handle().number, objects::number_of<T, method>(), array_->checked(to));
    }
    /// Every object calls this once each time that the many-to-many is used, before the fence.
    void done(ManyToMany<T> with) { runtime().be_done(with.number, resident_); }

   private:
    friend class Objects<T>;
    [[nodiscard]] objects::Runtime& runtime() const { return array_->scheduler().runtime(); }
    [[nodiscard]] objects::Group group() const {
        return {array_->handle().number, array_->size(), runtime().next_turn(resident_)};
    }
    Objects<T>* array_ = nullptr;
    objects::Resident* resident_ = nullptr;
};

/// Sends to one object.
template <typename T>
class Element {
   public:
    Element(objects::Runtime& runtime, std::uint32_t array, std::uint64_t index)
        : runtime_(runtime), array_(array), index_(index) {}

    /// The method is called with these values, once, wherever the object is then. It does not wait.
    template <auto method, typename... Given>
    void send(const Given&... given) const {
        send_first<method>(0, given...);
    }
    /// Lower priorities are called first; those of send() have 0.
    template <auto method, typename... Given>
    void send_first(int priority, const Given&... given) const {
        runtime_.send(objects::message_for<method>(given...), array_, objects::number_of<T, method>(), index_,
                      priority);
    }

   private:
    objects::Runtime& runtime_;
    std::uint32_t array_;
    std::uint64_t index_;
};

struct ObjectsOptions {
    /// Objects take what one object sends them by send() in the order in which it was sent, whatever its priorities and
    /// however they move meanwhile.
    bool is_ordered = false;
    /// The rank that makes an object and knows where it is later: the same function on all ranks. None: blocks of indices.
    std::function<int(const Index&)> home;
};

/// The array. Making it and destroying it is collective, in the same order on all ranks, and between two runs.
template <typename T>
class Objects {
    static_assert(std::derived_from<T, Object<T>>, "topoloom: T derives from topoloom::Object<T>");
    static_assert(std::is_default_constructible_v<T>,
                  "topoloom: an object that arrives on another rank is made without arguments first");
    static_assert(objects::SerializesItself<T, objects::Sizer> &&
                      objects::SerializesItself<T, objects::Writer> &&
                      objects::SerializesItself<T, objects::Reader>,
                  "topoloom: objects move between ranks: give T a member function "
                  "`void serialize(auto& archive) { archive(first, second); }` that names its members");

   public:
    /// `make` is called with an index and returns an object, on the home rank.
    template <std::invocable<Index> Make>
    Objects(Scheduler& scheduler, std::initializer_list<std::int64_t> extents, Make make,
            const ObjectsOptions& options = {})
        : scheduler_(scheduler) {
        objects::ArraySetting setting{checked_extents(extents), options.is_ordered, {}};
        if (options.home)
            setting.home = [home = options.home, size = setting.extents](std::uint64_t number) {
                return home(objects::unflat(size, number));
            };
        number_ = runtime().add_array(type(), this, setting);
        try {
            for (std::uint64_t i = 0; i < setting.extents.count(); ++i)
                if (runtime().home(number_, i) == runtime().rank())
                    runtime().create(number_, i, new T(make(objects::unflat(setting.extents, i))));
        } catch (...) {
            runtime().remove_array(number_);
            throw;
        }
    }
    ~Objects() { runtime().remove_array(number_); }
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    [[nodiscard]] Element<T> operator[](const Index& at) { return {runtime(), number_, checked(at)}; }
    /// Calls the method of every object once, wherever it moves meanwhile.
    template <auto method, typename... Given>
    void broadcast(const Given&... given) {
        runtime().broadcast(objects::message_for<method>(given...), number_, objects::number_of<T, method>(),
                            0);
    }
    [[nodiscard]] Section<T> section(const std::vector<Index>& members) {
        Section<T> made{handle(), runtime().next_section(), 0, {}};
        for (const Index& at : members) made.members.push_back(checked(at));
        return made;
    }
    /// To all of a section: one message for each rank that has some of it.
    template <auto method, Route route = Route::tree, typename... Given>
    void multicast(const Section<T>& to, const Given&... given) {
        runtime().multicast(objects::message_for<method>(given...), number_, objects::number_of<T, method>(),
                            to.members, route);
    }

    /// Collective; between two runs, and in the same order on all ranks.
    [[nodiscard]] ManyToMany<T> many_to_many(const ManyToManyOptions& options = {}) {
        return {runtime().add_many_to_many(number_, options)};
    }
    /// What the last fence has found: between two runs the same on all ranks.
    [[nodiscard]] Learned learned(ManyToMany<T> of) const { return runtime().learned(of.number); }

    [[nodiscard]] Handle<T> handle() const { return {number_}; }
    [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }
    [[nodiscard]] std::uint64_t size() const { return runtime().extents(number_).count(); }
    /// The object, if it is on this rank; until it moves.
    [[nodiscard]] T* local(const Index& at) const {
        return static_cast<T*>(runtime().find(number_, checked(at)));
    }
    /// Those of this rank.
    void each(const std::function<void(T&)>& visit) const {
        runtime().each(number_, [&](void* object) { visit(*static_cast<T*>(object)); });
    }
    /// Moves an object of this rank, when the next run() begins.
    void migrate(const Index& at, int rank) {
        runtime().migrate(runtime().resident(number_, checked(at)), rank);
    }
    /// The index as a number.
    [[nodiscard]] std::uint64_t checked(const Index& at) const {
        const std::uint64_t number = objects::flat(runtime(), number_, at);
        if (number >= size()) [[unlikely]]
            refuse(at);
        return number;
    }

   private:
    [[nodiscard]] objects::Runtime& runtime() const { return scheduler_.runtime(); }
    [[nodiscard]] objects::Extents checked_extents(std::initializer_list<std::int64_t> given) const {
        objects::Extents extents;
        extents.axes = static_cast<int>(given.size());
        bool fits = given.size() >= 1 && given.size() <= 3;
        double count = 1;
        for (std::size_t axis = 0; fits && axis < given.size(); ++axis) {
            const std::int64_t one = given.begin()[axis];
            fits = one >= 1 && (count *= static_cast<double>(one)) < 4294967296.0;
            if (fits) extents.size[axis] = static_cast<std::uint64_t>(one);
        }
        if (!fits)
            runtime().fail("an array of " + std::string(objects::type_name<T>()) +
                           " has one to three extents from 1 on, and fewer than 2^32 objects");
        return extents;
    }
    [[noreturn]] void refuse(const Index& at) const {
        const objects::Extents& extents = runtime().extents(number_);
        std::string asked = std::to_string(at.x), have = std::to_string(extents.size[0]);
        if (extents.axes > 1 || at.y != 0 || at.z != 0) asked += ", " + std::to_string(at.y);
        if (extents.axes > 2 || at.z != 0) asked += ", " + std::to_string(at.z);
        for (int axis = 1; axis < extents.axes; ++axis)
            have += " x " + std::to_string(extents.size[static_cast<std::size_t>(axis)]);
        runtime().fail("there is no object (" + asked + ") in the array of " + have + " " +
                       std::string(objects::type_name<T>()));
    }

    static const objects::Type& type() {
        static constexpr auto entries = T::methods::with_all([]<auto... listed>() {
            return std::array<objects::Entry, sizeof...(listed)>{objects::entry_of<T, listed>()...};
        });
        static constexpr objects::Type made{
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
