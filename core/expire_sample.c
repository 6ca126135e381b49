#include "bounds.h"
#include "expire.h"

#define BUCKETS_PER_KEY_MAX 20 /* empty buckets that one wanted key may cost (6.0 expire.c) */
#define CLASSIC_REPEAT_OVER 5  /* a quarter of 20 lookups, compared as a count (5.0 expire.c) */

/* Looks at one key as the cycle does: dead strictly after its deadline. */
static void sample_key(struct db *db, key_id id, ms_t now_ms, struct expire_sample *out) {
    ms_t deadline_ms = entries_at(&db->entries, id)->deadline_ms;
    cpu_charge(db->host->cpu, COST_KEY_CHECKED, 1);
    out->sampled++;
    if (deadline_ms > now_ms) {
        out->ttl_sum_ms = wrapping_add(out->ttl_sum_ms, wrapping_sub(deadline_ms, now_ms));
        out->ttl_count++;
    } else if (now_ms > deadline_ms) {
        cpu_charge(db->host->cpu, COST_KEY_EXPIRED, 1);
        db_delete_expired(db, id, now_ms, EXPIRY_ACTIVE);
        out->expired++;
    }
}

/* One whole chain, whatever the quota says. The next link is read before a key is handled: its
 * deletion steps the rehash, which may move the rest of this very chain to the other table; the
 * walk then goes on along the chain that the next key came to lie in, as the server's does. */
static void sample_chain(struct db *db, int table, ms_t now_ms, struct expire_sample *out) {
    uint64_t index = db->expires_cursor & (dict_size(&db->expires, table) - 1);
    key_id id = dict_bucket(&db->expires, table, index);
    cpu_charge(db->host->cpu, COST_BUCKET_STEP, 1);
    dict_hint_walk(&db->expires, table, index);
    while (id != KEY_NONE) {
        key_id next = dict_next(&db->expires, id);
        sample_key(db, id, now_ms, out);
        id = next;
    }
}

/* A plain counter walks the buckets of both tables, masked by whatever size they have at the
 * moment; it is never reset by a resize (6.0 to 7.0; from 7.2 a reverse-binary cursor). */
struct expire_sample expire_sample_buckets(struct db *db, uint64_t num, ms_t now_ms) {
    struct expire_sample out = {0};
    uint64_t buckets_max = num * BUCKETS_PER_KEY_MAX, checked = 0;
    while (out.sampled < num && checked < buckets_max) {
        for (int table = 0; table < 2; table++) {
            if (table == 1 && !dict_rehashing(&db->expires)) break;
            checked++;
            sample_chain(db, table, now_ms, &out);
        }
        db->expires_cursor++;
    }
    return out;
}

/* The same key may be drawn twice; a draw steps the rehash once. */
struct expire_sample expire_sample_random(struct db *db, uint64_t num, ms_t now_ms) {
    struct expire_sample out = {0};
    while (num-- > 0 && dict_used(&db->expires) > 0) {
        cpu_charge(db->host->cpu, COST_BUCKET_STEP, 1);
        sample_key(db, dict_random(&db->expires, db->host->rng), now_ms, &out);
    }
    return out;
}

/* An iteration that found nothing repeats too, until the clock ends it: the quirk of sparse tables
 * (6.0 to 7.0). */
bool expire_repeats_over_percent(const struct expire_policy *policy, uint32_t effort,
                                 const struct expire_sample *sample) {
    uint64_t acceptable = policy->acceptable_stale_percent - (effort - 1);
    return sample->sampled == 0 || sample->expired * 100 / sample->sampled > acceptable;
}

bool expire_repeats_over_quarter(const struct expire_policy *policy, uint32_t effort,
                                 const struct expire_sample *sample) {
    (void)policy, (void)effort;
    return sample->expired > CLASSIC_REPEAT_OVER;
}
