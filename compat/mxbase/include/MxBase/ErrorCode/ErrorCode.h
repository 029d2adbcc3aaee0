/* ErrorCode.h - the words for a code. */
#ifndef ERROR_CODE_H
#define ERROR_CODE_H

#include <string>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCodes.h"

enum ReturnCodeType : int {
    GST_FLOW_TYPE = 0,
};

/* "Invalid parameter" for 1004; "Error code unknown" outside all families. */
SDK_AVAILABLE_FOR_OUT std::string GetAppErrCodeInfo(APP_ERROR err);

/* " (Code = 1004, Message = "Invalid parameter") ", as it stands at the end of a log line. */
SDK_AVAILABLE_FOR_OUT std::string GetErrorInfo(const APP_ERROR err, std::string callingFuncName = "");

/* "[1004][Invalid parameter] ", as it stands at the beginning of one; "[name]" first if there is a name. */
SDK_AVAILABLE_FOR_OUT std::string GetError(const APP_ERROR err, std::string moduleName = "");

/* A code of a pipeline's flow (ErrorCodeThirdParty.h) as one of ours. */
SDK_AVAILABLE_FOR_OUT APP_ERROR ConvertReturnCodeToLocal(ReturnCodeType type, int errorCode);

#endif
