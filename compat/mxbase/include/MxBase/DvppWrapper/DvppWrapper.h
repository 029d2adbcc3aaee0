/* DvppWrapper.h - there are no units for images here: each call returns 1005 (APP_ERR_COMM_UNREALIZED).
 * Programs that include this for its types build and run. */
#ifndef DVPP_WRAPPER_H
#define DVPP_WRAPPER_H

#include "MxBase/DvppWrapper/DvppWrapperDataType.h"
#include "MxBase/Log/Log.h"

namespace MxBase {

class DvppWrapper {
public:
    APP_ERROR Init(void) { return Refuse(); }
    APP_ERROR Init(MxbaseDvppChannelMode) { return Refuse(); }
    APP_ERROR DeInit(void) { return APP_ERR_OK; }
    APP_ERROR InitVdec(VdecConfig &) { return Refuse(); }
    APP_ERROR DeInitVdec() { return APP_ERR_OK; }
    APP_ERROR DvppVdec(DvppDataInfo &, void *) { return Refuse(); }
    APP_ERROR DvppJpegDecode(DvppDataInfo &, DvppDataInfo &) { return Refuse(); }
    APP_ERROR DvppJpegDecode(const std::string &, DvppDataInfo &) { return Refuse(); }
    APP_ERROR DvppPngDecode(DvppDataInfo &, DvppDataInfo &) { return Refuse(); }
    APP_ERROR DvppPngDecode(const std::string &, DvppDataInfo &) { return Refuse(); }
    APP_ERROR DvppJpegEncode(DvppDataInfo &, DvppDataInfo &, const uint32_t = 100) { return Refuse(); }
    APP_ERROR DvppJpegEncode(DvppDataInfo &, std::string, std::string, const uint32_t = 100)
    {
        return Refuse();
    }
    APP_ERROR VpcCrop(DvppDataInfo &, DvppDataInfo &, CropRoiConfig &) { return Refuse(); }
    APP_ERROR VpcResize(DvppDataInfo &, DvppDataInfo &, ResizeConfig &) { return Refuse(); }
    APP_ERROR VpcPadding(DvppDataInfo &, DvppDataInfo &, MakeBorderConfig &) { return Refuse(); }

private:
    static APP_ERROR Refuse()
    {
        LogError << "There are no units for images here." << GetErrorInfo(APP_ERR_COMM_UNREALIZED);
        return APP_ERR_COMM_UNREALIZED;
    }
};

} // namespace MxBase

#endif
