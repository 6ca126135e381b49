/* Replies: random sequences of all supported commands over few keys, with TTLs around now and wrong
 * arguments: every reply is the server's, errors to the letter. LAPSE_TEST_ROUNDS=50 is the long
 * mode: 10,000 sequences. */
#include <glob.h>
#include <stdio.h>

#include "sequence.h"
#include "support.h"
#include "tally.h"

#define SEQUENCES 200
#define COMMANDS  2000

/* A template's share is how often it stands here. RANDOMKEY draws from another generator, INFO and
 * HTSTATS are compared by their figures, SCAN MATCH is not modelled. */
static const char *const templates[] = {
    "SET %k %v",
    "SET %k %v",
    "SET %k %v EX %s",
    "SET %k %v PX %m",
    "SET %k %v PX %m",
    "SET %k %v EXAT %S",
    "SET %k %v PXAT %M",
    "SET %k %v KEEPTTL",
    "SET %k %v NX",
    "SET %k %v XX",
    "SET %k %v GET",
    "SET %k %v NX GET",
    "SET %k %v XX GET PX %m",
    "SET %k %v NX PX %m",
    "SET %k %v GET KEEPTTL",
    "SETEX %k %s %v",
    "PSETEX %k %m %v",
    "PSETEX %k %m %v",
    "GET %k",
    "GET %k",
    "GETEX %k",
    "GETEX %k EX %s",
    "GETEX %k PX %m",
    "GETEX %k EXAT %S",
    "GETEX %k PXAT %M",
    "GETEX %k PERSIST",
    "GETDEL %k",
    "INCR %k",
    "INCR %k",
    "DEL %k",
    "DEL %k %k %k",
    "UNLINK %k %k",
    "EXISTS %k",
    "EXISTS %k %k %k",
    "TOUCH %k %k",
    "EXPIRE %k %s",
    "EXPIRE %k %s NX",
    "EXPIRE %k %s XX",
    "EXPIRE %k %s GT",
    "EXPIRE %k %s LT",
    "EXPIRE %k %s XX GT",
    "EXPIRE %k %s XX LT",
    "PEXPIRE %k %m",
    "PEXPIRE %k %m",
    "PEXPIRE %k %m GT",
    "PEXPIRE %k %m LT",
    "PEXPIRE %k %m NX",
    "EXPIREAT %k %S",
    "EXPIREAT %k %S XX",
    "PEXPIREAT %k %M",
    "PEXPIREAT %k %M GT",
    "PEXPIREAT %k %M NX GT",
    "PEXPIREAT %k %M GT LT",
    "PERSIST %k",
    "TTL %k",
    "PTTL %k",
    "PTTL %k",
    "EXPIRETIME %k",
    "PEXPIRETIME %k",
    "SCAN %c",
    "SCAN %c COUNT %n",
    "SCAN %c TYPE string",
    "SCAN %c TYPE none COUNT %n",
    "SCAN %c MATCH *",
    "DBSIZE",
    "SELECT %d",
    "PING",
    "PING %v",
    "FLUSHDB",
    "FLUSHDB SYNC",
    "FLUSHALL ASYNC",
    "CONFIG SET hz %h",
    "CONFIG SET active-expire-effort %n",
    "CONFIG SET lazyfree-lazy-expire %b",
    "CONFIG SET lazyfree-lazy-user-del %b",
    "CONFIG SET activerehashing %b",
    "CONFIG GET hz",
    "CONFIG GET active-expire-effort",
    "CONFIG SET hz %h active-expire-effort %n",
    "DEBUG SET-ACTIVE-EXPIRE %b",
    "NOSUCH %k %v",
    "nosuch",
    NULL,
};

static const struct vocabulary vocabulary = {.templates = templates, .may_spoil = true};

START_TEST(every_reply_is_the_servers_to_the_letter) {
    struct sequence s;
    uint64_t seed = test_seed() + (uint64_t)_i;
    sequence_generate(&s, seed, COMMANDS, &vocabulary);
    sequence_check(&s, seed);
    sequence_release(&s);
}
END_TEST

/* Files of sequences that once differed; or those named on the command line. */
static char **kept;

START_TEST(a_kept_sequence_still_holds) {
    struct sequence s;
    sequence_read(&s, kept[_i]);
    sequence_replay(&s, kept[_i]);
    sequence_release(&s);
}
END_TEST

static int kept_count(int argc, char **argv) {
    static glob_t found;
    kept = argv + 1;
    if (argc > 1) return argc - 1;
    if (glob(KEPT_DIRECTORY "/*.txt", 0, NULL, &found) != 0) return 0;
    kept = found.gl_pathv;
    return (int)found.gl_pathc;
}

int main(int argc, char **argv) {
    Suite *suite = suite_create("oracle replies");
    TCase *tcase = tcase_create("sequences");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, a_kept_sequence_still_holds, 0, kept_count(argc, argv));
    if (argc == 1)
        tcase_add_loop_test(tcase, every_reply_is_the_servers_to_the_letter, 0,
                            (int)test_rounds(SEQUENCES));
    suite_add_tcase(suite, tcase);
    return tally_run(suite, "replies");
}
