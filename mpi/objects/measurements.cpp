// SPDX-License-Identifier: BSD-3-Clause
// Gathers the measurements of all objects on all ranks.
#include <algorithm>
#include <numeric>

#include "collective_check.hpp"
#include "npz.hpp"
#include "state.hpp"

namespace topoloom::objects {

namespace {

/// Measurements of one object, followed by the records of its peers.
struct ObjectRecord {
    std::uint64_t object = 0;
    double seconds = 0;
    std::int64_t packed_bytes = 0;
    std::int32_t target_rank = -1;
    std::uint32_t moves = 0;
    std::uint64_t peers = 0;
};
struct PeerRecord {
    std::uint64_t object = 0;
    Traffic sent;
};

/// Records of all ranks.
struct GatheredRecords {
    std::vector<char> bytes;
    std::vector<int> counts, offsets;  // by rank
};

template <typename T>
void append(std::vector<char>& to, const T& value) {
    const std::size_t at = to.size();
    to.resize(at + sizeof value);
    std::memcpy(to.data() + at, &value, sizeof value);
}
template <typename T>
T read(const char*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

std::int64_t get_packed_bytes(const SchedulerState& state, const Resident& resident) {
    try {
        return static_cast<std::int64_t>(state.arrays[resident.array]->type.size(resident.object));
    } catch (...) {
        throw ObjectsError(state.describe_serialize_error(resident.array, resident.index));
    }
}

/// Packs the records of the objects on this rank. `first` is the number of the first object of each array.
std::vector<char> pack_records(SchedulerState& state, const std::vector<std::uint64_t>& first) {
    std::vector<char> records;
    for (std::size_t a = 0; a < state.arrays.size(); ++a) {
        Array& array = *state.arrays[a];
        array.residents.for_each([&](std::uint64_t index, Resident* resident) {
            std::vector<PeerRecord> peers;
            resident->sent.for_each([&](std::uint64_t key, const Traffic& sent) {
                const std::uint64_t to = ObjectKey::get_array(key);
                if (sent.messages == 0 || state.arrays[to]->user_array == nullptr) return;
                peers.push_back({first[to] + ObjectKey::get_index(key), sent});
            });
            std::ranges::sort(peers, {}, &PeerRecord::object);
            append(records,
                   ObjectRecord{first[a] + index, resident->seconds, get_packed_bytes(state, *resident),
                                resident->target_rank, resident->moves, peers.size()});
            for (const PeerRecord& peer : peers) append(records, peer);
        });
    }
    return records;
}

GatheredRecords gather_records(SchedulerState& state, const std::vector<std::uint64_t>& first) {
    std::vector<char> own;
    std::string fault;
    try {
        own = pack_records(state, first);
    } catch (const ObjectsError& thrown) {
        fault = thrown.what();
    }
    GatheredRecords all;
    all.counts.resize(static_cast<std::size_t>(state.transport->ranks()));
    all.offsets.resize(all.counts.size());
    const int count = fault.empty() && own.size() < (1u << 30) ? static_cast<int>(own.size()) : -1;
    PMPI_Allgather(&count, 1, MPI_INT, all.counts.data(), 1, MPI_INT, state.comm);
    const std::int64_t bytes = std::accumulate(all.counts.begin(), all.counts.end(), std::int64_t{0});
    const bool is_too_large = bytes > 0x7FFFFFFF || (count < 0 && fault.empty());
    if (is_too_large) fault = "measurements exceed 2 GB: measure fewer objects, or for a shorter time";
    if (std::ranges::min(all.counts) < 0 || is_too_large) check_on_all_ranks(state.comm, fault);
    std::partial_sum(all.counts.begin(), all.counts.end() - 1, all.offsets.begin() + 1);
    all.bytes.resize(static_cast<std::size_t>(bytes));
    PMPI_Allgatherv(own.data(), count, MPI_BYTE, all.bytes.data(), all.counts.data(), all.offsets.data(),
                    MPI_BYTE, state.comm);
    return all;
}

/// Adds the traffic of all objects. `peers_of` points to the peer records of each object, which follow the object's own
/// record.
void add_traffic(Measurements& measurements, const std::vector<const char*>& peers_of) {
    std::vector<std::int64_t> all_bytes(peers_of.size()), shared_bytes(peers_of.size());
    measurements.first.push_back(0);
    for (std::size_t object = 0; object < peers_of.size(); ++object) {
        const char* at = peers_of[object] - sizeof(ObjectRecord);
        const auto record = read<ObjectRecord>(at);
        for (std::uint64_t i = 0; i < record.peers; ++i) {
            const auto peer = read<PeerRecord>(at);
            measurements.peers.push_back(static_cast<std::uint32_t>(peer.object));
            measurements.bytes.push_back(peer.sent.bytes);
            measurements.messages.push_back(peer.sent.messages);
            all_bytes[object] += peer.sent.bytes;
            all_bytes[peer.object] += peer.sent.bytes;
            shared_bytes[object] += peer.sent.multicast_bytes;
            shared_bytes[peer.object] += peer.sent.reduced_bytes;
        }
        measurements.first.push_back(measurements.peers.size());
    }
    for (std::size_t object = 0; object < peers_of.size(); ++object)
        measurements.is_proxied.push_back(2 * shared_bytes[object] > all_bytes[object] ? 1 : 0);
}

}  // namespace

std::vector<std::uint64_t> SchedulerState::list_first_objects() const {
    std::vector<std::uint64_t> first{0};
    for (const auto& array : arrays)
        first.push_back(first.back() + (array->user_array == nullptr ? 0 : array->settings.extents.count()));
    return first;
}

DetailedMeasurements SchedulerState::measurements() {
    const std::vector<std::uint64_t> first = list_first_objects();
    const GatheredRecords all = gather_records(*this, first);
    const std::size_t objects = first.back();
    std::vector<const char*> peers_of(objects, nullptr);
    DetailedMeasurements made;
    made.seconds.resize(objects);
    made.packed_bytes.resize(objects);
    made.rank.resize(objects);
    made.moves.resize(objects);
    made.current_rank.resize(objects);
    for (std::size_t rank = 0; rank < all.counts.size(); ++rank) {
        const char* at = all.bytes.data() + all.offsets[rank];
        const char* const end = at + all.counts[rank];
        while (at < end) {
            const auto record = read<ObjectRecord>(at);
            const auto here = static_cast<std::uint32_t>(rank);
            peers_of[record.object] = at;
            made.seconds[record.object] = record.seconds;
            made.packed_bytes[record.object] = record.packed_bytes;
            made.moves[record.object] = record.moves;
            made.current_rank[record.object] = here;
            made.rank[record.object] =
                record.target_rank >= 0 ? static_cast<std::uint32_t>(record.target_rank) : here;
            at += record.peers * sizeof(PeerRecord);
        }
    }
    const auto missing = static_cast<std::size_t>(std::ranges::find(peers_of, nullptr) - peers_of.begin());
    if (missing < objects) {
        const auto next = std::ranges::upper_bound(first, std::uint64_t{missing});
        const auto array = static_cast<std::uint32_t>(next - first.begin()) - 1;
        check_on_all_ranks(
            comm, describe_object(array, missing - first[array]) + " is in transit: let run() finish first");
    }
    add_traffic(made, peers_of);
    return made;
}

void SchedulerState::reset_measurements() {
    // The sequence numbers of messages must not be reset.
    const auto reset = [](std::uint64_t, Traffic& sent) { sent = {.next_sequence = sent.next_sequence}; };
    for (const auto& array : arrays) {
        array->residents.for_each([&](std::uint64_t, Resident* resident) {
            resident->seconds = 0;
            resident->sent.for_each(reset);
        });
    }
}

Measurements Runtime::measurements() {
    state_->fail_in_method("measurements()");
    return state_->measurements();
}

void Runtime::write_graph(const std::string& path) {
    const Measurements all = measurements();
    const bool is_written = rank() != 0 || write_graph_file(path, all);
    check_on_all_ranks(state_->comm, is_written ? "" : "cannot write " + path);
}

}  // namespace topoloom::objects
