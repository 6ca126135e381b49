#include "expire.h"

#include "bounds.h"
#include "propagate.h"

#define DBS_PER_CALL     16   /* fewer only when there are fewer (CRON_DBS_PER_CALL) */
#define CLOCK_CHECK_MASK 0x0f /* the clock is looked at in every 16th iteration */
#define AVG_TTL_WEIGHT   50   /* a new mean counts one fiftieth */

/* One cycle's budget and what it has done so far. */
struct cycle {
    struct expire_state *state;
    uint32_t effort;
    us_t start_us, limit_us;
    uint32_t iteration;
    uint64_t sampled, expired;
};

void expire_init(struct expire_state *state, const struct expire_policy *policy, uint32_t effort,
                 uint32_t hz) {
    *state = (struct expire_state){.policy = policy, .effort = effort, .hz = hz};
}

static uint32_t effective_effort(const struct expire_state *state) {
    return state->policy->has_effort ? state->effort : EFFORT_MIN;
}

static us_t fast_us(const struct expire_state *state) {
    return state->policy->fast_us +
           state->policy->fast_us_per_effort * (effective_effort(state) - 1);
}

/* Percent of a second, shared out over hz calls; both divisions floor, as in the server. */
static us_t slow_limit_us(const struct expire_state *state) {
    uint32_t percent = state->policy->slow_percent +
                       state->policy->slow_percent_per_effort * (effective_effort(state) - 1);
    us_t limit = (us_t)percent * 1000000 / state->hz / 100;
    return limit > 0 ? limit : 1;
}

/* The gate of a FAST cycle. Quirk (redis issue 15410; 6.0 to 7.4): the estimate is a fraction, the
 * bound a percentage of at least 1, so the comparison always holds and only a cycle that ran out of
 * time opens the gate. */
static bool fast_gate_opens(struct expire_state *state, us_t start_us) {
    if (!state->timelimit_exit) {
        double acceptable = state->policy->acceptable_stale_percent - (effective_effort(state) - 1);
        if (!state->policy->fast_gate_has_stale || state->stale_fraction < acceptable) return false;
    }
    if (start_us < state->last_fast_us + 2 * fast_us(state)) return false;
    state->last_fast_us = start_us;
    return true;
}

/* Integer mean with the server's loss: both divisions drop their remainder, so 999 gives 950. */
static void update_avg_ttl(struct db *db, const struct expire_sample *sample) {
    if (sample->ttl_count == 0) return;
    int64_t mean = sample->ttl_sum_ms / (int64_t)sample->ttl_count;
    if (db->avg_ttl_ms == 0) db->avg_ttl_ms = mean;
    db->avg_ttl_ms = db->avg_ttl_ms / AVG_TTL_WEIGHT * (AVG_TTL_WEIGHT - 1) + mean / AVG_TTL_WEIGHT;
}

/* Slots of both tables count, so a table that has just shrunk or grown looks emptier than it is. */
static bool is_sparse(const struct db *db) {
    uint64_t slots = dict_slots(&db->expires);
    return slots > DICT_SIZE_INITIAL && dict_used(&db->expires) * 100 / slots < 1;
}

static void check_clock(struct cycle *cycle, struct cpu *cpu) {
    if (cpu_wall_us(cpu) - cycle->start_us <= cycle->limit_us) return;
    cycle->state->timelimit_exit = true;
    cycle->state->time_cap_reached++;
}

/* One iteration on one database; true to go on with the same one. An empty database uses up an
 * iteration number all the same, and leaves before the clock is looked at. */
static bool cycle_iteration(struct cycle *cycle, struct db *db) {
    const struct expire_policy *policy = cycle->state->policy;
    uint64_t num = dict_used(&db->expires);
    uint64_t quota = policy->keys_per_loop + policy->keys_per_effort * (cycle->effort - 1);
    cycle->iteration++;
    if (num == 0) {
        db->avg_ttl_ms = 0;
        return false;
    }
    ms_t now_ms = cpu_wall_ms(db->host->cpu);
    if (policy->skips_sparse && is_sparse(db)) return false;
    struct expire_sample sample = policy->sample(db, num < quota ? num : quota, now_ms);
    cycle->sampled += sample.sampled;
    cycle->expired += sample.expired;
    update_avg_ttl(db, &sample);
    if ((cycle->iteration & CLOCK_CHECK_MASK) == 0) check_clock(cycle, db->host->cpu);
    return !cycle->state->timelimit_exit && policy->repeats(policy, cycle->effort, &sample);
}

static void cycle_databases(struct cycle *cycle, struct db *dbs, uint32_t db_count,
                            uint32_t visits) {
    struct expire_state *state = cycle->state;
    for (uint32_t j = 0; j < visits && !state->timelimit_exit; j++) {
        struct db *db = &dbs[state->current_db++ % db_count];
        cpu_charge(db->host->cpu, COST_CYCLE_DB, 1);
        while (cycle_iteration(cycle, db)) {
        }
    }
}

/* The server's own two floating operations, in its order. */
static void update_stale_fraction(struct expire_state *state, const struct cycle *cycle) {
    double current = cycle->sampled ? (double)cycle->expired / (double)cycle->sampled : 0;
    state->stale_fraction = current * 0.05 + state->stale_fraction * 0.95;
}

static void cycle_end(struct cycle *cycle, enum expire_cycle_type type, struct db_host *host) {
    struct expire_state *state = cycle->state;
    propagate_flush(host->propagate, false);
    us_t elapsed_us = cpu_wall_us(host->cpu) - cycle->start_us;
    state->cycle_time_us += elapsed_us;
    update_stale_fraction(state, cycle);
    struct cycle_report report = {.fast = type == EXPIRE_CYCLE_FAST,
                                  .capped = state->timelimit_exit,
                                  .iterations = cycle->iteration,
                                  .sampled = cycle->sampled,
                                  .expired = cycle->expired,
                                  .elapsed_us = elapsed_us};
    host->sink->cycle_ended(host->sink->context, &report);
}

void expire_cycle(struct expire_state *state, enum expire_cycle_type type, struct db *dbs,
                  uint32_t db_count) {
    struct db_host *host = dbs[0].host;
    us_t start_us = cpu_wall_us(host->cpu);
    if (type == EXPIRE_CYCLE_FAST && !fast_gate_opens(state, start_us)) return;
    cpu_charge(host->cpu, COST_CYCLE, 1);
    uint32_t visits = db_count < DBS_PER_CALL || state->timelimit_exit ? db_count : DBS_PER_CALL;
    struct cycle cycle = {.state = state,
                          .effort = effective_effort(state),
                          .start_us = start_us,
                          .limit_us =
                              type == EXPIRE_CYCLE_FAST ? fast_us(state) : slow_limit_us(state)};
    state->timelimit_exit = false;
    cycle_databases(&cycle, dbs, db_count, visits);
    cycle_end(&cycle, type, host);
}
