/* Outages: a replica leaves, the master goes on, the replica comes back and asks to go on from
 * where it was, or from somewhere else. The real server and the engine decide alike, partial or
 * full, with every figure of replication and every byte equal on the way there and after. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"
#include "support.h"
#include "tally.h"

/* Which id it asks with: of those seen, in their order. The one that the server was born with goes
 * with the first replica. */
enum { NOBODYS = 0, FIRST_ID = 2, SECOND_ID = 3 };

/* From which offset. */
enum from {
    NEXT,          /* the byte after what it has */
    BACKLOG_FIRST, /* the first that the backlog holds */
    BEFORE_FIRST,
    AT_END, /* the one that will be fed next */
    BEYOND_END,
    SECOND_LAST, /* second_repl_offset: the last that the old id is good for */
    BEYOND_SECOND,
};

struct outage {
    const char *about;
    const char *before, *away; /* see `act` */
    int id;
    enum from from;
    bool partial; /* what the server does, from the arithmetic beside the row */
};

/* A block holds 20,440 bytes (16,384 and its header in a class of 20,480), or with a backlog beyond
 * 256 KiB a sixteenth of it; blocks go as soon as what is left exceeds the backlog's size. SET of a
 * key of 8 letters to N bytes is 23 + 1 + 8 + d(N) + N: 1,036 with N = 1,000. */
static const struct outage outages[] = {
    {"nothing is written", "w3x100 t1000", "t1000", FIRST_ID, NEXT, true},
    {"a minute of nothing", "w3x100", "t61000", FIRST_ID, NEXT, true},
    {"16 KiB, 8 kB away", "b16384 w3x100", "w8x1000 t500", FIRST_ID, NEXT, true},
    {"16 KiB, 16 kB away", "b16384 w3x100", "w15x1000 t500", FIRST_ID, NEXT, true},
    {"16 KiB, 31 kB away: kept by whole blocks", "b16384", "w30x1000 t500", FIRST_ID, NEXT, true},
    {"16 KiB, 62 kB away", "b16384 w3x100", "w60x1000 t500", FIRST_ID, NEXT, false},
    {"16 KiB, full before, 8 kB away", "b16384 w60x1000", "w8x1000", FIRST_ID, NEXT, true},
    {"16 KiB, a write of 200 kB", "b16384 w3x100", "w1x200000", FIRST_ID, NEXT, false},
    {"64 KiB, 41 kB away", "b65536 w99x1000", "w40x1000 t2000", FIRST_ID, NEXT, true},
    {"64 KiB, 124 kB away", "b65536 w3x100", "w120x1000 t2000", FIRST_ID, NEXT, false},
    {"256 KiB, 259 kB away", "b262144", "w250x1000 t300", FIRST_ID, NEXT, true},
    {"256 KiB, 414 kB away", "b262144", "w400x1000 t300", FIRST_ID, NEXT, false},
    {"1 MiB, 1 MB away", "w3x100", "w1000x1000", FIRST_ID, NEXT, true},
    {"1 MiB, 1.3 MB away", "w3x100", "w1300x1000", FIRST_ID, NEXT, false},
    {"1 MiB, one write of 900 kB", "w3x100", "w1x900000 t5000", FIRST_ID, NEXT, true},
    {"1 MiB, one write of 3 MiB", "w3x100", "w1x3145728 t5000", FIRST_ID, NEXT, false},
    {"the backlog's first byte", "b16384 w60x1000", "w3x1000", FIRST_ID, BACKLOG_FIRST, true},
    {"the byte before it", "b16384 w60x1000", "w3x1000", FIRST_ID, BEFORE_FIRST, false},
    {"the byte to come", "b16384 w60x1000", "w3x1000", FIRST_ID, AT_END, true},
    {"the byte after that", "b16384 w60x1000", "w3x1000", FIRST_ID, BEYOND_END, false},
    {"an id that nobody has", "w3x100", "w3x100", NOBODYS, NEXT, false},
    {"no id", "w3x100", "w3x100", STANDIN_NOTHING, NEXT, false},
    {"a promotion: the old id goes on", "w3x100", "P", FIRST_ID, NEXT, true},
    {"a promotion: the new id goes on", "w3x100", "P w3x100", SECOND_ID, NEXT, true},
    {"a promotion: the old id's last byte", "w3x100", "P w3x100", FIRST_ID, SECOND_LAST, true},
    {"a promotion: a byte too far", "w3x100", "P w3x100", FIRST_ID, BEYOND_SECOND, false},
    {"two promotions: the first id is forgotten", "w3x100", "P w3x100 P", FIRST_ID, NEXT, false},
    {"two promotions: the second id", "w3x100", "P P w3x100", SECOND_ID, NEXT, true},
    {"repl-backlog-ttl 2 s, 6 s away", "l2 w3x100", "t6000", FIRST_ID, NEXT, false},
    {"repl-backlog-ttl 10 s, 6 s away", "l10 w3x100", "t6000 w3x100", FIRST_ID, NEXT, true},
    {"repl-backlog-ttl 0: never", "l0 w3x100", "t20000", FIRST_ID, NEXT, true},
    {"the backlog grows while away", "b16384", "b65536 w50x1000", FIRST_ID, NEXT, true},
    {"the backlog shrinks while away", "b65536", "w50x1000 b16384", FIRST_ID, NEXT, false},
    {"another replica holds all back", "b16384 H w9x100", "w300x1000", FIRST_ID, NEXT, true},
    {"another replica keeps up", "b16384 A w9x100", "w60x1000", FIRST_ID, NEXT, false},
    {"expiries fill the backlog", "b16384", "e1000 t1500", FIRST_ID, NEXT, false},
    {"a few expiries", "b16384", "e100 t1500", FIRST_ID, NEXT, true},
};

#define OUTAGES ((int)(sizeof outages / sizeof *outages))

/* Keys that expire within the next second: 52 bytes each for the SET and more for its DEL. */
static void write_expiring(struct standins *s, int count) {
    char command[96];
    for (int i = 0; i < count; i++) {
        snprintf(command, sizeof command, "SET e%07d x PX %d", i, 100 + i * 7 % 900);
        standins_do(s, command);
    }
}

static void set_config(struct standins *s, const char *name, const char *value) {
    char command[96];
    snprintf(command, sizeof command, "CONFIG SET %s %d", name, atoi(value));
    standins_do(s, command);
}

static void write_many(struct standins *s, const char *counts) {
    int count = 0, bytes = 0;
    ck_assert_int_eq(sscanf(counts, "%dx%d", &count, &bytes), 2);
    for (int i = 0; i < count; i++) standins_write(s, (uint32_t)i, (uint32_t)bytes);
}

/* wNxB: N writes of B bytes; eN: N keys that expire; tMS: time passes; bN and lN: the backlog's
 * size and its life; P: promotion; H: another replica gets a snapshot and says no more; A: another
 * one that acknowledges. */
static void act(struct standins *s, const char *word) {
    switch (*word) {
    case 'w':
        write_many(s, word + 1);
        break;
    case 'e':
        write_expiring(s, atoi(word + 1));
        break;
    case 't':
        standins_pass(s, atoi(word + 1));
        break;
    case 'b':
        set_config(s, "repl-backlog-size", word + 1);
        break;
    case 'l':
        set_config(s, "repl-backlog-ttl", word + 1);
        break;
    case 'P':
        standins_promote(s);
        break;
    case 'H':
        standin_greet(s, 1);
        standin_ask(s, 1, STANDIN_NOTHING, -1);
        break;
    case 'A':
        standin_sync(s, 1);
        break;
    default:
        ck_abort_msg("what is %s?", word);
    }
}

static void act_all(struct standins *s, const char *words) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        act(s, word);
        standins_compare(s);
    }
}

static int64_t offset_of(const struct standins *s, enum from from, int64_t have) {
    const int64_t *seen = s->server_seen;
    switch (from) {
    case NEXT:
        return have + 1;
    case BACKLOG_FIRST:
        return seen[STANDIN_first_byte];
    case BEFORE_FIRST:
        return seen[STANDIN_first_byte] - 1;
    case AT_END:
        return seen[STANDIN_offset] + 1;
    case BEYOND_END:
        return seen[STANDIN_offset] + 2;
    case SECOND_LAST:
        return seen[STANDIN_second_offset];
    case BEYOND_SECOND:
        return seen[STANDIN_second_offset] + 1;
    }
    return 0;
}

/* Whatever was decided, the stream goes on from there. */
static void go_on(struct standins *s, bool partial) {
    if (!partial) standins_pass(s, 200);
    standin_acknowledge(s, 0, s->all[0].have);
    standins_write(s, 1, 100);
    standins_compare(s);
    standins_pass(s, 1000);
}

START_TEST(an_outage_ends_as_with_the_server) {
    const struct outage *o = &outages[_i];
    struct standins *s = standins_start(o->about, NULL);
    standin_sync(s, 0);
    act_all(s, o->before);
    int64_t have = s->all[0].have;
    standin_leave(s, 0);
    standins_compare(s);
    act_all(s, o->away);
    standin_greet(s, 0);
    int64_t errors = s->server_seen[STANDIN_sync_partial_err];
    bool partial = standin_ask(s, 0, o->id, offset_of(s, o->from, have));
    ck_assert_msg(partial == o->partial, "%s: the server's decision is %s", o->about,
                  partial ? "partial" : "full");
    bool counts = !partial && o->id != STANDIN_NOTHING;
    ck_assert_int_eq(s->server_seen[STANDIN_sync_partial_err], errors + counts);
    go_on(s, partial);
    standins_stop(s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle outages");
    TCase *tcase = tcase_create("outages");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, an_outage_ends_as_with_the_server, 0, OUTAGES);
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "outages");
}
