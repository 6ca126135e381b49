/* resp: INFO and DEBUG HTSTATS; names, order and layout were taken from a running
 * redis-server 7.0.15. */
#include "resp_support.h"

START_TEST(info_has_the_server_s_sections_names_and_order) {
    engine_settings.hz = 10, engine_settings.startup_bytes = 876192;
    stats = (struct engine_stats){.hz = 20,
                                  .connected_clients = 3,
                                  .connected_replicas = 1,
                                  .expired_keys = 5,
                                  .keyspace_hits = 6,
                                  .keyspace_misses = 7,
                                  .expired_stale_perc = 12.345678,
                                  .expired_time_cap_reached_count = 8,
                                  .expire_cycle_us = 9999,
                                  .commands_processed = 10,
                                  .used_memory_bytes = 988184,
                                  .used_memory_peak_bytes = 1048576 * 5,
                                  .master_repl_offset = 797,
                                  .backlog_active = true,
                                  .backlog_size_bytes = 1048576,
                                  .backlog_histlen_bytes = 797,
                                  .backlog_first_offset = 1,
                                  .repl_buffer_bytes = 1048676};
    db_stats[0].keys = 15, db_stats[0].expires = 11, db_stats[0].avg_ttl_ms = 169799;
    db_stats[3].keys = 1;
    resp_print_info(&buffer, NULL, NULL);
    expect_text("# Server\r\nhz:20\r\nconfigured_hz:10\r\n\r\n"
                "# Clients\r\nconnected_clients:3\r\n\r\n"
                "# Memory\r\nused_memory:988184\r\nused_memory_human:965.02K\r\n"
                "used_memory_peak:5242880\r\nused_memory_peak_human:5.00M\r\n"
                "used_memory_startup:876192\r\nmem_total_replication_buffers:1048676\r\n"
                "mem_clients_slaves:100\r\n\r\n"
                "# Stats\r\ntotal_commands_processed:10\r\nexpired_keys:5\r\n"
                "expired_stale_perc:12.35\r\nexpired_time_cap_reached_count:8\r\n"
                "expire_cycle_cpu_milliseconds:9\r\nkeyspace_hits:6\r\nkeyspace_misses:7\r\n\r\n"
                "# Replication\r\nrole:master\r\nconnected_slaves:1\r\nmaster_repl_offset:797\r\n"
                "repl_backlog_active:1\r\nrepl_backlog_size:1048576\r\n"
                "repl_backlog_first_byte_offset:1\r\nrepl_backlog_histlen:797\r\n\r\n"
                "# Keyspace\r\ndb0:keys=15,expires=11,avg_ttl=169799\r\n"
                "db3:keys=1,expires=0,avg_ttl=0\r\n");
}
END_TEST

START_TEST(a_section_is_printed_alone_in_any_case) {
    resp_print_info(&buffer, NULL, "KeySpace");
    expect_text("# Keyspace\r\n");
    resp_print_info(&buffer, NULL, "nosuch");
    expect_text("");
    resp_print_info(&buffer, NULL, "key");
    expect_text("");
    resp_print_info(&buffer, NULL, NULL);
    struct resp_buffer all = buffer;
    buffer = (struct resp_buffer){.bytes = NULL};
    resp_print_info(&buffer, NULL, "everything");
    expect_bytes(all.bytes, all.length);
    resp_buffer_release(&all);
}
END_TEST

START_TEST(a_replica_says_slave_and_how_far_it_has_applied) {
    stats.is_replica = true, stats.master_repl_offset = 55;
    resp_print_info(&buffer, NULL, "replication");
    expect_text("# Replication\r\nrole:slave\r\nslave_repl_offset:55\r\nconnected_slaves:0\r\n"
                "master_repl_offset:55\r\nrepl_backlog_active:0\r\nrepl_backlog_size:0\r\n"
                "repl_backlog_first_byte_offset:0\r\nrepl_backlog_histlen:0\r\n");
}
END_TEST

static const struct {
    int64_t bytes;
    const char *text;
} sizes[] = {
    {0, "0B"},
    {1023, "1023B"},
    {1024, "1.00K"},
    {1048575, "1024.00K"},
    {1048576, "1.00M"},
    {INT64_C(25276502016), "23.54G"}, /* total_system_memory_human of the server that was asked */
};

START_TEST(human_sizes_are_the_server_s) {
    char expected[64];
    stats.used_memory_bytes = sizes[_i].bytes;
    snprintf(expected, sizeof expected, "\r\nused_memory_human:%s\r\n", sizes[_i].text);
    resp_print_info(&buffer, NULL, "memory");
    resp_append(&buffer, "", 1);
    ck_assert_ptr_nonnull(strstr(buffer.bytes, expected));
}
END_TEST

START_TEST(replicas_take_no_more_than_what_exceeds_the_backlog) {
    stats.backlog_size_bytes = 1000, stats.repl_buffer_bytes = 1500;
    resp_print_info(&buffer, NULL, "memory"); /* no replica: all of it is the backlog's */
    resp_append(&buffer, "", 1);
    ck_assert_ptr_nonnull(strstr(buffer.bytes, "\r\nmem_clients_slaves:0\r\n"));
    buffer.length = 0;
    stats.connected_replicas = 1, stats.repl_buffer_bytes = 900;
    resp_print_info(&buffer, NULL, "memory");
    resp_append(&buffer, "", 1);
    ck_assert_ptr_nonnull(strstr(buffer.bytes, "\r\nmem_clients_slaves:0\r\n"));
}
END_TEST

START_TEST(info_and_htstats_are_replied_as_bulk_strings) {
    struct arg section = text("keyspace");
    print_item((struct reply_item){.kind = REPLY_INFO, .word = section.id});
    expect_text("$12\r\n# Keyspace\r\n\r\n");
    section = text("nosuch");
    print_item((struct reply_item){.kind = REPLY_INFO, .word = section.id});
    expect_text("$0\r\n\r\n");
    print_item((struct reply_item){.kind = REPLY_HTSTATS, .integer = 5});
    expect_text("$189\r\n[Dictionary HT]\nHash table 0 stats (main hash table):\n"
                "No stats available for empty dictionaries\n[Expires HT]\n"
                "Hash table 0 stats (main hash table):\n"
                "No stats available for empty dictionaries\n\r\n");
}
END_TEST

START_TEST(htstats_shows_both_tables_while_rehashing) {
    db_stats[2] = (struct engine_db_stats){.main_size = {64, 128},
                                           .main_used = {62, 3},
                                           .main_rehash_index = 2,
                                           .expires_size = {32, 0},
                                           .expires_used = {30, 0},
                                           .expires_rehash_index = -1};
    resp_print_htstats(&buffer, NULL, 2);
    expect_text("[Dictionary HT]\nHash table 0 stats (main hash table):\n table size: 64\n"
                " number of elements: 62\nHash table 1 stats (rehashing target):\n"
                " table size: 128\n number of elements: 3\n[Expires HT]\n"
                "Hash table 0 stats (main hash table):\n table size: 32\n"
                " number of elements: 30\n");
}
END_TEST

START_TEST(htstats_hides_the_size_of_an_empty_table) {
    db_stats[0].main_size[0] = 1024;
    resp_print_htstats(&buffer, NULL, 0);
    resp_append(&buffer, "", 1);
    ck_assert_ptr_null(strstr(buffer.bytes, "1024"));
    ck_assert_ptr_nonnull(strstr(buffer.bytes, "No stats available for empty dictionaries\n[E"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("resp_info");
    TCase *tests = tcase_create("info");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, info_has_the_server_s_sections_names_and_order);
    tcase_add_test(tests, a_section_is_printed_alone_in_any_case);
    tcase_add_test(tests, a_replica_says_slave_and_how_far_it_has_applied);
    tcase_add_loop_test(tests, human_sizes_are_the_server_s, 0, sizeof sizes / sizeof sizes[0]);
    tcase_add_test(tests, replicas_take_no_more_than_what_exceeds_the_backlog);
    tcase_add_test(tests, info_and_htstats_are_replied_as_bulk_strings);
    tcase_add_test(tests, htstats_shows_both_tables_while_rehashing);
    tcase_add_test(tests, htstats_hides_the_size_of_an_empty_table);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
