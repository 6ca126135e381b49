#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"

#define SWEEPS 4000 /* of the descent; a few hundred suffice */
#define TRUST  0.01 /* in the built-in price: doubling one is as bad as missing a figure by 10 % */
#define PASSES 4    /* machine's ratio and prices in turn */

const char *const figure_names[FIGURES] = {
#define X(id, name) name,
    FIGURE_LIST(X)
#undef X
};

/* Not measured alone: too small to be seen, and without weight in what is measured. */
static const enum cost_op inferred[] = {COST_APART, COST_CYCLE, COST_CYCLE_DB, COST_BUCKET_STEP,
                                        COST_REHASH_BUCKET};

/* Figures that tell how far the prices are off, as no price is made from them: the engine's linear
 * prices cannot meet what they show, or they are mixtures of what others show. */
static const enum figure_id checks[] = {FIGURE_FAR, FIGURE_DEL_64K, FIGURE_DEL_1M, FIGURE_PX_OLD,
                                        FIGURE_R_SET_NEW};

/* Operations whose price, against the built-in one, says how fast this machine is. */
static const enum cost_op yardstick[] = {COST_COMMAND, COST_LOOKUP, COST_INSERT, COST_OVERWRITE,
                                         COST_DELETE};

/* ---- figures -------------------------------------------------------------------------------- */

void figure_add(struct figure *figure, double ps) {
    if (figure->count < ROUNDS_MAX) figure->samples[figure->count++] = ps;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t count, double share) {
    double place = share * (count - 1);
    uint32_t low = (uint32_t)place, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

void figure_settle(struct figure *figure) {
    double sorted[ROUNDS_MAX];
    if (figure->count == 0) return;
    memcpy(sorted, figure->samples, figure->count * sizeof(*sorted));
    qsort(sorted, figure->count, sizeof(*sorted), compare);
    figure->median_ps = quantile(sorted, figure->count, 0.5);
    double between = quantile(sorted, figure->count, 0.75) - quantile(sorted, figure->count, 0.25);
    figure->spread = figure->median_ps > 0 ? between / figure->median_ps : 0;
}

/* ---- the fit -------------------------------------------------------------------------------- */

struct solving {
    const struct figure *figures;
    double value[FIGURES]; /* ps a unit; 0: not in the fit */
    double ps[COST_COUNT];
    double prior[COST_COUNT]; /* the built-in price at this machine's speed */
    bool fitted[COST_COUNT];
};

static double sum_of(const double counts[COST_COUNT], const double ps[COST_COUNT]) {
    double sum = 0;
    for (int op = 0; op < COST_COUNT; op++) sum += counts[op] * ps[op];
    return sum;
}

static bool is_check(int figure) {
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
        if ((int)checks[i] == figure) return true;
    return false;
}

static bool is_inferred(int op) {
    for (size_t i = 0; i < sizeof(inferred) / sizeof(*inferred); i++)
        if ((int)inferred[i] == op) return true;
    return false;
}

/* What lapse is about counts for more. */
static double weight_of(int figure) {
    if (figure == FIGURE_STORM_1K || figure == FIGURE_STORM_16K || figure == FIGURE_STORM_64K)
        return 4;
    bool storm = figure == FIGURE_STORM || figure == FIGURE_STORM_HALF || figure == FIGURE_IDLE;
    return storm ? 100 : 1;
}

/* One price moved to where the squared relative misses are smallest, or to 0. Noise makes some
 * prices that are seldom seen alone anything at all; a little trust in the built-in ones holds
 * them.
 */
static void descend(struct solving *s, int op) {
    double pull = s->prior[op] > 0 ? TRUST / (s->prior[op] * s->prior[op]) : 0;
    double slope = pull * (s->prior[op] - s->ps[op]), curve = pull;
    for (int i = 0; i < FIGURES; i++) {
        double count = s->figures[i].counts[op];
        if (s->value[i] <= 0 || count <= 0) continue;
        double weight = weight_of(i) / (s->value[i] * s->value[i]);
        slope += weight * count * (s->value[i] - sum_of(s->figures[i].counts, s->ps));
        curve += weight * count * count;
    }
    double moved = curve > 0 ? s->ps[op] + slope / curve : s->ps[op];
    s->ps[op] = moved > 0 ? moved : 0;
}

static double machine_ratio(const struct solving *s, const struct price_table *built_in) {
    double ours = 0, theirs = 0;
    for (size_t i = 0; i < sizeof(yardstick) / sizeof(*yardstick); i++) {
        if (!s->fitted[yardstick[i]]) continue;
        ours += s->ps[yardstick[i]];
        theirs += (double)built_in->ps[yardstick[i]];
    }
    return theirs > 0 && ours > 0 ? ours / theirs : 1;
}

/* An operation is fitted if a figure in the fit has it. */
static void choose_fitted(struct solving *s) {
    for (int op = 0; op < COST_COUNT; op++)
        for (int i = 0; i < FIGURES && !is_inferred(op); i++)
            if (s->value[i] > 0 && s->figures[i].counts[op] > 0) s->fitted[op] = true;
}

static void solve(struct solving *s) {
    const struct price_table *built_in = price_table_find("default");
    for (int op = 0; op < COST_COUNT; op++) s->prior[op] = s->ps[op] = (double)built_in->ps[op];
    choose_fitted(s);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int sweep = 0; sweep < SWEEPS / PASSES; sweep++)
            for (int op = 0; op < COST_COUNT; op++)
                if (s->fitted[op]) descend(s, op);
        double ratio = machine_ratio(s, built_in);
        for (int op = 0; op < COST_COUNT; op++) {
            s->prior[op] = (double)built_in->ps[op] * ratio;
            if (!s->fitted[op]) s->ps[op] = s->prior[op];
        }
    }
}

/* The prices that each round alone would give: how far they lie apart is a price's spread. Figures
 * with fewer rounds than others repeat theirs. */
static void spreads(const struct figure *figures, const struct solving *all, struct fit *fit) {
    struct figure by_op[COST_COUNT] = {0};
    uint32_t rounds = 0;
    for (int i = 0; i < FIGURES; i++)
        if (figures[i].count > rounds) rounds = figures[i].count;
    for (uint32_t round = 0; round < rounds; round++) {
        struct solving s = {.figures = figures};
        for (int i = 0; i < FIGURES; i++)
            if (all->value[i] > 0) s.value[i] = figures[i].samples[round % figures[i].count];
        solve(&s);
        for (int op = 0; op < COST_COUNT; op++) figure_add(&by_op[op], s.ps[op]);
    }
    for (int op = 0; op < COST_COUNT; op++) {
        figure_settle(&by_op[op]);
        fit->spread[op] = all->fitted[op] ? by_op[op].spread : -1;
    }
}

double calibrate_predict(const struct figure *figure, const struct price_table *prices) {
    double ps[COST_COUNT];
    for (int op = 0; op < COST_COUNT; op++) ps[op] = (double)prices->ps[op];
    return sum_of(figure->counts, ps);
}

static void judge(const struct figure *figures, struct fit *fit) {
    for (int i = 0; i < FIGURES; i++) {
        if (figures[i].count == 0) continue;
        fit->is_check[i] = is_check(i);
        fit->miss[i] = calibrate_predict(&figures[i], &fit->prices) / figures[i].median_ps - 1;
        double *worst = is_check(i) ? &fit->worst_check : &fit->worst;
        if (fabs(fit->miss[i]) > fabs(*worst)) *worst = fit->miss[i];
    }
}

void calibrate_fit(const struct figure figures[FIGURES], struct fit *fit) {
    struct solving s = {.figures = figures};
    *fit = (struct fit){.prices.name = "calibrated"};
    for (int i = 0; i < FIGURES; i++)
        if (figures[i].count > 0 && !is_check(i)) s.value[i] = figures[i].median_ps;
    solve(&s);
    for (int op = 0; op < COST_COUNT; op++) fit->prices.ps[op] = (uint64_t)llround(s.ps[op]);
    spreads(figures, &s, fit);
    judge(figures, fit);
}

/* Measured with few keys alone: a value's bytes lie where they lie, however many there are. */
static const enum cost_op few_only[] = {COST_FREE_DOUBLING, COST_FREE_PAGE};

/* Sizes are told by buckets, and of these a full table has as many as keys. */
void calibrate_join(struct price_table *prices, uint32_t few_keys, const struct price_table *many,
                    uint32_t many_keys) {
    memcpy(prices->many_ps, many->ps, sizeof(prices->many_ps));
    for (size_t i = 0; i < sizeof(few_only) / sizeof(*few_only); i++)
        prices->many_ps[few_only[i]] = prices->ps[few_only[i]];
    prices->few_exponent = (uint8_t)log2_floor(few_keys);
    prices->many_exponent = (uint8_t)log2_floor(many_keys);
}
