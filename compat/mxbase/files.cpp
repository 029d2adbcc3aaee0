/* files.cpp - FileUtils. */
#include "MxBase/Utils/FileUtils.h"

#include <dirent.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "MxBase/Utils/StringUtils.h"
#include "face.hpp"

namespace MxBase {

namespace {

const int MOST_FILES = 1000;

bool refuse(APP_ERROR code, const char *words)
{
    mxface::fail(code, words);
    return false;
}

/* Without "." and "..", links not looked at. */
std::string without_dots(const std::string &path)
{
    std::vector<std::string> parts;
    std::istringstream in(path);
    for (std::string part; std::getline(in, part, '/');) {
        if (part.empty() || part == ".") continue;
        if (part != "..") parts.push_back(part);
        else if (!parts.empty()) parts.pop_back();
    }
    std::string out;
    for (const std::string &part : parts) out += "/" + part;
    return out.empty() ? "/" : out;
}

/* "" if there is nothing there. */
std::string real_path(const std::string &path)
{
    const std::unique_ptr<char, void (*)(void *)> real(realpath(path.c_str(), nullptr), std::free);
    return real ? real.get() : "";
}

enum Entry { FILE_ENTRY, LINK_ENTRY, FOLDER_ENTRY, OTHER_ENTRY };

Entry kind_of(const std::string &path)
{
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) return OTHER_ENTRY;
    if (S_ISREG(info.st_mode)) return FILE_ENTRY;
    if (S_ISLNK(info.st_mode)) return LINK_ENTRY;
    return S_ISDIR(info.st_mode) ? FOLDER_ENTRY : OTHER_ENTRY;
}

struct Listing {
    std::vector<std::string> &files;
    bool isFullPath;
    bool recursion;
    int count;
};

/* False beyond the limits, or if a folder cannot be opened. */
bool list(Listing &out, const std::string &folder, int depth)
{
    if (depth >= MAX_DIR_DEPTH) return refuse(APP_ERR_COMM_FAILURE, "ListFiles: the folders are too deep.");
    const std::unique_ptr<DIR, int (*)(DIR *)> dir(opendir(folder.c_str()), closedir);
    if (!dir) return refuse(APP_ERR_COMM_OPEN_FAIL, "ListFiles: a folder cannot be opened.");
    while (const dirent *entry = readdir(dir.get())) {
        const std::string name = entry->d_name, path = folder + "/" + name;
        if (name == "." || name == "..") continue;
        const Entry kind = kind_of(path);
        if (kind == FOLDER_ENTRY && out.recursion && !list(out, path, depth + 1)) return false;
        if (kind != FILE_ENTRY && (kind != LINK_ENTRY || out.recursion)) continue;
        if (++out.count > MOST_FILES) return refuse(APP_ERR_COMM_FAILURE, "ListFiles: too many files.");
        out.files.push_back(out.isFullPath ? path : name);
    }
    return true;
}

bool is_kind(const std::string &path, mode_t kind)
{
    struct stat info;
    return stat(path.c_str(), &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

bool set_mode(const std::string &path, mode_t mode)
{
    return chmod(path.c_str(), mode) == 0 || refuse(APP_ERR_COMM_FAILURE, "The mode cannot be changed.");
}

} // namespace

bool FileUtils::CreateDirectories(const std::string &filePath, const mode_t &mode)
{
    if (filePath.empty() || filePath.size() > PATH_MAX) return false;
    std::string made = filePath[0] == '/' ? "/" : "";
    for (const std::string &part : StringUtils::Split(filePath, '/')) {
        if (part.empty() || part == ".") continue;
        made += part + "/";
        if (CheckDirectoryExists(made)) continue;
        if (mkdir(made.c_str(), mode) != 0 && !CheckDirectoryExists(made))
            return refuse(APP_ERR_COMM_FAILURE, "CreateDirectories: a folder cannot be made.");
        if (chmod(made.c_str(), mode) != 0) return false; /* whatever the mask */
    }
    return CheckDirectoryExists(filePath);
}

bool FileUtils::CheckDirectoryExists(const std::string &dirPath) { return is_kind(dirPath, S_IFDIR); }
bool FileUtils::CheckFileExists(const std::string &filePath) { return is_kind(filePath, S_IFREG); }

bool FileUtils::ModifyFilePermission(const std::string &filePath, const mode_t &mode)
{
    return CheckFileExists(filePath) && set_mode(filePath, mode);
}

bool FileUtils::ModifyDirPermission(const std::string &dirPath, const mode_t &mode)
{
    return CheckDirectoryExists(dirPath) && set_mode(dirPath, mode);
}

bool FileUtils::RemoveDirectories(const std::string &dirPath)
{
    return CheckDirectoryExists(dirPath) && ConstrainOwner(dirPath) && std::remove(dirPath.c_str()) == 0;
}

bool FileUtils::RemoveFile(const std::string &filePath)
{
    std::string path;
    return RegularFilePath(filePath, path) && IsFileValid(path, false) && std::remove(path.c_str()) == 0;
}

bool FileUtils::WriteFileContent(const std::string &filePath, const std::string &content, const mode_t &mode)
{
    if (CheckFileExists(filePath) && !ConstrainOwner(filePath)) return false;
    if (IsSymlink(filePath)) return refuse(APP_ERR_COMM_FAILURE, "WriteFileContent: the path is a link.");
    std::ofstream file(filePath, std::ios::binary);
    file << content;
    file.close();
    if (!file) return refuse(APP_ERR_COMM_INVALID_PATH, "WriteFileContent: the file cannot be written.");
    return ModifyFilePermission(filePath, mode);
}

std::string FileUtils::ReadFileContent(const std::string &filePath, bool allowSymlink)
{
    std::string path;
    if (!RegularFilePath(filePath, path, allowSymlink) || !IsFileValid(path, false) || !ConstrainOwner(path))
        return "";
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    if (file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
    return content.str();
}

size_t FileUtils::GetFileSize(const std::string &filePath)
{
    struct stat info;
    if (IsSymlink(filePath) || stat(filePath.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
        refuse(APP_ERR_COMM_NO_EXIST, "GetFileSize: there is no such file.");
        return 0;
    }
    return static_cast<size_t>(info.st_size);
}

bool FileUtils::ListFiles(const std::string &dir, std::vector<std::string> &fileList, bool isFullPath,
                          bool recursion)
{
    if (IsSymlink(dir) || !CheckDirectoryExists(dir))
        return refuse(APP_ERR_COMM_INVALID_PATH, "ListFiles: the folder is none.");
    Listing out = { fileList, isFullPath, recursion, 0 };
    if (list(out, dir, 0)) return true;
    fileList.clear();
    return false;
}

bool FileUtils::IsFileValid(const std::string &configFile, bool checkPermission)
{
    if (!CheckFileExists(configFile)) return refuse(APP_ERR_COMM_FAILURE, "There is no such file.");
    if (MemoryHelper::CheckDataSizeAllowZero(static_cast<long>(GetFileSize(configFile))) != APP_ERR_OK)
        return refuse(APP_ERR_COMM_READ_FAIL, "The file is too large.");
    return ConstrainOwner(configFile, checkPermission) &&
           ConstrainPermission(configFile, FILE_MODE, checkPermission);
}

bool FileUtils::CopyFile(const std::string &srcFile, const std::string &destFile)
{
    std::string source;
    if (destFile.empty()) return refuse(APP_ERR_COMM_INVALID_PATH, "CopyFile: destFile is empty.");
    if (!RegularFilePath(srcFile, source) || !IsFileValid(source, false)) return false;
    if (IsSymlink(destFile)) return refuse(APP_ERR_COMM_FAILURE, "CopyFile: destFile is a link.");
    if (CheckFileExists(destFile) && (!ConstrainOwner(destFile) || !ConstrainPermission(destFile, FILE_MODE)))
        return false;
    if (real_path(destFile) == source) return refuse(APP_ERR_COMM_INVALID_PATH, "CopyFile: it is one file.");
    std::ifstream in(source, std::ios::binary);
    std::ofstream out(destFile, std::ios::binary);
    if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
    out.close();
    if (!in.is_open() || !out) return refuse(APP_ERR_COMM_FAILURE, "CopyFile: a file cannot be opened.");
    return ModifyFilePermission(destFile, S_IRUSR);
}

bool FileUtils::RegularFilePath(const std::string &filePath, std::string &realFilePath, bool allowSymlink)
{
    if (filePath.empty() || filePath.size() > PATH_MAX)
        return refuse(APP_ERR_COMM_INVALID_PATH, "The path is empty or too long.");
    if (!allowSymlink && IsSymlink(filePath)) return refuse(APP_ERR_COMM_FAILURE, "The path is a link.");
    const std::string real = real_path(filePath);
    if (real.empty()) return refuse(APP_ERR_COMM_FAILURE, "There is nothing of that path.");
    realFilePath = real;
    return true;
}

bool FileUtils::ConstrainOwner(const std::string &filePath, bool checkOwner)
{
    struct stat info;
    if (stat(filePath.c_str(), &info) != 0)
        return refuse(APP_ERR_COMM_FAILURE, "There is nothing of that path.");
    if (info.st_uid == getuid() || !checkOwner) return true;
    return refuse(APP_ERR_COMM_FAILURE, "The file belongs to another user.");
}

bool FileUtils::ConstrainPermission(const std::string &filePath, const mode_t &mode, bool checkPermission)
{
    struct stat info;
    if (stat(filePath.c_str(), &info) != 0)
        return refuse(APP_ERR_COMM_FAILURE, "There is nothing of that path.");
    for (const mode_t who : { 0700u, 0070u, 0007u }) {
        if ((info.st_mode & who) > (mode & who) && checkPermission)
            return refuse(APP_ERR_COMM_FAILURE, "The file may be used by more than it should.");
    }
    return true;
}

bool FileUtils::IsSymlink(const std::string &filePath) { return kind_of(filePath) == LINK_ENTRY; }

bool FileUtils::IsFilePathExistsSymlink(const std::string &filePath)
{
    const std::string named = without_dots(GetAbsolutePath(filePath));
    const std::string real = real_path(filePath);
    if (!real.empty()) return real != named;
    const size_t slash = filePath.find_last_of('/');
    if (slash == std::string::npos) return false;
    const std::string parent = real_path(filePath.substr(0, slash + 1));
    return !parent.empty() && without_dots(parent + filePath.substr(slash)) != named;
}

std::string FileUtils::GetAbsolutePath(const std::string &path)
{
    if (!path.empty() && path[0] == '/') return path;
    const std::string here = real_path(".");
    return path.empty() || here.empty() ? here + path : here + "/" + path;
}

} // namespace MxBase
