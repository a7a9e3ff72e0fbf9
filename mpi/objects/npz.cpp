// SPDX-License-Identifier: BSD-3-Clause
#include "npz.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace topoloom::objects {

namespace {

/// Appends a little-endian number.
void put(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> 8 * i & 0xFF));
}

std::uint32_t checksum(const std::string& bytes) {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        table[i] = i;
        for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (0xEDB88320u & (0u - (table[i] & 1u)));
    }
    std::uint32_t sum = ~0u;
    for (const char one : bytes) sum = table[(sum ^ static_cast<unsigned char>(one)) & 0xFF] ^ sum >> 8;
    return ~sum;
}

/// Formats an array as .npy; `type` such as <i8, `shape` such as (3,).
std::string npy(const std::string& type, const std::string& shape, const void* values, std::size_t bytes) {
    std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    while ((10 + head.size() + 1) % 64 != 0) head.push_back(' ');
    head.push_back('\n');
    std::string made("\x93NUMPY\x01\x00", 8);
    put(made, head.size(), 2);
    made += head;
    made.append(static_cast<const char*>(values), bytes);
    return made;
}
template <typename T>
std::string npy(const std::string& type, const std::vector<T>& values) {
    return npy(type, "(" + std::to_string(values.size()) + ",)", values.data(), values.size() * sizeof(T));
}

/// A zip archive with uncompressed members.
class ZipArchive {
   public:
    void add(const std::string& array, const std::string& bytes) {
        const std::string name = array + ".npy";
        std::string common;
        put(common, 20, 2);          // required version
        put(common, 0, 4);           // no flags, uncompressed
        put(common, 0x00210000, 4);  // 1980-01-01
        put(common, checksum(bytes), 4);
        put(common, bytes.size(), 4);
        put(common, bytes.size(), 4);
        put(common, name.size(), 2);
        put(common, 0, 2);  // no extra field
        put(directory_, 0x02014b50, 4);
        put(directory_, 20, 2);
        directory_ += common;
        put(directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
        put(directory_, members_.size(), 4);
        directory_ += name;
        put(members_, 0x04034b50, 4);
        members_ += common + name + bytes;
        ++count_;
    }
    [[nodiscard]] std::string finish() {
        std::string end;
        put(end, 0x06054b50, 4);
        put(end, 0, 4);
        put(end, count_, 2);
        put(end, count_, 2);
        put(end, directory_.size(), 4);
        put(end, members_.size(), 4);
        put(end, 0, 2);
        return members_ + directory_ + end;
    }

   private:
    std::string members_, directory_;
    std::uint64_t count_ = 0;
};

std::string unicode(const std::string& text) {
    std::string wide;
    for (const char letter : text) put(wide, static_cast<unsigned char>(letter), 4);
    return npy("<U" + std::to_string(text.size()), "()", wide.data(), wide.size());
}

}  // namespace

bool write_graph_file(const std::string& path, const Measurements& measurements) {
    // Messages of objects to themselves are separate arrays.
    std::vector<std::int64_t> first{0}, bytes, messages, self_bytes(measurements.objects()),
        self_messages(measurements.objects());
    std::vector<std::int32_t> peers;
    for (std::size_t object = 0; object < measurements.objects(); ++object) {
        for (std::uint64_t i = measurements.first[object]; i < measurements.first[object + 1]; ++i) {
            if (measurements.peers[i] == object) {
                self_bytes[object] = measurements.bytes[i];
                self_messages[object] = measurements.messages[i];
                continue;
            }
            peers.push_back(static_cast<std::int32_t>(measurements.peers[i]));
            bytes.push_back(measurements.bytes[i]);
            messages.push_back(measurements.messages[i]);
        }
        first.push_back(static_cast<std::int64_t>(peers.size()));
    }
    std::vector<std::int64_t> proxied;
    for (std::size_t object = 0; object < measurements.objects(); ++object)
        if (measurements.is_proxied[object] != 0) proxied.push_back(static_cast<std::int64_t>(object));
    const auto objects = static_cast<std::int64_t>(measurements.objects());
    const std::int64_t version = 1;
    ZipArchive archive;
    archive.add("format", npy("|S3", "()", "csr", 3));
    archive.add("shape", npy("<i8", std::vector<std::int64_t>{objects, objects}));
    archive.add("indptr", npy("<i8", first));
    archive.add("indices", npy("<i4", peers));
    archive.add("data", npy("<i8", bytes));
    archive.add("messages", npy("<i8", messages));
    archive.add("load", npy("<f8", measurements.seconds));
    archive.add("self_bytes", npy("<i8", self_bytes));
    archive.add("self_messages", npy("<i8", self_messages));
    if (!proxied.empty()) archive.add("proxied", npy("<i8", proxied));
    archive.add("topoloom_format", unicode("topoloom-graph"));
    archive.add("topoloom_version", npy("<i8", "()", &version, sizeof version));
    const std::string file = archive.finish();
    if (file.size() > 0xFFFFFFFF) return false;

    const std::string partial = path + ".part";
    std::FILE* const to = std::fopen(partial.c_str(), "wb");
    if (to == nullptr) return false;
    const bool is_written = std::fwrite(file.data(), 1, file.size(), to) == file.size();
    const bool is_closed = std::fclose(to) == 0;
    if (is_written && is_closed && std::rename(partial.c_str(), path.c_str()) == 0) return true;
    std::remove(partial.c_str());
    return false;
}

}  // namespace topoloom::objects
