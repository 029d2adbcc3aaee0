/* fuzz.h - fuzz targets: functions that take any bytes.
 *
 * A program here defines fuzz_targets; fuzz.c runs them. Built by any compiler (TSR_FUZZ_MAIN), it
 * replays the corpus of each target, tests/fuzz/corpus/NAME/, and then a fixed number of mutants:
 *
 *     fuzz_files [--target=NAME] [--runs=N] [--seed=N] [INPUT...]     INPUT: these files alone
 *     fuzz_files --list                                               the names of its targets
 *
 * Built with clang's -fsanitize=fuzzer (cmake -DTSR_FUZZER=ON) it is a libFuzzer program of one
 * target, the first unless it is named, whose mutants are repaired in the same way:
 *
 *     fuzz_files --target=NAME [libFuzzer's options] CORPUS...
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_target {
    const char *name;
    /* Is this input taken, rather than refused? Calls fuzz_must. */
    bool (*run)(const uint8_t *data, size_t size);
    /* Makes lengths and checksums agree with what is there, so that readers go on; the size stays.
     * NULL: there are none. */
    void (*repair)(uint8_t *data, size_t size);
    const char *const *words;  /* that mutants get; ends with NULL */
    long runs;                 /* mutants of a plain run */
} fuzz_target;

extern const fuzz_target fuzz_targets[];  /* a NULL name ends them */

/* Ends the program with words unless ok. */
void fuzz_must(bool ok, const char *what);

/* A copy with a 0 behind it, at most `most` bytes, that ends where its block does. NULL: no memory. */
char *fuzz_text(const uint8_t *data, size_t size, size_t most);

/* Numbers from the front of an input, which then begins behind them; 0 once it is used up. */
typedef struct fuzz_input { const uint8_t *at, *end; } fuzz_input;

uint64_t fuzz_take(fuzz_input *in, int bytes);

/* Mostly a small number, from -2 on; sometimes any of 64 bits. */
int64_t fuzz_take_size(fuzz_input *in);

#endif
