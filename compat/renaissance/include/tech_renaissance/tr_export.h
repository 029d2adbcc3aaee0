/* tr_export.h - what the library lets programs see. */
#pragma once

#if defined(__GNUC__)
#define TR_EXPORT __attribute__((visibility("default")))
#else
#define TR_EXPORT
#endif
