/* repair.h - lengths and checksums of files made right, so that mutants get past them.
 *
 * Each takes a file that may be anything, changes what is wrong where it can tell, and leaves the
 * size as it is. */
#ifndef TESTS_FUZZ_REPAIR_H
#define TESTS_FUZZ_REPAIR_H

#include <stddef.h>
#include <stdint.h>

void repair_npy(uint8_t *p, size_t size);          /* the length of the header */
void repair_npz(uint8_t *p, size_t size);          /* sizes, places, checksums, directory; npy headers */
void repair_safetensors(uint8_t *p, size_t size);  /* the length of the header */
void repair_gguf(uint8_t *p, size_t size);         /* counts, lengths of texts and arrays, places */
void repair_onnx(uint8_t *p, size_t size);         /* lengths of messages */
void repair_png(uint8_t *p, size_t size);          /* lengths, checksums, the height of the image */
void repair_hdf5(uint8_t *p, size_t size);         /* checksums of the first block and of headers */

#endif
