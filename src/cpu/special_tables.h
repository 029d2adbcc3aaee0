/* special_tables.h - polynomials and zeros of special_math.h, made by tools/make_special_tables.py. */
#ifndef TSRI_SPECIAL_TABLES_H
#define TSRI_SPECIAL_TABLES_H

/* lgamma(x) / ((x - 1) (x - 2)), 1/2 to 1; to 2^-55.6. */
static const double tsri_lgamma_half[] = {
    0x1.4d0e35f51a18bp-1, -0x1.68d0e724a2f56p-4, 0x1.2d24b6e9d82b8p-6, -0x1.27d8568c437d5p-8,
    0x1.3aa2bb2038fadp-10, -0x1.5e2fbad65e6cdp-12, 0x1.915a51ac16ca0p-14, -0x1.d592181172e47p-16,
    0x1.16f3ffa1a9bc4p-17, -0x1.4f701d571d0a7p-19, 0x1.9749944703bbcp-21, -0x1.f280e6f823101p-23,
    0x1.332d55af2632ap-24, -0x1.7cb25b50c7f77p-26, 0x1.d8eb3328546dap-28, -0x1.27c60897e8749p-29,
    0x1.7f505cb9e97c8p-31, -0x1.e32ef7f80c408p-33, 0x1.d4a97bdb15046p-35, -0x1.2826690bbbf72p-36,
    0x1.ab30d1e0199a9p-37, -0x1.108eb0b2adcd9p-38,
};

/* the same, 1 to 2; to 2^-54.4. */
static const double tsri_lgamma_one[] = {
    0x1.eeb95b094c191p-2, -0x1.2aed059bd608ap-4, 0x1.01af62a2929c0p-6, -0x1.007aa83cee1acp-8,
    0x1.133423527f1f2p-10, -0x1.34dbda14971e2p-12, 0x1.64f0664c4f943p-14, -0x1.a5035232a7d25p-16,
    0x1.f814bab49d011p-18, -0x1.313e8a3ddad6fp-19, 0x1.750a7900f071ep-21, -0x1.cb44dee9fac00p-23,
    0x1.1c7e3a261c9ebp-24, -0x1.623f109df00eep-26, 0x1.b9e43433855c2p-28, -0x1.156abea920aefp-29,
    0x1.68f13e0fbb796p-31, -0x1.c85e4bc95846cp-33, 0x1.ba730a9784e07p-35, -0x1.18598e23bb974p-36,
    0x1.9759e019683d0p-37, -0x1.0467902760469p-38,
};

/* the same, 2 to 3; to 2^-53.5. */
static const double tsri_lgamma_two[] = {
    0x1.84afe00cddfdfp-2, -0x1.31d26e932300fp-5, 0x1.462044b0af66fp-8, -0x1.8a722dfc5e8b7p-11,
    0x1.feef08b133995p-14, -0x1.59511fff10c94p-16, 0x1.e05c3c3939309p-19, -0x1.5501ac6d32794p-21,
    0x1.eb8f7679dae04p-24, -0x1.666fe83c397adp-26, 0x1.07c6f47198790p-28, -0x1.87425c30165f5p-31,
    0x1.23d8f42f9b7aap-33, -0x1.b0bcc001dae26p-36, 0x1.45cd99744a0f0p-38, -0x1.22d6fdd22620ep-40,
    0x1.b9756a3c95d9ap-43,
};

/* lgamma(x) / ((x - a) (x - b)) between its first zeros below 0, a and b: -89/32 to -39/16; to 2^-54.4. */
static const double tsri_lgamma_pair_rest[] = {
    0x1.684996bd71967p+2, -0x1.87077b33836e1p-1, 0x1.98d32fe497537p-2, -0x1.b72af2019112fp-4,
    0x1.82f60bd774375p-5, -0x1.05e387308b9e8p-6, 0x1.b2da95e398615p-8, -0x1.459b7a45dc78fp-9,
    0x1.0a2323b23196ep-10, -0x1.a285052a10facp-12, 0x1.5632bfce09e4fp-13, -0x1.1426bd44ab24ep-14,
    0x1.c6130df962671p-16, -0x1.741b37347a165p-17, 0x1.3376eb7082523p-18, -0x1.fcffc2fa07378p-20,
    0x1.ae2c30fa910b7p-21, -0x1.66c3565452cb4p-22, 0x1.0886605c9aa57p-23, -0x1.baa7ca0993a5bp-25,
    0x1.3e2b5b44beff1p-25, -0x1.0d002f9639d87p-26, -0x1.62fceb920f610p-29, 0x1.32684f3204d59p-30,
    0x1.76548bb4e934cp-29, -0x1.3e57116c7bb23p-30,
};

/* digamma(x) / (x - its zero), 1 to 2; to 2^-54.3. */
static const double tsri_digamma_one[] = {
    0x1.e6f0cbb873616p-1, -0x1.b1cb63005ee96p-3, 0x1.eca189b8e6f7bp-5, -0x1.2feeeb98a7e14p-6,
    0x1.8512e59037f3fp-8, -0x1.fb4420299c39ep-10, 0x1.4de9aa17fed5cp-11, -0x1.b9f8b14eb372ep-13,
    0x1.256471573c163p-14, -0x1.8635595c28480p-16, 0x1.03c0b29031197p-17, -0x1.5a07ffdcf1525p-19,
    0x1.cd1f2dbc0dbedp-21, -0x1.335166d938f39p-22, 0x1.99e14548a2d9bp-24, -0x1.1138fd323dc0cp-25,
    0x1.69be71d89ad40p-27, -0x1.e24e3f4fdc1dcp-29, 0x1.56ae8897d5d3dp-30, -0x1.c8e71b670fd14p-32,
    0x1.80c273fb322c5p-34, -0x1.0081238b97022p-35, 0x1.0080971c5617fp-35, -0x1.5600aebc07538p-37,
};

/* sqrt(x) exp(-x) i0(x) in 8 / x, 0 to 1; to 2^-53.8. */
static const double tsri_i0_large[] = {
    0x1.9bd428ad249a5p-2, 0x1.b87969bb93bcbp-9, 0x1.1daa72b5ccfadp-13, 0x1.75e5ee702e57ap-17,
    0x1.8e513c6a21829p-20, 0x1.3f49ac32e14bfp-22, 0x1.7d0cd4fd1f2b8p-24, 0x1.51ccdc47b6c77p-25,
    0x1.7288379f891f7p-26, 0x1.03bcdeab408e2p-27, -0x1.d72c8d3f0b6bcp-28, -0x1.cd5da3da6b614p-27,
    -0x1.58ce729fc478ap-28, 0x1.05248ba2f26a0p-27, 0x1.c034e59a2db9bp-28, -0x1.ece52144ada18p-29,
    -0x1.3756a636aa04fp-28, 0x1.ba2352eb42f20p-30, 0x1.295fc465ff477p-29, -0x1.5be16a36a0da0p-31,
    -0x1.650b3e7f898b0p-31, 0x1.852f5d42d1ca3p-33, 0x1.90df137cc1a36p-34, -0x1.ada2c97f3fdddp-36,
};

/* erfinv(x) / x in x^2, 0 to 9/16; to 2^-53.8. */
static const double tsri_erfinv_middle[] = {
    0x1.ed943e7c761e6p-1, 0x1.7ed81a6bcf2d3p-4, 0x1.429eb204f885bp-6, 0x1.5304c36fbe439p-8,
    0x1.8bc3c9b25c463p-10, 0x1.eb4f2f93e857fp-12, 0x1.3d7fff5f8e8dfp-13, 0x1.a63101a050233p-15,
    0x1.1eb1908b431f1p-16, 0x1.8bc3dc90e662dp-18, 0x1.14bb2ad05154fp-19, 0x1.8719fc456c770p-21,
    0x1.16c6546c3fdcep-22, 0x1.90653c4f19f2dp-24, 0x1.21d5792f44c07p-25, 0x1.a53912a344783p-27,
    0x1.2d7d85b570ac8p-28, 0x1.b9e06ff227915p-30, 0x1.77ad44d4a70d6p-31, 0x1.15ec4e62a513cp-32,
    0x1.1f5e5d6e280bcp-35, 0x1.a39f7acf558a2p-37, 0x1.e64a03c3938cfp-36, 0x1.6c016f8133adfp-37,
};

/* erfinv(x) / t in t = sqrt(-log(1 - x)), 37/32 to 15/8; to 2^-53.2. */
static const double tsri_erfinv_tail_0[] = {
    0x1.884638450517ap-1, 0x1.0a3a217bce1f0p-4, -0x1.b85cc95b933bap-7, 0x1.314de14493d95p-9,
    -0x1.61372816a0c14p-12, 0x1.313df816f4c72p-15, -0x1.495edcdd41026p-20, -0x1.8c5b8f2a78e2cp-21,
    0x1.245002d979e94p-22, -0x1.0d389e1291856p-24, 0x1.7b5b7e97adb65p-27, -0x1.89e8f9c12553ap-30,
    0x1.774b3ba40096cp-34, 0x1.a708841938bc0p-36, -0x1.dacfd4c7a7f08p-37, 0x1.c0d115eb8bda3p-39,
};

/* the same, 15/8 to 3; to 2^-56.6. */
static const double tsri_erfinv_tail_1[] = {
    0x1.becc5f66c8745p-1, 0x1.4aa10922db720p-5, -0x1.43aa1b76606a1p-7, 0x1.19428ae8e84d1p-9,
    -0x1.c1878af7935b4p-12, 0x1.4ccf31109e15ap-14, -0x1.c48234f9fd255p-17, 0x1.11eaf2904dc99p-19,
    -0x1.0e03f93ef8301p-22, 0x1.189ebc35f9690p-26, 0x1.e2107ccb78f77p-29, -0x1.0af967e33f269p-29,
    0x1.4589a8cd330d8p-31, -0x1.3ffa0bb8d63f3p-33, 0x1.17e92f8774f2ep-35, -0x1.e3e5814a55471p-38,
    0x1.3e900886b794ep-40,
};

/* the same, 3 to 9/2; to 2^-54.5. */
static const double tsri_erfinv_tail_2[] = {
    0x1.dced6e0cc9334p-1, 0x1.5026163b59d77p-6, -0x1.3a8afec5c78d4p-8, 0x1.09c1f66d6c1c4p-10,
    -0x1.a6a7f210ddd4ap-13, 0x1.418dd3d1a387ep-15, -0x1.d766c153600e0p-18, 0x1.4da80ac6d9ac3p-20,
    -0x1.c78b51af1e3a0p-23, 0x1.2a8a97f40442ep-25, -0x1.73fead38d9915p-28, 0x1.b0602c454dd95p-31,
    -0x1.c4bbc2ec9879ap-34, 0x1.798254068752ap-37, 0x1.2290e307b19eep-46, -0x1.6523925cdce65p-42,
};

/* the same, 9/2 to 49/8; to 2^-57.8. */
static const double tsri_erfinv_tail_3[] = {
    0x1.eb73b880dcbcdp-1, 0x1.3b91ce627f533p-7, -0x1.da2df81a0f8ecp-10, 0x1.432e48e3cf0f4p-12,
    -0x1.a14894a4c11b8p-15, 0x1.03d617e50eb8fp-17, -0x1.3aee0c45ac83ap-20, 0x1.754a413ed1673p-23,
    -0x1.b1d931ecbee02p-26, 0x1.ef082547333ebp-29, -0x1.1558d43d50ca0p-31, 0x1.30fb9c8cafab2p-34,
    -0x1.4814068c2f5a5p-37, 0x1.5990eb936cd3bp-40, -0x1.77bf7cd6d24dap-43, 0x1.715bb1116d051p-46,
};

/* lgamma(x) / ((x - 1) (x - 2)), 1 to 2; to 2^-30.5. */
static const double tsri_coarse_lgamma_one[] = {
    0x1.eeb95b094c191p-2, -0x1.2aed066becb08p-4, 0x1.01af63a50726cp-6, -0x1.0079a563308a1p-8,
    0x1.1332e1d51e0eap-10, -0x1.353552c14254fp-12, 0x1.655f826c89946p-14, -0x1.988c90046849ep-16,
    0x1.e89b3399e7d51p-18, -0x1.8fa283365d177p-19, 0x1.ea2c99a990075p-21,
};

/* digamma(x) / (x - its zero), 1 to 2; to 2^-30.5. */
static const double tsri_coarse_digamma_one[] = {
    0x1.e6f0cbb359415p-1, -0x1.b1cb62f991d8ep-3, 0x1.eca1a0a5664dep-5, -0x1.2feefae001d2ep-6,
    0x1.850a9b11ed80ep-8, -0x1.fb3912e2595f9p-10, 0x1.4f00033578b98p-11, -0x1.bb6bba9c1d8b7p-13,
    0x1.1523973099fbep-14, -0x1.708afcc34f540p-16, 0x1.6fc2a8cc1ee58p-17, -0x1.ea009c96737f3p-19,
};

/* sqrt(x) exp(-x) i0(x) in 8 / x, 0 to 1; to 2^-32.8. */
static const double tsri_coarse_i0_large[] = {
    0x1.9bd428ad249a5p-2, 0x1.b8796bd2e8153p-9, 0x1.1daa985443708p-13, 0x1.75cb37f31d60bp-17,
    0x1.8d544aec3b623p-20, 0x1.49c5ed2f4c189p-22, 0x1.b7129c83cf544p-24, 0x1.10994e1ed13bap-25,
    0x1.b9a6ad71afdc1p-29,
};

/* erfinv(x) / x in x^2, 0 to 9/16; to 2^-31.9. */
static const double tsri_coarse_erfinv_middle[] = {
    0x1.ed943e7ad11b4p-1, 0x1.7ed81a670fedep-4, 0x1.429ec0cb3072cp-6, 0x1.5304d8c24e2f5p-8,
    0x1.8bb91dc12aeb7p-10, 0x1.eb3fc931c1500p-12, 0x1.3ee535224bca7p-13, 0x1.a83460515d347p-15,
    0x1.09f3d56149828p-16, 0x1.6dda4645e5815p-18, 0x1.9cea1ccdb7bdfp-19, 0x1.25aa250691007p-20,
};

/* erfinv(x) / t in t = sqrt(-log(1 - x)), 37/32 to 33/8; to 2^-29.9. */
static const double tsri_coarse_erfinv_tail[] = {
    0x1.c5a632a3d6130p-1, 0x1.6f68636761c2ep-4, -0x1.c00c7fdfeeed2p-5, 0x1.e74e379a0a112p-6,
    -0x1.ea99a21a92d6fp-7, 0x1.cdd684b1eeeeep-8, -0x1.95d80865973fbp-9, 0x1.4b73e180a8625p-10,
    -0x1.d7a786b420fc3p-12, 0x1.6f539ec8fc3d4p-14, 0x1.ad5b706d58e2cp-19, 0x1.a0c561ba99e00p-16,
    0x1.63fa6766778d9p-19, -0x1.553a8d6f1766ap-15, 0x1.49aada403dab1p-16,
};

/* Where digamma is 0. */
#define TSRI_DIGAMMA_ZERO     0x1.762d86356be3fp+0
#define TSRI_DIGAMMA_ZERO_LOW 0x1.b86a722197829p-54

/* lgamma is 0 at -n + e, in two doubles: for n from 2 to 17, e above 0 and below. */
static const double tsri_lgamma_zeros[][2][2] = {
    { { 0x0.0p+0, 0x0.0p+0 },
      { -0x1.d3fe4b007c361p-2, 0x1.541360cea0e60p-56 } },
    { { 0x1.025f7af2137fap-2, -0x1.7995a4b4641ebp-56 },
      { -0x1.260dbc9e59af8p-3, 0x1.1d065994b0991p-58 } },
    { { 0x1.6e3aae0f406bdp-5, 0x1.e5753daddb926p-61 },
      { -0x1.4273c2ccac062p-5, 0x1.e307a790f3f77p-59 } },
    { { 0x1.1510b222a0657p-7, 0x1.e5eab7f12cef6p-61 },
      { -0x1.0d4afe16db219p-7, -0x1.498adcb2a729cp-61 } },
    { { 0x1.6d0a6e0bf2a09p-10, -0x1.4ed62cbd31ee0p-64 },
      { -0x1.6b25897c8ced8p-10, -0x1.f0b65b458e173p-66 } },
    { { 0x1.a044a3c880185p-13, 0x1.d949a3dc02de1p-68 },
      { -0x1.9fef6ff0f5be9p-13, 0x1.be919233c3eaap-67 } },
    { { 0x1.a01fa98c3c356p-16, 0x1.7d4add4f3562dp-72 },
      { -0x1.a01459fc9f60dp-16, 0x1.30c4f8c4dea26p-70 } },
    { { 0x1.71ded0bf801bdp-19, -0x1.3a55d249679f9p-74 },
      { -0x1.71dda3ec36b6cp-19, -0x1.0ffb70d477adfp-74 } },
    { { 0x1.27e50808cbe75p-22, 0x1.1885afab83963p-76 },
      { -0x1.27e4eee649ed1p-22, -0x1.d95e15441e031p-76 } },
    { { 0x1.ae64583932495p-26, -0x1.a55b7a31a0b4ap-81 },
      { -0x1.ae6454c576597p-26, 0x1.90015bf1b415cp-80 } },
    { { 0x1.1eed8f18f0438p-29, -0x1.acc3d3c978bd8p-84 },
      { -0x1.1eed8ee62acf8p-29, -0x1.e04a1e70f241cp-85 } },
    { { 0x1.6124613d00d0bp-33, 0x1.001c54155b96cp-87 },
      { -0x1.612461380cd08p-33, 0x1.17237e0e47fbdp-87 } },
    { { 0x1.93974a8c3cf6cp-37, -0x1.f04e88bb6e247p-91 },
      { -0x1.93974a8bd29cfp-37, 0x1.09d47384560edp-91 } },
    { { 0x1.ae7f3e733f622p-41, -0x1.81b8fc4e9b9acp-95 },
      { -0x1.ae7f3e7337a1dp-41, 0x1.ef83d0b08e728p-95 } },
    { { 0x1.ae7f3e733bc16p-45, -0x1.2e72e4d113627p-100 },
      { -0x1.ae7f3e733b428p-45, -0x1.25fc9dc8f8bbfp-99 } },
    { { 0x1.952c77030ad84p-49, -0x1.c46a08a2e0091p-104 },
      { -0x1.952c77030ad11p-49, -0x1.db2968e993b44p-106 } },
};

#endif
