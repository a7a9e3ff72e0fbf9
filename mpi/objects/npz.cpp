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

/// Appends a number in little-endian byte order.
void append_number(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> 8 * i & 0xFF));
}

std::uint32_t compute_crc32(const std::string& bytes) {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        table[i] = i;
        for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (0xEDB88320u & (0u - (table[i] & 1u)));
    }
    std::uint32_t sum = ~0u;
    for (const char one : bytes) sum = table[(sum ^ static_cast<unsigned char>(one)) & 0xFF] ^ sum >> 8;
    return ~sum;
}

/// Formats an array in .npy format. `type` is a dtype such as <i8, `shape` a tuple such as (3,).
std::string format_npy(const std::string& type, const std::string& shape, const void* values,
                       std::size_t bytes) {
    std::string head = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    while ((10 + head.size() + 1) % 64 != 0) head.push_back(' ');
    head.push_back('\n');
    std::string made("\x93NUMPY\x01\x00", 8);
    append_number(made, head.size(), 2);
    made += head;
    made.append(static_cast<const char*>(values), bytes);
    return made;
}
template <typename T>
std::string format_npy(const std::string& type, const std::vector<T>& values) {
    return format_npy(type, "(" + std::to_string(values.size()) + ",)", values.data(),
                      values.size() * sizeof(T));
}

/// A zip archive of uncompressed members.
class ZipArchive {
   public:
    void add(const std::string& array, const std::string& bytes) {
        const std::string name = array + ".npy";
        std::string common;
        append_number(common, 20, 2);          // required version
        append_number(common, 0, 4);           // flags: none; compression: none
        append_number(common, 0x00210000, 4);  // 1980-01-01
        append_number(common, compute_crc32(bytes), 4);
        append_number(common, bytes.size(), 4);
        append_number(common, bytes.size(), 4);
        append_number(common, name.size(), 2);
        append_number(common, 0, 2);  // length of the extra field
        append_number(directory_, 0x02014b50, 4);
        append_number(directory_, 20, 2);
        directory_ += common;
        append_number(directory_, 0, 2 + 2 + 2 + 4);  // comment, disk and attributes are empty
        append_number(directory_, members_.size(), 4);
        directory_ += name;
        append_number(members_, 0x04034b50, 4);
        members_ += common + name + bytes;
        ++count_;
    }
    [[nodiscard]] std::string finish() {
        std::string end;
        append_number(end, 0x06054b50, 4);
        append_number(end, 0, 4);
        append_number(end, count_, 2);
        append_number(end, count_, 2);
        append_number(end, directory_.size(), 4);
        append_number(end, members_.size(), 4);
        append_number(end, 0, 2);
        return members_ + directory_ + end;
    }

   private:
    std::string members_, directory_;
    std::uint64_t count_ = 0;
};

std::string format_unicode_npy(const std::string& text) {
    std::string wide;
    for (const char letter : text) append_number(wide, static_cast<unsigned char>(letter), 4);
    return format_npy("<U" + std::to_string(text.size()), "()", wide.data(), wide.size());
}

}  // namespace

bool write_graph_file(const std::string& path, const Measurements& measurements) {
    // Messages that objects send to themselves are stored in separate arrays.
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
    archive.add("format", format_npy("|S3", "()", "csr", 3));
    archive.add("shape", format_npy("<i8", std::vector<std::int64_t>{objects, objects}));
    archive.add("indptr", format_npy("<i8", first));
    archive.add("indices", format_npy("<i4", peers));
    archive.add("data", format_npy("<i8", bytes));
    archive.add("messages", format_npy("<i8", messages));
    archive.add("load", format_npy("<f8", measurements.seconds));
    archive.add("self_bytes", format_npy("<i8", self_bytes));
    archive.add("self_messages", format_npy("<i8", self_messages));
    if (!proxied.empty()) archive.add("proxied", format_npy("<i8", proxied));
    archive.add("topoloom_format", format_unicode_npy("topoloom-graph"));
    archive.add("topoloom_version", format_npy("<i8", "()", &version, sizeof version));
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
