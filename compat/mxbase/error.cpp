/* error.cpp - the words for codes. */
#include "MxBase/ErrorCode/ErrorCode.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>

#include "MxBase/ErrorCode/ErrorCodeThirdParty.h"
#include "face.hpp"

namespace {

/* Each list begins with the words for the number of its family itself. */
const char *const acl[] = {
    "Success", "ACL: invalid parameter", "ACL: memory allocation fail", "ACL: runtime failure",
    "ACL: Graph Engine failure", "ACL: operator not found", "ACL: fail to load operator",
    "ACL: fail to read model", "ACL: parse model failure", "ACL: model missing attribute",
    "ACL: deserialize model failure", "Placeholder", "ACL: event not ready", "ACL: event complete",
    "ACL: unsupported data type", "ACL: repeat initialize", "ACL: compiler not registered",
    "ACL: IO failed", "ACL: invalid file", "ACL: invalid dump config", "ACL: invalid profiling config",
    "ACL: operator type not match", "ACL: operator input not match", "ACL: operator output not match",
    "ACL: operator attribute not match", "ACL: API not supported", "ACL: memory copy fail",
    "ACL: memory free fail", "ACL: general failure",
};

const char *const common[] = {
    "Success", "General Failed", "Internal error", "Invalid Pointer", "Invalid parameter",
    "Not implemented", "Out of memory", "memory allocation error", "free memory error", "out of range",
    "NO Permission ", "Timed out", "Not initialized", "initialize failed", "Operation now in progress ",
    "Object, file or other resource already exist", "Object, file or other resource doesn't exist",
    "Object, file or other resource is in use", "No available Device or resource",
    "Device, file or resource open failed", "Device, file or resource read failed",
    "Device, file or resource write failed", "Device, file or resource destroy failed", "Fail to exit",
    "Out of connection, Communication shutdown", "connection fail", "ACL stream is null pointer",
    "Logging config loading failed", "SDK_HOME not set", "Invalid path", "Repeat initialize",
};

const char *const dvpp[] = {
    "Success", "DVPP: crop fail", "DVPP: resize fail", "DVPP: crop and resize fail",
    "DVPP: convert image format fail", "DVPP: VPC(crop, resize, convert format) fail",
    "DVPP: decode jpeg or jpg fail", "DVPP: encode jpeg or jpg fail", "DVPP: encode png fail",
    "DVPP: decode H264 or H265 fail", "DVPP: encode H264 or H265 fail",
    "DVPP: acldvppChannelDesc is nullptr", "DVPP: fail to create or set acldvppCreatePicDesc",
    "DVPP: fail to set dvpp configuration", "DVPP: DvppCommon object mismatch the function",
    "DVPP: DvppCommon object mismatch the function", "DVPP: mismatch the memory type",
    "DVPP: metadata is null", "DVPP: VpcReSize mismatch the protobuf name",
    "DVPP: mismatch the image format", "DVPP: image width out of range",
    "DVPP: image height out of range", "DVPP: vdec channel num out of range", "DVPP: resize and paste fail",
};

const char *const infer[] = {
    "Success", "Infer: set input fail", "Infer: set output fail", "Infer: create output fail",
    "Infer: set op attribute fail", "Infer: get model output fail", "Infer: find model id fail",
    "Infer: find model description fail", "Infer: find model memory fail", "Infer: find model weight fail",
    "Infer: In DYNAMIC_HW mode, only batchSize=1 is supported.",
};

const char *const commander[] = {
    "Success", "Commander Splitter parameter error", "Commander Splitter coordinate conversion error",
    "Commander Splitter server is not available", "Commander subtask inference result error.",
};

const char *const queue[] = { "Success", "empty queue", "queue stopped", "full queue" };

const char *const stream[] = {
    "Success", "stream is exist", "stream is not exist", "stream change state fail", "stream create fail",
    "stream invalid config", "stream invalid link", "stream link fail", "stream trans mode not match",
    "stream trans mode invalid", "stream timeout", "stream element invalid", "stream element exist",
    "stream element not exist", "element invalid factory", "element invalid properties",
    "element pad unlinked", "pipeline property config error",
};

const char *const toolkit[] = {
    "Success", "plugin toolkit create node fail", "plugin toolkit node already exist",
    "plugin toolkit message not match", "plugin toolkit parent not match", "plugin toolkit not initialized",
    "plugin toolkit nodelist not exist", "plugin toolkit node not exist", "plugin toolkit invalid memberid",
    "plugin toolkit metadata buffer is null", "plugin toolkit metadata key already exist",
    "plugin toolkit metadata key not exist", "plugin toolkit metadata key erase fail",
    "plugin toolkit metadata is null", "plugin toolkit metadata add error info fail",
    "plugin toolkit metadata plugin name key is exist", "plugin toolkit metadata error info map is null",
    "plugin toolkit metadata failed to convert message to string", "plugin toolkit pad is not linked",
    "plugin toolkit pad is flushing", "plugin toolkit pad is EOS", "plugin toolkit pad is not negotiated",
    "plugin toolkit some error occurred.Element generating this error should post an error message",
    "plugin toolkit operation is not supported", "the key cannot be empty", "the plugin name cannot be empty",
};

const char *const manager[] = {
    "Success", "DeviceManager:query device count error",
    "DeviceManager:all devices have been released,init or release again fail",
};

const char *const op[] = {
    "Success", "Fail to create tensor in operator", "Bad free in operator", "Fail to execute operator",
    "Fail to synchronize stream in operator", "Mismatched size in operator",
};

const char *const plugins[] = {
    "Success", "MxPlugins: mismatch the device id", "MxPlugins: mismatch the memory type",
    "MxPlugins: metadata is null", "MxPlugins: protobuf descriptor name mismatch",
};

const char *const extra[] = {
    "Parameter verification failed",
    "ACL is not initialized",
    "Repeated ACL initialization",
    "Invalid file",
    "Failed to write the file",
    "Invalid file size",
    "Failed to parse the file",
    "Parameters are missing in the file",
    "Invalid file parameter",
    "Invalid dump configuration",
    "Invalid profile configuration",
    "Invalid model ID",
    "Failed to deserialize the model",
    "Failed to parse the model",
    "Failed to read the model",
    "Invalid model size",
    "The model does not have parameters",
    "The input of the model does not match",
    "The output of the model does not match",
    "nondynamic model",
    "Single operator type mismatch",
    "The input of a single operator does not match",
    "The output of a single operator does not match",
    "The attribute of the single operator does not match",
    "The single operator is not found",
    "Failed to load a single operator",
    "Unsupported data type",
    "The format does not match",
    ("When the operator interface is compiled in binary selection mode, the operator has not registered a "
     "selector"),
    "The operator kernel is not registered during operator compilation",
    "When the operator interface is compiled in binary selection mode, the operator is repeatedly registered",
    "The operator kernel is repeatedly registered during operator compilation",
    "Invalid queue ID",
    "Repeated subscription",
    "Stream not subscribed",
    "Thread not subscribed",
    "Waiting for callback times out",
    "Repeated Deinitialization",
    "The AIPP configuration information does not exist",
    "The denominator must not be equal to 0",
};

const char *const memory[] = {
    "Failed to apply for memory",
    "The interface is not supported",
    "Invalid device",
    "Memory addresses are not aligned",
    "Resource mismatch",
    "Invalid resource handle",
    "Feature not supported",
};

const char *const storage[] = { "Exceeded the upper limit of storage" };

const char *const internal[] = {
    "Unknown internal error", "The internal ACL is incorrect", "Internal GE error of the system",
    "An internal runtime error occurs", "An internal DRV (Driver) error occurs in the system",
    "Profiling failure",
};

struct Family {
    int base;
    const char *const *words;
    size_t count;
};

template <size_t N> constexpr Family family(int base, const char *const (&words)[N])
{
    return { base, words, N };
}

const Family families[] = {
    family(APP_ERR_ACL_ERR_BASE, acl), family(APP_ERR_COMM_BASE, common), family(APP_ERR_DVPP_BASE, dvpp),
    family(APP_ERR_INFER_BASE, infer), family(APP_ERR_COMMANDER_BASE, commander),
    family(APP_ERR_QUEUE_BASE, queue), family(APP_ERR_STREAM_BASE, stream),
    family(APP_ERR_PLUGIN_TOOLKIT_BASE, toolkit), family(APP_ERR_DEVICE_MANAGER_BASE, manager),
    family(APP_ERR_OP_BASE, op), family(APP_ERR_MXPLUGINS_BASE, plugins), family(APP_ERR_EXTRA_BASE, extra),
    family(APP_ERR_BAD_ALLOC, memory), family(APP_ERR_STORAGE_OVER_LIMIT, storage),
    family(APP_ERR_INTERNAL_ERROR, internal),
};

/* Below the one and from the other on, codes are the runtime's own. */
const int LOWEST = -1, RUNTIME = 100000;

std::string hexadecimal(int err)
{
    char text[16];
    std::snprintf(text, sizeof text, "0x%X", static_cast<unsigned>(err));
    return text;
}

bool is_plain(unsigned char c) { return std::isprint(c) != 0; }

} // namespace

std::string GetAppErrCodeInfo(const APP_ERROR err)
{
    if (err == APP_ERR_ACL_FAILURE) return "ACL: general failure";
    const int offset = err % RANGE_SIZE;
    for (const Family &f : families)
        if (offset >= 0 && f.base == err - offset)
            return static_cast<size_t>(offset) < f.count ? f.words[offset] : "Undefined error code";
    return "Error code unknown";
}

std::string GetErrorInfo(const APP_ERROR err, std::string callingFuncName)
{
    const bool foreign = err < LOWEST || err >= RUNTIME;
    std::string text = " (";
    if (foreign && !callingFuncName.empty()) {
        std::replace_if(callingFuncName.begin(), callingFuncName.end(),
                        [](unsigned char c) { return !is_plain(c); }, '_');
        text += "Calling Function = " + callingFuncName + ", ";
    }
    text += "Code = " + (err < LOWEST ? hexadecimal(err) : std::to_string(err)) + ", Message = \"";
    if (err < LOWEST) text += "Himpi error, please refer to the document of CANN.";
    else if (foreign) text += "ACL error, please refer to the document of CANN.";
    else text += GetAppErrCodeInfo(err);
    return text + "\") ";
}

std::string GetError(const APP_ERROR err, std::string moduleName)
{
    const std::string module = moduleName.empty() ? "" : "[" + moduleName + "]";
    return module + "[" + std::to_string(err) + "][" + GetAppErrCodeInfo(err) + "] ";
}

APP_ERROR ConvertReturnCodeToLocal(ReturnCodeType type, int err)
{
    if (type != GST_FLOW_TYPE) return APP_ERR_OK;
    switch (err) {
    case APP_ERR_FLOW_CUSTOM_SUCCESS_2:
    case APP_ERR_FLOW_CUSTOM_SUCCESS_1:
    case APP_ERR_FLOW_CUSTOM_SUCCESS:
    case APP_ERR_FLOW_OK: return APP_ERR_OK;
    case APP_ERR_FLOW_NOT_LINKED: return APP_ERR_PLUGIN_TOOLKIT_FLOW_NOT_LINKED;
    case APP_ERR_FLOW_FLUSHING: return APP_ERR_PLUGIN_TOOLKIT_FLOW_FLUSHING;
    case APP_ERR_FLOW_EOS: return APP_ERR_PLUGIN_TOOLKIT_FLOW_EOS;
    case APP_ERR_FLOW_NOT_NEGOTIATED: return APP_ERR_PLUGIN_TOOLKIT_FLOW_NOT_NEGOTIATED;
    case APP_ERR_FLOW_ERROR: return APP_ERR_PLUGIN_TOOLKIT_FLOW_ERROR;
    case APP_ERR_FLOW_NOT_SUPPORTED:
    case APP_ERR_FLOW_CUSTOM_ERROR:
    case APP_ERR_FLOW_CUSTOM_ERROR_1:
    case APP_ERR_FLOW_CUSTOM_ERROR_2: return APP_ERR_PLUGIN_TOOLKIT_FLOW_NOT_SUPPORTED;
    default: return APP_ERR_PLUGIN_TOOLKIT_BASE;
    }
}

namespace mxface {

APP_ERROR fail(APP_ERROR code, const char *words)
{
    LogError << words << GetErrorInfo(code);
    return code;
}

APP_ERROR to_code(tsr_status s, const char *what)
{
    APP_ERROR code = APP_ERR_COMM_INVALID_PARAM;
    if (s == TSR_ENOMEM) code = APP_ERR_ACL_BAD_ALLOC;
    else if (s == TSR_EUNSUPPORTED || s == TSR_EDEVICE || s == TSR_EIO) code = APP_ERR_ACL_FAILURE;
    LogError << what << ": " << tsr_last_error() << GetErrorInfo(code);
    return code;
}

} // namespace mxface
