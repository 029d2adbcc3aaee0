/* hdf5_library.h - libhdf5, where it is installed: the functions that are called, and a lock around them.
 *
 * Found when it is first needed; TSR_HDF5 in the environment names another file, or none. The library keeps
 * state of the process and need not know threads: everything between tsri_hdf5_enter and tsri_hdf5_leave is
 * alone, prints nothing, and loads no plugins. */
#ifndef TSRI_HDF5_LIBRARY_H
#define TSRI_HDF5_LIBRARY_H

#include "io_int.h"

typedef int64_t tsri_hid;  /* since version 1.10 */

#define TSRI_HDF5_FUNCTIONS(X)                                                                              \
    X(int, H5open, (void))                                                                                  \
    X(int, H5get_libversion, (unsigned *, unsigned *, unsigned *))                                          \
    X(int, H5free_memory, (void *))                                                                         \
    X(int, H5Eget_auto2, (tsri_hid, int (**)(tsri_hid, void *), void **))                                   \
    X(int, H5Eset_auto2, (tsri_hid, int (*)(tsri_hid, void *), void *))                                     \
    X(int, H5PLget_loading_state, (unsigned *))                                                             \
    X(int, H5PLset_loading_state, (unsigned))                                                               \
    X(tsri_hid, H5Fopen, (const char *, unsigned, tsri_hid))                                                \
    X(tsri_hid, H5Fcreate, (const char *, unsigned, tsri_hid, tsri_hid))                                    \
    X(int, H5Fflush, (tsri_hid, int))                                                                       \
    X(int64_t, H5Fget_file_image, (tsri_hid, void *, size_t))                                               \
    X(int, H5Fclose, (tsri_hid))                                                                            \
    X(int, H5Gget_info, (tsri_hid, void *))                                                                 \
    X(int64_t, H5Lget_name_by_idx,                                                                          \
      (tsri_hid, const char *, int, int, uint64_t, char *, size_t, tsri_hid))                               \
    X(tsri_hid, H5Oopen, (tsri_hid, const char *, tsri_hid))                                                \
    X(int, H5Oclose, (tsri_hid))                                                                            \
    X(int, H5Iget_type, (tsri_hid))                                                                         \
    X(tsri_hid, H5Dopen2, (tsri_hid, const char *, tsri_hid))                                               \
    X(tsri_hid, H5Dcreate2, (tsri_hid, const char *, tsri_hid, tsri_hid, tsri_hid, tsri_hid, tsri_hid))     \
    X(tsri_hid, H5Dget_type, (tsri_hid))                                                                    \
    X(tsri_hid, H5Dget_space, (tsri_hid))                                                                   \
    X(tsri_hid, H5Dget_create_plist, (tsri_hid))                                                            \
    X(uint64_t, H5Dget_offset, (tsri_hid))                                                                  \
    X(int, H5Dread, (tsri_hid, tsri_hid, tsri_hid, tsri_hid, tsri_hid, void *))                             \
    X(int, H5Dwrite, (tsri_hid, tsri_hid, tsri_hid, tsri_hid, tsri_hid, const void *))                      \
    X(int, H5Dclose, (tsri_hid))                                                                            \
    X(int, H5Sget_simple_extent_type, (tsri_hid))                                                           \
    X(int, H5Sget_simple_extent_ndims, (tsri_hid))                                                          \
    X(int, H5Sget_simple_extent_dims, (tsri_hid, uint64_t *, uint64_t *))                                   \
    X(tsri_hid, H5Screate, (int))                                                                           \
    X(tsri_hid, H5Screate_simple, (int, const uint64_t *, const uint64_t *))                                \
    X(int, H5Sclose, (tsri_hid))                                                                            \
    X(int, H5Tget_class, (tsri_hid))                                                                        \
    X(size_t, H5Tget_size, (tsri_hid))                                                                      \
    X(size_t, H5Tget_precision, (tsri_hid))                                                                 \
    X(int, H5Tget_sign, (tsri_hid))                                                                         \
    X(int, H5Tget_order, (tsri_hid))                                                                        \
    X(int, H5Tget_fields, (tsri_hid, size_t *, size_t *, size_t *, size_t *, size_t *))                     \
    X(int, H5Tget_nmembers, (tsri_hid))                                                                     \
    X(char *, H5Tget_member_name, (tsri_hid, unsigned))                                                     \
    X(tsri_hid, H5Tget_member_type, (tsri_hid, unsigned))                                                   \
    X(tsri_hid, H5Tget_super, (tsri_hid))                                                                   \
    X(tsri_hid, H5Tcopy, (tsri_hid))                                                                        \
    X(tsri_hid, H5Tcreate, (int, size_t))                                                                   \
    X(int, H5Tinsert, (tsri_hid, const char *, size_t, tsri_hid))                                           \
    X(tsri_hid, H5Tenum_create, (tsri_hid))                                                                 \
    X(int, H5Tenum_insert, (tsri_hid, const char *, const void *))                                          \
    X(int, H5Tset_fields, (tsri_hid, size_t, size_t, size_t, size_t, size_t))                               \
    X(int, H5Tset_size, (tsri_hid, size_t))                                                                 \
    X(int, H5Tset_ebias, (tsri_hid, size_t))                                                                \
    X(int, H5Tclose, (tsri_hid))                                                                            \
    X(tsri_hid, H5Pcreate, (tsri_hid))                                                                      \
    X(int, H5Pset_fapl_core, (tsri_hid, size_t, bool))                                                      \
    X(int, H5Pset_file_image, (tsri_hid, void *, size_t))                                                   \
    X(int, H5Pset_create_intermediate_group, (tsri_hid, unsigned))                                          \
    X(int, H5Pset_chunk, (tsri_hid, int, const uint64_t *))                                                 \
    X(int, H5Pset_deflate, (tsri_hid, unsigned))                                                            \
    X(int, H5Pget_external_count, (tsri_hid))                                                               \
    X(int, H5Pget_layout, (tsri_hid))                                                                       \
    X(int, H5Pclose, (tsri_hid))

/* Variables of the library that hold ids. */
#define TSRI_HDF5_IDS(X)                                                                                    \
    X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_LINK_CREATE_ID_g) X(H5P_CLS_DATASET_CREATE_ID_g)                  \
    X(H5T_STD_I8LE_g) X(H5T_STD_I16LE_g) X(H5T_STD_I32LE_g) X(H5T_STD_I64LE_g)                              \
    X(H5T_STD_U8LE_g) X(H5T_STD_U16LE_g) X(H5T_STD_U32LE_g) X(H5T_STD_U64LE_g)                              \
    X(H5T_IEEE_F32LE_g) X(H5T_IEEE_F64LE_g)

typedef struct tsri_hdf5_library {
#define X(result, name, arguments) result (*name) arguments;
    TSRI_HDF5_FUNCTIONS(X)
#undef X
#define X(name) const tsri_hid *name;
    TSRI_HDF5_IDS(X)
#undef X
    int (*link_info)(tsri_hid, const char *, void *, tsri_hid);  /* of any version: the type comes first */
    bool found;
} tsri_hdf5_library;

/* Waits for the library and gives it, or says which package to install. tsri_hdf5_leave follows success. */
tsr_status tsri_hdf5_enter(const tsri_hdf5_library **out, const char *op, const char *path);
void       tsri_hdf5_leave(void);

#endif
