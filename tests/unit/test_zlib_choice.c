/* test_zlib_choice.c - TSR_ZLIB says which zlib is used, or none. It is read once, so that each choice has a
 * process of its own. */
#define _GNU_SOURCE 1
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/inflate.h"
#include "io/zlib.h"
#include "test.h"

/* Is zlib used when the variable says this? What is packed is unpacked either way. */
static int used_with(const char *wish)
{
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    static unsigned char plain[4000], packed[5000], back[4000];
    for (int i = 0; i < 4000; i++) plain[i] = (unsigned char)(i / 9);
    if (wish) setenv("TSR_ZLIB", wish, 1);
    else unsetenv("TSR_ZLIB");
    const size_t n = tsri_deflate(packed, plain, sizeof plain, true, scratch);
    size_t made = 0;
    const bool same = tsri_inflate(back, sizeof back, packed, n, NULL, &made) == TSRI_INFLATE_DONE &&
                      made == sizeof back && memcmp(back, plain, made) == 0;
    return same ? tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true) > 0 : 2;
}

static int in_a_process(const char *wish)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) exit(used_with(wish));
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

TEST(test_another_zlib_is_used_or_none)
{
    const int plain = in_a_process(NULL);
    EXPECT(plain <= 1);
    EXPECT(in_a_process("libz.so.1") == plain);
    EXPECT(in_a_process("none") == 0);
    EXPECT(in_a_process("no-such-library.so") == 0);
    EXPECT(in_a_process("libm.so.6") == 0);  /* a library without the functions of zlib */
}

/* Every room that is too small is told from one that is not. */
TEST(test_zlib_makes_all_or_nothing)
{
    static unsigned char plain[600], packed[1000], large[200000];
    uint64_t r = 8;
    for (size_t i = 0; i < sizeof large; i++) large[i] = (unsigned char)test_below(&r, 256);
    for (int last = 0; last < 2; last++)
        EXPECT(tsri_zlib_deflate(packed, sizeof packed, large, sizeof large, last) == 0);
    for (size_t i = 0; i < sizeof plain; i++) plain[i] = (unsigned char)test_below(&r, 7);
    for (int last = 0; last < 2; last++) {
        const size_t all = tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, last);
        if (all == 0) SKIP("zlib is not installed");
        for (size_t room = 0; room < all + 9; room++) {
            const size_t made = tsri_zlib_deflate(packed, room, plain, sizeof plain, last);
            EXPECT_MSG(made == all || (made == 0 && room <= all), "%zu of %zu bytes in a room of %zu", made,
                       all, room);
        }
    }
}

/* zlib counts room by 32 bits: it is told of more in parts. */
TEST(test_zlib_takes_room_beyond_4_gib)
{
    const size_t room = (size_t)5 << 30;
    unsigned char plain[100], packed[200];
    for (int i = 0; i < 100; i++) plain[i] = (unsigned char)i;
    const size_t n = tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true);
    if (n == 0) SKIP("zlib is not installed");
    unsigned char *dst =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (dst == MAP_FAILED) SKIP("no addresses for 5 GiB");
    tsri_inflated result = TSRI_INFLATE_BAD;
    size_t made = 0;
    EXPECT(tsri_zlib_inflate(&result, dst, room, packed, n, NULL, &made) && result == TSRI_INFLATE_DONE);
    EXPECT(made == sizeof plain && memcmp(dst, plain, made) == 0);
    (void)munmap(dst, room);
}
