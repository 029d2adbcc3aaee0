/* DataType.h (CV) - boxes by their centre, and how their overlap is measured. */
#ifndef DATATYPE_H
#define DATATYPE_H

#include <string>

namespace MxBase {

struct DetectBox {
    float prob;
    int classID;
    float x; /* of the centre */
    float y;
    float width;
    float height;
    std::string className;
    void *maskPtr;
};

struct RoiBox {
    float x0;
    float y0;
    float x1;
    float y1;
};

/* What the common area is divided by: the larger area, the smaller one, the union; DIOU is the last less
 * the squared distance of the centres over that of the corners of the box around both. */
enum IOUMethod { MAX = 0, MIN = 1, UNION = 2, DIOU = 3 };

enum TrackFlag { NEW_OBJECT = 0, TRACKED_OBJECT = 1, LOST_OBJECT = 2 };

} // namespace MxBase

#endif
