/* calibrate: prices of a real server. Experiments give figures: CPU time a unit of work, several
 * times over, and how many operations the engine charges for that unit. The fit finds the prices,
 * none below 0, whose squared relative misses over all figures are smallest; what it misses by is
 * said, for each figure, and so is the miss on figures that no price was made from. */
#ifndef LAPSE_SIM_CALIBRATE_H
#define LAPSE_SIM_CALIBRATE_H

#include "calibrate_model.h"
#include "calibrate_work.h"
#include "profile.h"

#define ROUNDS_MAX 31

/* X(enumerator, what it is for people) */
#define FIGURE_LIST(X)                                                                             \
    X(CLOCK, "reading the clock, in this process")                                                 \
    X(IDLE, "cron of an empty server, hz 500")                                                     \
    X(FAR, "the same, with keys of far TTL")                                                       \
    X(REHASH, "moving a key to a larger table")                                                    \
    X(STORM, "key that dies in a cycle")                                                           \
    X(STORM_HALF, "the same, with a key beside it that lives")                                     \
    X(STORM_1K, "the same, all of them dying, values of 1 KiB")                                    \
    X(STORM_16K, "the same, 16 KiB")                                                               \
    X(STORM_64K, "the same, 64 KiB")                                                               \
    X(PING_1, "PING, one at a time")                                                               \
    X(PING, "PING, 64 at a time")                                                                  \
    X(INFO, "INFO, 8 at a time")                                                                   \
    X(GET, "GET 32 B")                                                                             \
    X(GET_1, "GET 32 B, one at a time")                                                            \
    X(GET_VOLATILE, "GET 32 B of a key with TTL")                                                  \
    X(SET, "SET 32 B over a key")                                                                  \
    X(SET_1, "SET 32 B over a key, one at a time")                                                 \
    X(SET_NEW, "SET 32 B, new key")                                                                \
    X(DEL, "DEL 32 B")                                                                             \
    X(PX_NEW, "SET 32 B PX, new key")                                                              \
    X(PX_OLD, "SET 32 B PX over a key with TTL")                                                   \
    X(DEL_VOLATILE, "DEL 32 B of a key with TTL")                                                  \
    X(SCAN, "SCAN COUNT 100")                                                                      \
    X(SET_16K, "SET 16 KiB, 8 at a time")                                                          \
    X(GET_16K, "GET 16 KiB, 8 at a time")                                                          \
    X(SET_64K, "SET 64 KiB, 8 at a time")                                                          \
    X(DEL_64K, "DEL 64 KiB, 8 at a time")                                                          \
    X(SET_1M, "SET 1 MiB")                                                                         \
    X(DEL_1M, "DEL 1 MiB, 8 at a time")                                                            \
    X(R_SET_1, "SET 32 B, one at a time, with a replica")                                          \
    X(R_SET_NEW, "SET 32 B, new key, with a replica")                                              \
    X(R_DEL, "DEL 32 B, with a replica")                                                           \
    X(R_SET_16K, "SET 16 KiB, 8 at a time, with a replica")                                        \
    X(APPLY, "SET 32 B, on the replica")

enum figure_id {
#define X(id, name) FIGURE_##id,
    FIGURE_LIST(X)
#undef X
        FIGURES
};

struct figure {
    double counts[COST_COUNT];  /* operations a unit */
    double samples[ROUNDS_MAX]; /* ps a unit */
    uint32_t count;             /* of samples; 0: not measured */
    double median_ps, spread;   /* the distance of the quartiles, as a share of the median */
};

extern const char *const figure_names[FIGURES];

void figure_add(struct figure *, double ps);

/* Median and spread of what was added. */
void figure_settle(struct figure *);

struct fit {
    struct price_table prices; /* for one size of keyspace */
    double spread[COST_COUNT]; /* share of the price; < 0: inferred from the built-in profile */
    double miss[FIGURES];      /* prices over figure, less 1 */
    bool is_check[FIGURES];    /* no price was made from it */
    double worst, worst_check; /* the largest misses of the others and of these */
};

/* Figures must be settled. Prices that no figure shows are the built-in ones times the ratio of
 * this machine to that one. */
void calibrate_fit(const struct figure figures[FIGURES], struct fit *);

/* What the prices say that a unit takes. */
double calibrate_predict(const struct figure *, const struct price_table *);

struct calibration {
    struct live live, replica;
    uint32_t keys;    /* a power of two, >= MODEL_KEYS: as many as fill a table */
    uint32_t rounds;  /* 1 to ROUNDS_MAX */
    uint32_t written; /* keys below that number may be on the server */
    bool (*interrupted)(void);
    const char *start; /* the program for a replica, or NULL */
    struct figure figures[FIGURES];
};

/* All experiments; live is open. Says what it finds. False with a message in live. */
bool calibrate_measure(struct calibration *);

/* One table of two: prices measured with few keys and with many. */
void calibrate_join(struct price_table *, uint32_t few_keys, const struct price_table *many,
                    uint32_t many_keys);

/* The parts: calibrate_storm.c and calibrate_replica.c. */
bool calibrate_idle(struct calibration *, enum figure_id, struct model *);
bool calibrate_storms(struct calibration *);
bool calibrate_replica(struct calibration *);

/* calibrate.c: one round of one piece of work. */
struct work calibrate_work_of(const struct calibration *, enum figure_id);
bool calibrate_round(struct calibration *, enum figure_id, const struct work *, uint32_t round);
void calibrate_say(struct calibration *, enum figure_id);
bool calibrate_wait(struct calibration *, ns_t);

#endif
