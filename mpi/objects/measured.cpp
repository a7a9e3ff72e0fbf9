// SPDX-License-Identifier: BSD-3-Clause
// What objects did, gathered from all ranks.
#include <algorithm>
#include <numeric>

#include "agreement.hpp"
#include "npz.hpp"
#include "state.hpp"

namespace topoloom::objects {

namespace {

/// Of one object, before what it sends.
struct Row {
    std::uint64_t object = 0;
    double seconds = 0;
    std::int64_t packed_bytes = 0;
    std::int32_t wanted = -1;  // the rank that it is to move to
    std::uint32_t moves = 0;
    std::uint64_t peers = 0;
};
struct Peer {
    std::uint64_t object = 0;
    Sent sent;
};

template <typename T>
void append(std::vector<char>& to, const T& value) {
    const std::size_t at = to.size();
    to.resize(at + sizeof value);
    std::memcpy(to.data() + at, &value, sizeof value);
}
template <typename T>
T take_from(const char*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

std::int64_t packed_bytes(const State& state, const Resident& resident) {
    try {
        return static_cast<std::int64_t>(state.arrays[resident.array]->type.size(resident.object));
    } catch (...) {
        throw ObjectsError(state.serialize_threw(resident.array, resident.index));
    }
}

std::vector<char> own_rows(State& state, const std::vector<std::uint64_t>& first) {
    std::vector<char> rows;
    for (std::size_t a = 0; a < state.arrays.size(); ++a) {
        Array& array = *state.arrays[a];
        array.residents.each([&](std::uint64_t index, Resident* resident) {
            std::vector<Peer> peers;
            resident->sent.each([&](std::uint64_t key, const Sent& sent) {
                const std::uint64_t to = Sender::array(key);
                if (sent.messages == 0 || state.arrays[to]->front == nullptr) return;
                peers.push_back({first[to] + Sender::index(key), sent});
            });
            std::ranges::sort(peers, {}, &Peer::object);
            append(rows, Row{first[a] + index, resident->seconds, packed_bytes(state, *resident),
                             resident->wanted, resident->moves, peers.size()});
            for (const Peer& peer : peers) append(rows, peer);
        });
    }
    return rows;
}

}  // namespace

std::vector<std::uint64_t> State::first_objects() const {
    std::vector<std::uint64_t> first{0};
    for (const auto& array : arrays)
        first.push_back(first.back() + (array->front == nullptr ? 0 : array->setting.extents.count()));
    return first;
}

Gathered State::measured() {
    const std::vector<std::uint64_t> first = first_objects();
    std::vector<char> own;
    std::string fault;
    try {
        own = own_rows(*this, first);
    } catch (const ObjectsError& thrown) {
        fault = thrown.what();
    }
    const int ranks = transport->ranks();
    std::vector<int> counts(static_cast<std::size_t>(ranks)), offsets(counts.size());
    const int count = fault.empty() && own.size() < (1u << 30) ? static_cast<int>(own.size()) : -1;
    PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    const std::int64_t bytes = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const bool is_too_much = bytes > 0x7FFFFFFF || (count < 0 && fault.empty());
    if (is_too_much) fault = "what objects did takes more than 2 GB: measure fewer objects, or shorter";
    if (std::ranges::min(counts) < 0 || is_too_much) agree(comm, fault);
    std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
    std::vector<char> all(static_cast<std::size_t>(bytes));
    PMPI_Allgatherv(own.data(), count, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm);

    const std::size_t objects = first.back();
    std::vector<const char*> row_of(objects, nullptr);
    Gathered made;
    made.seconds.resize(objects);
    made.packed_bytes.resize(objects);
    made.rank.resize(objects);
    made.moves.resize(objects);
    made.here.resize(objects);
    for (int rank = 0; rank < ranks; ++rank) {
        const char* at = all.data() + offsets[static_cast<std::size_t>(rank)];
        const char* const end = at + counts[static_cast<std::size_t>(rank)];
        while (at < end) {
            const Row row = take_from<Row>(at);
            row_of[row.object] = at;
            made.seconds[row.object] = row.seconds;
            made.packed_bytes[row.object] = row.packed_bytes;
            made.moves[row.object] = row.moves;
            made.here[row.object] = static_cast<std::uint32_t>(rank);
            made.rank[row.object] = static_cast<std::uint32_t>(row.wanted >= 0 ? row.wanted : rank);
            at += row.peers * sizeof(Peer);
        }
    }
    const auto missing = static_cast<std::size_t>(std::ranges::find(row_of, nullptr) - row_of.begin());
    if (missing < objects) {
        const auto next = std::ranges::upper_bound(first, std::uint64_t{missing});
        const auto array = static_cast<std::uint32_t>(next - first.begin()) - 1;
        agree(comm, name_of(array, missing - first[array]) + " is under way: let run() end first");
    }
    std::vector<std::int64_t> all_bytes(objects), shared_bytes(objects);
    made.first.push_back(0);
    for (std::size_t object = 0; object < objects; ++object) {
        const char* header = row_of[object] - sizeof(Row);
        const Row row = take_from<Row>(header);
        for (std::uint64_t i = 0; i < row.peers; ++i) {
            const auto peer = take_from<Peer>(header);
            made.peers.push_back(static_cast<std::uint32_t>(peer.object));
            made.bytes.push_back(peer.sent.bytes);
            made.messages.push_back(peer.sent.messages);
            all_bytes[object] += peer.sent.bytes;
            all_bytes[peer.object] += peer.sent.bytes;
            shared_bytes[object] += peer.sent.cast_bytes;
            shared_bytes[peer.object] += peer.sent.reduced_bytes;
        }
        made.first.push_back(made.peers.size());
    }
    for (std::size_t object = 0; object < objects; ++object)
        made.is_proxied.push_back(2 * shared_bytes[object] > all_bytes[object] ? 1 : 0);
    return made;
}

void State::forget_measured() {
    const auto forget = [](std::uint64_t, Sent& sent) { sent = {.next = sent.next}; };
    for (const auto& array : arrays) {
        array->residents.each([&](std::uint64_t, Resident* resident) {
            resident->seconds = 0;
            resident->sent.each(forget);  // but not the numbers of messages
        });
    }
}

Measured Runtime::measured() {
    state_->refuse_in_methods("measured()");
    return state_->measured();
}

void Runtime::write_measured(const std::string& path) {
    const Measured all = measured();
    const bool is_written = rank() != 0 || write_graph(path, all);
    agree(state_->comm, is_written ? "" : "cannot write " + path);
}

}  // namespace topoloom::objects
