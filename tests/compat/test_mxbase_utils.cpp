/* test_mxbase_utils.cpp - files, texts and configurations. */
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "MxBase/Common/Version.h"
#include "MxBase/ConfigUtil/ConfigUtil.h"
#include "MxBase/Utils/FileUtils.h"
#include "MxBase/Utils/StringUtils.h"
#include "test.h"

namespace {

using namespace MxBase;
using Strings = std::vector<std::string>;

std::string folder;

std::string path(const std::string &name) { return folder + "/" + name; }

std::string write_file(const std::string &name, const std::string &text)
{
    EXPECT(FileUtils::WriteFileContent(path(name), text));
    return path(name);
}

APP_ERROR load(ConfigData &data, const std::string &content) { return data.InitContent(content); }

} // namespace

TEST(test_files_are_written_read_and_removed)
{
    const std::string text("a\0b\n", 4), file = write_file("file", text);
    EXPECT(FileUtils::ReadFileContent(file) == text && FileUtils::GetFileSize(file) == 4);
    EXPECT(FileUtils::CheckFileExists(file) && !FileUtils::CheckDirectoryExists(file));
    EXPECT(FileUtils::IsFileValid(file) && FileUtils::ConstrainPermission(file, 0640));
    EXPECT(FileUtils::ModifyFilePermission(file, 0646) && !FileUtils::IsFileValid(file));
    EXPECT(FileUtils::IsFileValid(file, false) && !FileUtils::ConstrainPermission(file, 0644));
    EXPECT(FileUtils::CopyFile(file, path("copy")) && FileUtils::ReadFileContent(path("copy")) == text);
    EXPECT(!FileUtils::ConstrainPermission(path("copy"), 0300) &&
           FileUtils::ConstrainPermission(path("copy"), 0400));
    EXPECT(!FileUtils::CopyFile(file, file) && FileUtils::GetFileSize(file) == 4);
    EXPECT(!FileUtils::CopyFile("", path("x")) && !FileUtils::CopyFile(file, ""));
    EXPECT(!FileUtils::WriteFileContent(path("no/such/file"), "x") &&
           FileUtils::ReadFileContent(path("none")).empty());
    EXPECT(write_file("empty", "") == path("empty") && FileUtils::ReadFileContent(path("empty")).empty());
    EXPECT(FileUtils::RemoveFile(file) && !FileUtils::RemoveFile(file) && FileUtils::GetFileSize(file) == 0);
    EXPECT(FileUtils::RemoveFile(path("copy")) && FileUtils::RemoveFile(path("empty")));
}

TEST(test_links_are_refused_unless_they_are_allowed)
{
    const std::string file = write_file("target", "text"), link = path("link");
    std::string real;
    EXPECT(symlink(file.c_str(), link.c_str()) == 0 && FileUtils::IsSymlink(link) &&
           !FileUtils::IsSymlink(file));
    EXPECT(!FileUtils::RegularFilePath(link, real) && real.empty());
    EXPECT(FileUtils::RegularFilePath(link, real, true) && real == file);
    EXPECT(FileUtils::ReadFileContent(link).empty() && FileUtils::ReadFileContent(link, true) == "text");
    EXPECT(!FileUtils::WriteFileContent(link, "other") && FileUtils::ReadFileContent(file) == "text");
    EXPECT(!FileUtils::CopyFile(file, link));
    EXPECT(FileUtils::IsFilePathExistsSymlink(link) && !FileUtils::IsFilePathExistsSymlink(file));
    EXPECT(!FileUtils::IsFilePathExistsSymlink(folder + "/./new") &&
           !FileUtils::IsFilePathExistsSymlink("new"));
    EXPECT(FileUtils::RegularFilePath(folder + "/../" + folder.substr(5) + "/target", real) && real == file);
    EXPECT(!FileUtils::RegularFilePath("", real) &&
           !FileUtils::RegularFilePath(std::string(5000, 'a'), real));
    EXPECT(FileUtils::GetAbsolutePath("/x") == "/x" && FileUtils::GetAbsolutePath("x")[0] == '/');
    EXPECT(unlink(link.c_str()) == 0 && FileUtils::RemoveFile(file));
}

TEST(test_folders_are_made_and_listed)
{
    EXPECT(FileUtils::CreateDirectories(path("a/./b")) && FileUtils::CheckDirectoryExists(path("a/b")));
    const std::string one = write_file("a/one", "1"), two = write_file("a/b/two", "2");
    Strings names, paths;
    EXPECT(FileUtils::ListFiles(path("a"), names, false) && names.size() == 2);
    EXPECT(FileUtils::ListFiles(path("a"), paths, true, false) && paths == Strings{ path("a/one") });
    EXPECT(!FileUtils::ListFiles(path("none"), paths, true) && paths.size() == 1);
    EXPECT(!FileUtils::CreateDirectories("") && !FileUtils::CreateDirectories(path("a/one/c")));
    EXPECT(!FileUtils::RemoveDirectories(path("a")) && !FileUtils::RemoveDirectories(path("none")));
    EXPECT(FileUtils::ModifyDirPermission(path("a/b"), 0700) && !FileUtils::ModifyDirPermission(one, 0700));
    EXPECT(FileUtils::RemoveFile(two) && FileUtils::RemoveFile(one));

    std::string deep = path("a");
    for (int i = 0; i < MAX_DIR_DEPTH; i++) deep += "/d";
    EXPECT(FileUtils::CreateDirectories(deep) && !FileUtils::ListFiles(path("a"), names, false) &&
           names.empty());
    for (; deep != path("a"); deep.resize(deep.size() - 2)) EXPECT(FileUtils::RemoveDirectories(deep));
    EXPECT(FileUtils::RemoveDirectories(path("a/b")) && FileUtils::RemoveDirectories(path("a")));
}

TEST(test_texts_are_cut_and_cast)
{
    EXPECT(StringUtils::Split("1|2||3|", '|') == (Strings{ "1", "2", "3" }) &&
           StringUtils::Split("").empty());
    EXPECT(StringUtils::Split("|1", '|') == (Strings{ "", "1" }) &&
           StringUtils::Split("a b") == (Strings{ "a", "b" }));
    std::string text = "  1 , 2.5,3 ";
    EXPECT(StringUtils::SplitWithRemoveBlank(text, ',') == (Strings{ "1", "2.5", "3" }) &&
           text == "1 , 2.5,3");
    EXPECT(StringUtils::SplitAndCastToInt(text, ',') == (std::vector<int>{ 1, 2, 3 }));
    EXPECT(StringUtils::SplitAndCastToFloat(text, ',') == (std::vector<float>{ 1, 2.5f, 3 }));
    EXPECT(StringUtils::SplitAndCastToDouble(text, ',')[1] == 2.5 &&
           StringUtils::SplitAndCastToLong(text, ',')[2] == 3);
    std::string bad = "1,x", flags = "0, true,1,false", word = "maybe", blank = "   ";
    EXPECT(StringUtils::SplitAndCastToInt(bad, ',').empty() &&
           StringUtils::SplitAndCastToFloat(bad, ',').empty());
    EXPECT(StringUtils::SplitAndCastToBool(flags, ',') == (std::vector<bool>{ false, true, true, false }));
    EXPECT(StringUtils::SplitAndCastToBool(word, ',').empty() && StringUtils::Trim(blank).empty());
    EXPECT(StringUtils::ToNumber<int>("12") == 12 && StringUtils::ToNumber<float>("x") == 0);
    EXPECT(StringUtils::ToString(1.5) == "1.5" && StringUtils::GetTimeStamp().size() == 19);
}

TEST(test_refused_characters_are_found_and_replaced)
{
    EXPECT(!StringUtils::HasInvalidChar("a b c") && StringUtils::HasInvalidChar("a  b"));
    for (const char c : { '\b', '\t', '\n', '\v', '\f', '\r', '\x7f' })
        EXPECT(StringUtils::HasInvalidChar(std::string("a") + c));
    std::string text = "a\r\n b\tc";
    StringUtils::ReplaceInvalidChar(text);
    EXPECT(text == "a b c");
    EXPECT(StringUtils::HasInvalidCharInJson("{\"a\": [{\"b\": \"c\\nd\"}]}"));
    EXPECT(!StringUtils::HasInvalidCharInJson("{\"a\": [{\"b\": \"c d\"}]}") &&
           StringUtils::HasInvalidCharInJson("{"));
}

TEST(test_values_of_a_file_are_read_by_type)
{
    const std::string file = write_file("values.cfg", "# first\nint = 111\nname=some words # and more\n"
                                                      "flag=TRUE\nint = 5\nrate=-0.5\nnothing\nempty=\n");
    ConfigUtil util;
    ConfigData data;
    EXPECT(util.LoadConfiguration(file, data, CONFIGFILE) == APP_ERR_OK);
    int number = 7;
    float rate = 0;
    bool flag = false;
    std::string name, more;
    EXPECT(data.GetFileValue("int", number) == APP_ERR_OK && number == 111); /* the first counts */
    EXPECT(data.GetFileValue("name", name) == APP_ERR_OK && name == "some");
    EXPECT(data.GetFileValue("flag", flag) == APP_ERR_OK && flag);
    EXPECT(data.GetFileValue("rate", rate, 0.0f, 1.0f) == APP_ERR_OK && rate == 0);
    EXPECT(data.GetFileValue("int", number, 200, 300) == APP_ERR_OK && number == 200);
    EXPECT(data.GetFileValue("int", number, 0, 100) == APP_ERR_OK && number == 100);
    EXPECT(data.GetFileValue("name", number) == APP_ERR_COMM_INVALID_PARAM && number == 100);
    EXPECT(data.GetFileValue("none", number) == APP_ERR_COMM_NO_EXIST && number == 100);
    EXPECT(data.GetFileValue("empty", more) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(data.GetFileValue("name", flag) == APP_ERR_COMM_INVALID_PARAM && flag);
    data.GetFileValueWarn("none", number);
    EXPECT(data.SetFileValue("key", 1.5) == APP_ERR_OK);
    EXPECT(data.SetFileValue("", 1) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(util.LoadConfiguration(file, data, CONFIGPM) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(util.LoadConfiguration("/no/such/file", data, CONFIGFILE) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(util.LoadConfiguration(folder, data, CONFIGFILE) == APP_ERR_COMM_FAILURE);
    write_file("values.cfg", "a=" + std::string(10000, 'x') + "\n");
    EXPECT(util.LoadConfiguration(file, data, CONFIGFILE) == APP_ERR_COMM_OPEN_FAIL);
    EXPECT(FileUtils::RemoveFile(file) && GetSDKVersion() == "5.0.0");
}

TEST(test_content_is_an_object_of_strings)
{
    ConfigData data;
    std::string text;
    EXPECT(load(data, " {\"a\" : \"b\", \"\\u0063\\ud83d\\ude00\": \"\\\"\\u00e9\" } ") == APP_ERR_OK);
    EXPECT(data.GetFileValue("a", text) == APP_ERR_OK && text == "b");
    EXPECT(data.GetFileValue("c\xf0\x9f\x98\x80", text) == APP_ERR_OK && text == "\"\xc3\xa9");
    for (const char *bad :
         { "", "[]", "{", "{\"a\"}", "{\"a\": 1}", "{\"a\": \"b\"} x", "{\"a\": \"b\",}", "{\"a\": \"\\x\"}",
           "{\"a\": \"\\ud83d\"}", "{\"a\": \"b\\nc\"}", "{\"a\": \"b\n\"}", "{\"a\": \"b" })
        EXPECT_MSG(load(data, bad) == APP_ERR_COMM_INVALID_PARAM, "%s", bad);
    EXPECT(load(data, "{\"a\": " + std::string(100000, '[')) == APP_ERR_COMM_INVALID_PARAM);
}

TEST(test_json_is_read_changed_and_written)
{
    ConfigUtil util;
    ConfigData data, list;
    EXPECT(data.GetCfgJson() == "null");
    const std::string file =
        write_file("c.json", "{\"b\": [1, -2.5e3, true, null, {}], \"a\": {\"x\": \"\\t\\u0001\"}}");
    EXPECT(util.LoadConfiguration(file, data) == APP_ERR_COMM_OPEN_FAIL); /* a tab in a string */
    write_file("c.json", "{\"b\": [1, -2.5e3, true, null, {}, []], \"a\": {\"x\": \"\\u0001\\\\\"}}");
    EXPECT(util.LoadConfiguration(file, data) == APP_ERR_OK);
    EXPECT(data.GetCfgJson() == "{\"a\":{\"x\":\"\\u0001\\\\\"},\"b\":[1,-2.5e3,true,null,{},[]]}");
    EXPECT(data.SetJsonValue("b", "v") == APP_ERR_OK &&
           data.GetCfgJson().find("\"b\":\"v\"}") != std::string::npos);
    EXPECT(data.SetJsonValue("k", "v", 0) == APP_ERR_COMM_INVALID_PARAM); /* it is no list */
    EXPECT(list.SetJsonValue("k", "v", 1) == APP_ERR_OK && list.GetCfgJson() == "[null,{\"k\":\"v\"}]");
    EXPECT(list.SetJsonValue("", "v") == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(list.SetJsonValue("k", "v", -2) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(list.SetJsonValue("k", "a\nb") == APP_ERR_COMM_INVALID_PARAM);
    ConfigData copy(list);
    EXPECT(copy.SetJsonValue("j", "w", 0) == APP_ERR_OK && list.GetCfgJson() == "[null,{\"k\":\"v\"}]");
    list = copy;
    EXPECT(list.GetCfgJson() == copy.GetCfgJson() && FileUtils::RemoveFile(file));
    write_file("c.json", "{\"b\": 01}");
    EXPECT(util.LoadConfiguration(file, data) == APP_ERR_COMM_OPEN_FAIL && FileUtils::RemoveFile(file));
}

TEST(test_labels_are_lines_after_the_comments)
{
    ConfigData data;
    const std::string file = write_file("names", "# a\n #b\nfirst\r\n#second\n\nlast");
    EXPECT(data.LoadLabels(file) == APP_ERR_OK);
    EXPECT(data.GetClassName(0) == "first" && data.GetClassName(1) == "#second" &&
           data.GetClassName(2).empty());
    EXPECT(data.GetClassName(3) == "last" && data.GetClassName(4).empty());
    EXPECT(data.LoadLabels(path("none")) == APP_ERR_COMM_INVALID_PARAM &&
           data.LoadLabels(folder) == APP_ERR_COMM_FAILURE);
    EXPECT(data.GetClassName(0) == "first" && FileUtils::RemoveFile(file));
}

TEST_BEFORE
{
    if (!folder.empty()) return;
    char name[] = "/tmp/mxbase-utils-XXXXXX";
    folder = mkdtemp(name);
    setenv("GLOG_minloglevel", "4", 1);
    std::atexit([] { FileUtils::RemoveDirectories(folder); });
}
