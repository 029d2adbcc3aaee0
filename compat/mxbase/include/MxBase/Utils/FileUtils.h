/* FileUtils.h - files and folders, with checks of who owns them and who may write. */
#ifndef MX_FILEUTILS_H
#define MX_FILEUTILS_H

#include <linux/limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"

namespace MxBase {

static const mode_t DIR_MODE = 0750;
static const mode_t FILE_MODE = 0640;
static const mode_t ARCHIVE_MODE = 0550;
const int MAX_DIR_DEPTH = 10;

class SDK_AVAILABLE_FOR_OUT FileUtils {
public:
    static bool CreateDirectories(const std::string &filePath, const mode_t &mode = DIR_MODE);
    static bool CheckDirectoryExists(const std::string &dirPath);
    static bool CheckFileExists(const std::string &filePath); /* a regular file */
    static bool ModifyFilePermission(const std::string &filePath, const mode_t &mode);
    static bool ModifyDirPermission(const std::string &dirPath, const mode_t &mode);
    static bool RemoveDirectories(const std::string &dirPath); /* an empty one */
    static bool RemoveFile(const std::string &filePath);

    /* False for links and for files of other users. */
    static bool WriteFileContent(const std::string &filePath, const std::string &content,
                                 const mode_t &mode = FILE_MODE);

    /* "" for links, unless they are allowed, and for files of other users. */
    static std::string ReadFileContent(const std::string &filePath, bool allowSymlink = false);
    static size_t GetFileSize(const std::string &filePath); /* 0 if there is none */

    /* Names of files, or their paths, appended: up to 1000, in folders up to 10 deep. Not deep: links
     * too. False clears the list, but for a folder that is none or a link. */
    static bool ListFiles(const std::string &dir, std::vector<std::string> &fileList, bool isFullPath,
                          bool recursion = true);

    /* A regular file that memory has room for; of this user, and not over FILE_MODE, if that is checked. */
    static bool IsFileValid(const std::string &configFile, bool checkPermission = true);

    /* The copy can only be read, by its owner. */
    static bool CopyFile(const std::string &srcFile, const std::string &destFile);

    /* The path without links and dots, of what exists. */
    static bool RegularFilePath(const std::string &filePath, std::string &realFilePath,
                                bool allowSymlink = false);

    /* False, if it is checked, for what belongs to another user; for what may be more than mode allows. */
    static bool ConstrainOwner(const std::string &filePath, bool checkOwner = true);
    static bool ConstrainPermission(const std::string &filePath, const mode_t &mode,
                                    bool checkPermission = true);

    static bool IsSymlink(const std::string &filePath);
    static bool IsFilePathExistsSymlink(const std::string &filePath); /* anywhere on the way */
    static std::string GetAbsolutePath(const std::string &path);
};

} // namespace MxBase

#endif
