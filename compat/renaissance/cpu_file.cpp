/* cpu_file.cpp - .tsr files: 64 bytes that describe a tensor, then its elements, row-major. All
 * numbers are little-endian.
 *
 *     0   "TSR!"          16  dtype             40  elements
 *     4   version, 1      20  rank              48  0
 *     8   header, 64      24  N, C, H, W;       56  0
 *    12   0                   1 where missing
 */
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "bridge.hpp"

namespace tr {

namespace {

enum { HEADER = 64, VERSION = 1 };

const char magic[] = {'T', 'S', 'R', '!'};

void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(value >> (8 * i));
}

uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | at[i];
    return value;
}

int32_t get_i32(const unsigned char *at) { return static_cast<int32_t>(static_cast<uint32_t>(get(at, 4))); }

void describe(unsigned char header[HEADER], const Tensor &t)
{
    std::memset(header, 0, HEADER);
    std::memcpy(header, magic, sizeof magic);
    put(header + 4, VERSION, 4);
    put(header + 8, HEADER, 4);
    put(header + 16, static_cast<uint64_t>(t.dtype()), 4);
    put(header + 20, static_cast<uint64_t>(t.ndim()), 4);
    for (int i = 0; i < 4; ++i) {
        const int dim = i - (4 - t.ndim());
        put(header + 24 + 4 * i, static_cast<uint64_t>(dim < 0 ? 1 : t.dim_size(dim)), 4);
    }
    put(header + 40, static_cast<uint64_t>(t.numel()), 8);
}

/* The folder that programs are promised is made when something is first put there. */
void make_workspace(const std::string &filename)
{
    const std::filesystem::path folder = std::filesystem::path(filename).parent_path();
    std::error_code ignored;
    if (folder.filename() == "workspace") std::filesystem::create_directories(folder, ignored);
}

/* Ends with its writer, and with what was written unless that was finished. */
struct Writing {
    tsr_writer *writer = nullptr;
    ~Writing() { tsr_writer_cancel(&writer); }
};

/* The header and the elements, one after the other. */
std::vector<unsigned char> bytes_of(const Tensor &t)
{
    unsigned char header[HEADER];
    const auto *elements = static_cast<const unsigned char *>(t.data_ptr());
    describe(header, t);
    std::vector<unsigned char> bytes;
    bytes.reserve(HEADER + t.memory_size());
    bytes.insert(bytes.end(), header, header + HEADER);
    bytes.insert(bytes.end(), elements, elements + t.memory_size());
    return bytes;
}

/* The file takes its place when it is whole: until then an older one stays as it was. */
void write_tensor(const Tensor &t, const std::string &filename)
{
    if (t.is_empty()) throw TRException("Cannot export empty tensor (no allocated storage)");
    make_workspace(filename);
    Writing file;
    tsr_writer_opts raw = {};
    raw.format = "raw";
    if (tsr_writer_create(&file.writer, filename.c_str(), &raw) != TSR_OK)
        throw TRException("Failed to open file for writing: " + filename + " (" + tsr_last_error() + ")");
    std::vector<unsigned char> bytes = bytes_of(t);
    const int64_t size = static_cast<int64_t>(bytes.size());
    tsr_tensor all;
    tsr_desc desc;
    if (tsr_desc_init(&desc, TSR_U8, 1, &size, nullptr) != TSR_OK ||
        tsr_place(&all, bytes.data(), &desc) != TSR_OK ||
        tsr_writer_add(file.writer, nullptr, &all, nullptr) != TSR_OK ||
        tsr_writer_finish(&file.writer) != TSR_OK)
        throw TRException("Failed to write tensor data to " + filename + " (" + tsr_last_error() + ")");
}

/* What the header says is believed only when all of it fits together. */
struct Description {
    Shape shape;
    DType dtype;
};

void check_numbers(const unsigned char *header)
{
    const int32_t version = get_i32(header + 4), dtype = get_i32(header + 16), ndim = get_i32(header + 20);
    if (std::memcmp(header, magic, sizeof magic) != 0)
        throw TRException("Invalid TSR file magic number. Expected 'TSR!', got: " +
                          std::string(reinterpret_cast<const char *>(header), 4));
    if (version != VERSION)
        throw TRException("Unsupported TSR format version: " + std::to_string(version) +
                          ". Supported version: 1");
    if (face::dtype_of(static_cast<DType>(dtype)) == TSR_DTYPE_INVALID)
        throw TRException("Unsupported dtype value: " + std::to_string(dtype) +
                          ". Supported values: 1 (FP32), 2 (INT8), 3 (INT32)");
    if (ndim < 0 || ndim > 4)
        throw TRException("Invalid ndim value: " + std::to_string(ndim) + ". Must be between 0 and 4");
}

Description read_description(const unsigned char *header)
{
    check_numbers(header);
    const int ndim = get_i32(header + 20);
    const int64_t claimed = static_cast<int64_t>(get(header + 40, 8));
    int32_t dims[4];
    for (int i = 0; i < 4; ++i) {
        dims[i] = get_i32(header + 24 + 4 * i);
        if (dims[i] <= 0 || (i < 4 - ndim && dims[i] != 1))
            throw TRException("Invalid dimension value at index " + std::to_string(i) + ": " +
                              std::to_string(dims[i]));
    }
    const Description d = {face::shape_of(dims + 4 - ndim, ndim), static_cast<DType>(get_i32(header + 16))};
    if (claimed != d.shape.numel())
        throw TRException("Element count mismatch. Header claims " + std::to_string(claimed) +
                          " but dimensions suggest " + std::to_string(d.shape.numel()));
    return d;
}

Tensor read_tensor(const CpuBackend &backend, const std::string &filename)
{
    unsigned char header[HEADER];
    std::error_code ignored;
    if (std::filesystem::exists(filename, ignored) && !std::filesystem::is_regular_file(filename, ignored))
        throw TRException("Failed to open file for reading: " + filename + " is no regular file");
    std::ifstream file(filename, std::ios::binary);
    if (!file.is_open()) throw TRException("Failed to open file for reading: " + filename);
    file.read(reinterpret_cast<char *>(header), HEADER);
    if (file.gcount() != HEADER) throw TRException("File too small to contain valid TSR header: " + filename);

    const Description d = read_description(header);
    const uint64_t expected = HEADER + static_cast<uint64_t>(d.shape.numel()) * dtype_size(d.dtype);
    file.seekg(0, std::ios::end);
    const uint64_t actual = static_cast<uint64_t>(file.tellg());
    if (actual != expected)
        throw TRException("File size mismatch. Expected " + std::to_string(expected) + " bytes, got " +
                          std::to_string(actual) + " bytes");
    file.seekg(HEADER);
    Tensor t = backend.empty(d.shape, d.dtype);
    file.read(static_cast<char *>(t.data_ptr()), static_cast<std::streamsize>(t.memory_size()));
    if (file.gcount() != static_cast<std::streamsize>(t.memory_size()))
        throw TRException("Failed to read complete tensor data. Expected " + std::to_string(t.memory_size()) +
                          " bytes, got " + std::to_string(file.gcount()) + " bytes");
    return t;
}

} // namespace

void CpuBackend::export_tensor(const Tensor &tensor, const std::string &filename) const
{
    try {
        face::Op{*this, "export_tensor"}.check_device(tensor);
        write_tensor(tensor, filename);
        Logger::get_instance().info("Tensor exported successfully to ", filename);
    } catch (const std::exception &e) {
        throw TRException("Tensor export failed: " + std::string(e.what()));
    }
}

Tensor CpuBackend::import_tensor(const std::string &filename) const
{
    try {
        Tensor t = read_tensor(*this, filename);
        Logger::get_instance().info("Tensor imported successfully from ", filename);
        return t;
    } catch (const std::exception &e) {
        throw TRException("Tensor import failed: " + std::string(e.what()));
    }
}

} // namespace tr
