/* library.h - other libraries of NVIDIA, opened by name when they are first needed, if they are there. */
#ifndef TSRC_LIBRARY_H
#define TSRC_LIBRARY_H

#include <initializer_list>

namespace tsrc {

/* A function of a library, and the pointer that is to call it. */
struct LibraryFunction {
    const char *name;
    void *pointer;
};

/* Opens libNAME.so.VERSION and finds all of its functions. False: it is not there, or lacks one. */
bool open_library(const char *name, int version, std::initializer_list<LibraryFunction> functions);

} // namespace tsrc

/* Of a list FUNCTIONS(X): members of a struct that point to them, and the list for open_library. */
#define TSRC_POINTER(function) decltype(&::function) function = nullptr;
#define TSRC_FUNCTION_OF(owner, function) { #function, &(owner).function },

#endif
