/* font.c - the letters of pictures made of pixels: strokes of one width with round ends, lines and parabolas.
 *
 * A glyph is its width and then strokes, M to begin one, L for a line, Q for a parabola with its control
 * point; each is followed by places x y, digits of base 36. Capitals stand between 0 and the baseline,
 * e (14), small letters begin at 4, and descenders reach to i (18).
 */
#include "canvas.h"

static const char *const glyphs[95] = {
    "3",                                                                /* space */
    "0M00L0aM0eL0e",                                                    /* ! */
    "3M00L04M30L34",                                                    /* " */
    "8M31L1dM71L5dM05L85M09L89",                                        /* # */
    "8M84Q7141Q0104Q0747Q878aQ8d4dQ1d0aM40L4e",                         /* $ */
    "aM20Q4043Q4626Q0603Q0020M88Qa8abQae8eQ6e6bQ6888M90L1e",            /* % */
    "9M9eL24Q1040Q7063L18Q0a0bQ0e3eQ7e98",                              /* & */
    "0M00L04",                                                          /* ' */
    "3M30Q0308Q0d3g",                                                   /* ( */
    "3M00Q3338Q3d0g",                                                   /* ) */
    "6M31L39M03L67M63L07",                                              /* * */
    "8M43L4bM07L87",                                                    /* + */
    "1M1dL1eQ1g0h",                                                     /* , */
    "5M08L58",                                                          /* - */
    "0M0eL0e",                                                          /* . */
    "5M0gL50",                                                          /* / */
    "8M40Q8085L89Q8e4eQ0e09L05Q0040",                                   /* 0 */
    "8M23L50L5e",                                                       /* 1 */
    "8M04Q0040Q8084Q880eL8e",                                           /* 2 */
    "8M02Q1040Q8083Q8747L37M47Q878aQ8e4eQ1e0c",                         /* 3 */
    "8M6eL60L0aL8a",                                                    /* 4 */
    "8M70L10L07Q2545Q8589Q8e4eQ1e0c",                                   /* 5 */
    "8M72Q6040Q0007L0aQ0e4eQ8e8aQ8646Q060a",                            /* 6 */
    "8M00L80Q373e",                                                     /* 7 */
    "8M40Q8083Q8747Q0703Q0040M47Q878aQ8e4eQ0e0aQ0747",                  /* 8 */
    "8M1cQ2e4eQ8e87L84Q8040Q0004Q0848Q8884",                            /* 9 */
    "0M05L05M0eL0e",                                                    /* : */
    "1M15L15M1dL1eQ1g0h",                                               /* ; */
    "7M72L07L7c",                                                       /* < */
    "8M05L85M09L89",                                                    /* = */
    "7M02L77L0c",                                                       /* > */
    "7M03Q0030Q7074Q7738L3aM3eL3e",                                     /* ? */
    "cMbdQ9g6gQ0g08Q0060Qc0c7QcbabQ8b88L84M88Q8454Q4448Q4b5bQ8b88",     /* @ */
    "aM0eL50LaeM29L89",                                                 /* A */
    "8M00L0eL4eQ8e8aQ8747L07M00L40Q7073Q7747",                          /* B */
    "9M93Q8050Q0007Q0e5eQ8e9b",                                         /* C */
    "9M00L0eL4eQ9e97Q9040L00",                                          /* D */
    "7M70L00L0eL7eM07L67",                                              /* E */
    "7M70L00L0eM07L67",                                                 /* F */
    "9M93Q8050Q0007Q0e5eQ9e99L98L58",                                   /* G */
    "8M00L0eM80L8eM07L87",                                              /* H */
    "0M00L0e",                                                          /* I */
    "5M50L5aQ5e2eQ0e0b",                                                /* J */
    "8M00L0eM80L09M36L8e",                                              /* K */
    "7M00L0eL7e",                                                       /* L */
    "aM0eL00L59La0Lae",                                                 /* M */
    "8M0eL00L8eL80",                                                    /* N */
    "aM50Qa0a7Qae5eQ0e07Q0050",                                         /* O */
    "8M0eL00L40Q8084Q8848L08",                                          /* P */
    "aM50Qa0a7Qae5eQ0e07Q0050M6bLae",                                   /* Q */
    "8M0eL00L40Q8084Q8848L08M48L8e",                                    /* R */
    "8M83Q7040Q0003Q0747Q878aQ8e4eQ1e0b",                               /* S */
    "8M00L80M40L4e",                                                    /* T */
    "8M00L09Q0e4eQ8e89L80",                                             /* U */
    "8M00L4eL80",                                                       /* V */
    "cM00L3eL62L9eLc0",                                                 /* W */
    "8M00L8eM80L0e",                                                    /* X */
    "8M00L47L80M47L4e",                                                 /* Y */
    "8M00L80L0eL8e",                                                    /* Z */
    "3M30L00L0gL3g",                                                    /* [ */
    "5M00L5g",                                                          /* \ */
    "3M00L30L3gL0g",                                                    /* ] */
    "6M05L30L65",                                                       /* ^ */
    "8M0gL8g",                                                          /* _ */
    "2M00L22",                                                          /* ` */
    "7M74L7eM78Q6434Q0409Q0e3eQ6e7a",                                   /* a */
    "7M00L0eM08Q1444Q7479Q7e4eQ1e0a",                                   /* b */
    "6M66Q5434Q0409Q0e3eQ5e6c",                                         /* c */
    "7M70L7eM78Q6434Q0409Q0e3eQ6e7a",                                   /* d */
    "7M09L79Q7444Q0409Q0e4eQ6e7c",                                      /* e */
    "5M50Q2023L2eM04L54",                                               /* f */
    "7M78Q6434Q0409Q0e3eQ6e7aM74L7eQ7i3iQ1i0g",                         /* g */
    "7M00L0eM08Q1444Q7478L7e",                                          /* h */
    "0M04L0eM00L00",                                                    /* i */
    "2M24L2fQ2i0iM20L20",                                               /* j */
    "6M00L0eM64L0aM38L6e",                                              /* k */
    "2M00L0cQ0e2e",                                                     /* l */
    "aM04L0eM08Q1434Q5458L5eM58Q6484Qa4a8Lae",                          /* m */
    "7M04L0eM08Q1444Q7478L7e",                                          /* n */
    "8M44Q8489Q8e4eQ0e09Q0444",                                         /* o */
    "7M04L0iM08Q1444Q7479Q7e4eQ1e0a",                                   /* p */
    "7M74L7iM78Q6434Q0409Q0e3eQ6e7a",                                   /* q */
    "4M04L0eM08Q1444",                                                  /* r */
    "6M66Q5434Q0406Q0939Q696bQ6e3eQ1e0c",                               /* s */
    "5M21L2bQ2e5eM04L54",                                               /* t */
    "7M04L0aQ0e3eQ6e7aM74L7e",                                          /* u */
    "6M04L3eL64",                                                       /* v */
    "aM04L3eL55L7eLa4",                                                 /* w */
    "6M04L6eM64L0e",                                                    /* x */
    "6M04L3eM64L3eQ2i0i",                                               /* y */
    "6M04L64L0eL6e",                                                    /* z */
    "4M40Q2024L26Q2808Q282aL2cQ2g4g",                                   /* { */
    "0M00L0g",                                                          /* | */
    "4M00Q2024L26Q2848Q282aL2cQ2g0g",                                   /* } */
    "8M08Q2547Q6986",                                                   /* ~ */
};

/* A box for what has no glyph; the bytes that go on a character of UTF-8 have none at all. */
const char *font_glyph(char c)
{
    const unsigned char byte = (unsigned char)c;
    if (byte >= 32 && byte < 127) return glyphs[byte - 32];
    return byte >= 0x80 && byte < 0xc0 ? "" : "7M00L70L7eL0eL00";
}
