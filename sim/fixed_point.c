#include "fixed_point.h"

__extension__ typedef unsigned __int128 wide_t;

#define LN2 UINT64_C(49946518145322874) /* ln 2 in Q56 */

/* ln(1 + i/64) in Q56, rounded to nearest. */
static const uint64_t ln_table[64] = {
    UINT64_C(0),
    UINT64_C(1117194379296892),
    UINT64_C(2217331688082624),
    UINT64_C(3300924950408830),
    UINT64_C(4368464387551571),
    UINT64_C(5420418749682129),
    UINT64_C(6457236551723852),
    UINT64_C(7479347221550435),
    UINT64_C(8487162167882470),
    UINT64_C(9481075774528691),
    UINT64_C(10461466326985287),
    UINT64_C(11428696876841533),
    UINT64_C(12383116048934824),
    UINT64_C(13325058795745810),
    UINT64_C(14254847103118697),
    UINT64_C(15172790651027430),
    UINT64_C(16079187432780867),
    UINT64_C(16974324335764940),
    UINT64_C(17858477686553685),
    UINT64_C(18731913762980749),
    UINT64_C(19594889275545656),
    UINT64_C(20447651820332439),
    UINT64_C(21290440305439938),
    UINT64_C(22123485352761255),
    UINT64_C(22947009676802826),
    UINT64_C(23761228442099892),
    UINT64_C(24566349600663337),
    UINT64_C(25362574210781883),
    UINT64_C(26150096738402330),
    UINT64_C(26929105342217998),
    UINT64_C(27699782143510891),
    UINT64_C(28462303481715691),
    UINT64_C(29216840156602672),
    UINT64_C(29963557657911590),
    UINT64_C(30702616383208842),
    UINT64_C(31434171844685296),
    UINT64_C(32158374865561735),
    UINT64_C(32875371766722390),
    UINT64_C(33585304544154243),
    UINT64_C(34288311037730336),
    UINT64_C(34984525091838899),
    UINT64_C(35674076708326523),
    UINT64_C(36357092192192502),
    UINT64_C(37033694290442754),
    UINT64_C(37704002324485142),
    UINT64_C(38368132316423352),
    UINT64_C(39026197109583693),
    UINT64_C(39678306483587958),
    UINT64_C(40324567264265858),
    UINT64_C(40965083428682260),
    UINT64_C(41599956205537495),
    UINT64_C(42229284171183198),
    UINT64_C(42853163341481457),
    UINT64_C(43471687259721369),
    UINT64_C(44084947080794317),
    UINT64_C(44693031651817429),
    UINT64_C(45296027589383539),
    UINT64_C(45894019353605652),
    UINT64_C(46487089319114200),
    UINT64_C(47075317843156357),
    UINT64_C(47658783330938199),
    UINT64_C(48237562298342602),
    UINT64_C(48811729432148328),
    UINT64_C(49381357647868844),
};

/* exp(-i/64) in Q56, rounded to nearest; i/64 < ln 2 + 1/64. */
static const uint64_t exp_table[46] = {
    UINT64_C(72057594037927936), UINT64_C(70940444589522213), UINT64_C(69840614937964221),
    UINT64_C(68757836564692478), UINT64_C(67691845114139934), UINT64_C(66642380329192729),
    UINT64_C(65609185987649558), UINT64_C(64592009839666157), UINT64_C(63590603546169612),
    UINT64_C(62604722618227472), UINT64_C(61634126357356849), UINT64_C(60678577796758949),
    UINT64_C(59737843643464670), UINT64_C(58811694221377152), UINT64_C(57899903415197373),
    UINT64_C(57002248615219092), UINT64_C(56118510662979671), UINT64_C(55248473797753506),
    UINT64_C(54391925603874991), UINT64_C(53548656958878176), UINT64_C(52718461982440433),
    UINT64_C(51901137986117685), UINT64_C(51096485423858919), UINT64_C(50304307843287891),
    UINT64_C(49524411837740149), UINT64_C(48756606999043647), UINT64_C(48000705871031429),
    UINT64_C(47256523903775030), UINT64_C(46523879408527431), UINT64_C(45802593513364543),
    UINT64_C(45092490119514423), UINT64_C(44393395858363533), UINT64_C(43705140049129552),
    UINT64_C(43027554657190424), UINT64_C(42360474253059439), UINT64_C(41703735971996357),
    UINT64_C(41057179474244696), UINT64_C(40420646905885490), UINT64_C(39793982860297951),
    UINT64_C(39177034340217623), UINT64_C(38569650720382781), UINT64_C(37971683710759932),
    UINT64_C(37382987320339458), UINT64_C(36803417821492556), UINT64_C(36232833714880771),
    UINT64_C(35671095694909555),
};

uint64_t fixed_multiply(uint64_t a, uint64_t b) { return (uint64_t)((wide_t)a * b >> FIXED_BITS); }

uint64_t fixed_ratio(uint64_t numerator, uint64_t denominator) {
    ASSERT(denominator > 0 && numerator <= denominator);
    return (uint64_t)(((wide_t)numerator << FIXED_BITS) / denominator);
}

uint64_t fixed_scale(uint64_t whole, uint64_t factor) {
    wide_t product = (wide_t)whole * factor >> FIXED_BITS;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* ln(1 + d) for d < 1/64 by its series; the first term left out is d^9 / 9 < 2^-57. */
static uint64_t ln_series(uint64_t d) {
    int64_t sum = 0;
    for (int64_t n = 8; n >= 1; n--) {
        int64_t term = (int64_t)(FIXED_ONE / (uint64_t)n) - sum;
        sum = (int64_t)fixed_multiply((uint64_t)term, d);
    }
    return (uint64_t)sum;
}

uint64_t fixed_ln(uint64_t x) {
    ASSERT(x > 0);
    uint32_t exponent = log2_floor(x);
    uint64_t mantissa = x << (63 - exponent); /* [1, 2) in Q63 */
    uint64_t index = (mantissa >> 57) & 63;
    uint64_t base = (UINT64_C(64) + index) << 57;
    uint64_t d = (uint64_t)(((wide_t)(mantissa - base) << FIXED_BITS) / base);
    return exponent * LN2 + ln_table[index] + ln_series(d);
}

/* exp(-g) for g < 1/64; the first term left out is g^8 / 40320 < 2^-63. */
static uint64_t exp_series(uint64_t g) {
    uint64_t sum = FIXED_ONE;
    for (uint64_t n = 7; n >= 1; n--) sum = FIXED_ONE - fixed_multiply(g, sum) / n;
    return sum;
}

uint64_t fixed_exp_negative(uint64_t y) {
    uint64_t halvings = y / LN2, rest = y % LN2;
    if (halvings > FIXED_BITS) return 0;
    uint64_t index = rest >> (FIXED_BITS - 6);
    uint64_t g = rest - (index << (FIXED_BITS - 6));
    return fixed_multiply(exp_table[index], exp_series(g)) >> halvings;
}

/* exp(y) = 2^k * exp(rest) = 2^(k + 1) * exp(rest - ln 2), of which the last is in [1/2, 1). */
uint64_t fixed_scale_exp(uint64_t whole, uint64_t y) {
    uint64_t doublings = y / LN2 + 1;
    if (whole == 0) return 0;
    if (doublings > 64) return UINT64_MAX;
    wide_t product = (wide_t)whole * fixed_exp_negative(LN2 - y % LN2); /* < 2^120 */
    product = doublings <= FIXED_BITS ? product >> (FIXED_BITS - doublings)
                                      : product << (doublings - FIXED_BITS);
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}
