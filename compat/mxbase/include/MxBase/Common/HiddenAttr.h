/* HiddenAttr.h - marks on declarations: what the library exports and what it keeps. */
#ifndef MINDX_SDK_HIDDENATTR_H
#define MINDX_SDK_HIDDENATTR_H

#define SDK_AVAILABLE_FOR_OUT __attribute__((visibility("default")))
#define SDK_AVAILABLE_FOR_IN __attribute__((visibility("default")))
#define SDK_UNAVAILABLE_FOR_OTHER __attribute__((visibility("hidden")))
#define SDK_DEPRECATED_FOR(f) __attribute__((__deprecated__("Use '" #f "' instead")))

#endif
