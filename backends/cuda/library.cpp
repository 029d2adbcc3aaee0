/* library.cpp - opens shared libraries by name. */
#include "library.h"

#include <cstdio>
#include <cstring>

#include <dlfcn.h>

namespace tsrc {

bool open_library(const char *name, int version, std::initializer_list<LibraryFunction> functions)
{
    char file[64];
    std::snprintf(file, sizeof file, "lib%s.so.%d", name, version);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bool all = library != nullptr;
    for (const LibraryFunction &f : functions) {
        void *found = all ? dlsym(library, f.name) : nullptr;
        std::memcpy(f.pointer, &found, sizeof found);
        all = found != nullptr;
    }
    return all;
}

} // namespace tsrc
