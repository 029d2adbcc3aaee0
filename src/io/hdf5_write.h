/* hdf5_write.h - what is written of HDF5 (hdf5_write.c). */
#ifndef TSRI_HDF5_WRITE_H
#define TSRI_HDF5_WRITE_H

#include "io_int.h"

enum { TSRI_HDF5_DEEPEST = 32, TSRI_HDF5_LONGEST = 8192 }; /* groups in groups; bytes of a path */

tsr_status tsri_hdf5_plan(tsr_writer *w, tsri_file_entry *p);
tsr_status tsri_hdf5_add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t);
tsr_status tsri_hdf5_finish(tsr_writer *w);

#endif
