/* hdf5_library.c - libhdf5, found at run time (hdf5_library.h). */
#include "core/library.h"
#include "core/lock.h"
#include "foreign_library.h"
#include "hdf5_library.h"

static tsri_hdf5_library library;
static tsri_once once = TSRI_ONCE_INIT;
static tsri_mutex lock = TSRI_MUTEX_INIT;

/* What was set before, of the program or of another that uses the same library. */
static struct {
    int (*print)(tsri_hid, void *);
    void *context;
    unsigned plugins;
} before;

enum {
#define X(result, name, arguments) FUNCTION_##name,
    TSRI_HDF5_FUNCTIONS(X)
#undef X
    FUNCTIONS
};
enum {
#define X(name) ID_##name,
    TSRI_HDF5_IDS(X)
#undef X
    IDS
};

/* The address of a variable, which is looked up as a function is. */
static const tsri_hid *variable(void (*found)(void))
{
    const tsri_hid *p;
    memcpy(&p, &found, sizeof p);
    return p;
}

static void assign(void (*const f[])(void))
{
    void (*const *ids)(void) = f + FUNCTIONS;
#define X(result, name, arguments) library.name = (result (*) arguments)f[FUNCTION_##name];
    TSRI_HDF5_FUNCTIONS(X)
#undef X
#define X(name) library.name = variable(ids[ID_##name]);
    TSRI_HDF5_IDS(X)
#undef X
    library.link_info = (int (*)(tsri_hid, const char *, void *, tsri_hid))f[FUNCTIONS + IDS];
}

static void find(void)
{
    static const char *const names[] = {
        "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5.so.103", "libhdf5.so.200",
        "libhdf5.so.310", "libhdf5.so.320", "libhdf5_serial.so.101", "libhdf5.so.101", "libhdf5_serial.so",
        "libhdf5.so", "libhdf5.dylib"
    };
    static const char *const infos[] = { "H5Lget_info2", "H5Lget_info1", "H5Lget_info" };
    const char *symbols[FUNCTIONS + IDS + 1] = {
#define X(result, name, arguments) #name,
        TSRI_HDF5_FUNCTIONS(X)
#undef X
#define X(name) #name,
        TSRI_HDF5_IDS(X)
#undef X
    };
    void (*f[FUNCTIONS + IDS + 1])(void) = { NULL };
    unsigned major = 0, minor = 0, release = 0;
    for (int i = 0; i < 3 && !library.found; i++) {
        symbols[FUNCTIONS + IDS] = infos[i];
        library.found = tsri_foreign_find(f, "TSR_HDF5", sizeof names / sizeof *names, names,
                                          FUNCTIONS + IDS + 1, symbols);
    }
    if (!library.found) return;
    assign(f);
    library.found = library.H5open() >= 0 && library.H5get_libversion(&major, &minor, &release) >= 0 &&
                    (major > 1 || minor >= 10);
}

tsr_status tsri_hdf5_enter(const tsri_hdf5_library **out, const char *op, const char *path)
{
    if (tsri_libraries_used()) tsri_once_run(&once, find);
    TSRI_CHECK(tsri_libraries_used() && library.found, TSR_EUNSUPPORTED,
               "%s: %s: HDF5 needs libhdf5 1.10 or later, which is not here: install libhdf5-103-1 (Debian), "
               "hdf5 (Fedora, Homebrew) or the like", op, path);
    tsri_lock(&lock);
    (void)library.H5Eget_auto2(0, &before.print, &before.context);
    (void)library.H5Eset_auto2(0, NULL, NULL);
    (void)library.H5PLget_loading_state(&before.plugins);
    (void)library.H5PLset_loading_state(0);
    *out = &library;
    return TSR_OK;
}

void tsri_hdf5_leave(void)
{
    (void)library.H5PLset_loading_state(before.plugins);
    (void)library.H5Eset_auto2(0, before.print, before.context);
    tsri_unlock(&lock);
}
