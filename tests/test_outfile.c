#define _DEFAULT_SOURCE /* mknod, makedev */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support.h"

/* Each test works in a folder of its own that is removed afterwards. */
static char folder[64];

static void enter(void) {
    strcpy(folder, "outfile-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void leave(void) {
    ck_assert_int_eq(chdir(".."), 0);
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

START_TEST(a_file_is_there_only_once_committed) {
    struct outfile file;
    ck_assert(outfile_open(&file, "trace.csv"));
    fputs("row\n", file.stream);
    ck_assert(!exists("trace.csv"));
    ck_assert(exists("trace.csv.partial"));
    ck_assert(outfile_commit(&file));
    ck_assert(exists("trace.csv"));
    ck_assert(!exists("trace.csv.partial"));
}
END_TEST

START_TEST(a_commit_replaces_an_older_file_at_once) {
    for (int i = 0; i < 2; i++) {
        struct outfile file;
        ck_assert(outfile_open(&file, "a"));
        fprintf(file.stream, "%d", i);
        ck_assert(outfile_commit(&file));
    }
    FILE *stream = fopen("a", "r");
    ck_assert_int_eq(fgetc(stream), '1');
    fclose(stream);
}
END_TEST

START_TEST(an_abandoned_file_leaves_its_rows_only_if_told) {
    struct outfile file;
    ck_assert(outfile_open(&file, "a"));
    outfile_abandon(&file, false);
    ck_assert(!exists("a.partial"));
    ck_assert(outfile_open(&file, "a"));
    fputs("row\n", file.stream);
    outfile_abandon(&file, true);
    ck_assert(exists("a.partial"));
    ck_assert(!exists("a"));
    outfile_abandon(&file, false); /* once more does nothing */
}
END_TEST

START_TEST(a_full_disk_is_an_error_and_no_file) {
    if (!exists("/dev/full")) return;
    ck_assert_int_eq(symlink("/dev/full", "a.partial"), 0);
    struct outfile file;
    ck_assert(outfile_open(&file, "a"));
    fputs("row\n", file.stream);
    ck_assert(!outfile_commit(&file));
    ck_assert_int_eq(errno, ENOSPC);
    ck_assert(!exists("a"));
    ck_assert(!exists("a.partial"));
}
END_TEST

START_TEST(a_link_stays_and_its_target_appears_whole) {
    struct outfile file;
    ck_assert_int_eq(mkdir("there", 0777), 0);
    ck_assert_int_eq(symlink("there/second", "link"), 0);
    ck_assert_int_eq(symlink("target", "there/second"), 0); /* where nothing is yet */
    ck_assert(outfile_open(&file, "link"));
    ck_assert(outfile_is_regular(&file));
    ck_assert(exists("there/target.partial"));
    ck_assert(outfile_commit(&file));
    struct stat entry;
    ck_assert(lstat("link", &entry) == 0 && S_ISLNK(entry.st_mode));
    ck_assert(lstat("there/target", &entry) == 0 && S_ISREG(entry.st_mode));
}
END_TEST

START_TEST(links_in_a_ring_are_an_error) {
    struct outfile file;
    ck_assert_int_eq(symlink("b", "a"), 0);
    ck_assert_int_eq(symlink("a", "b"), 0);
    ck_assert(!outfile_open(&file, "a"));
    ck_assert_int_eq(errno, ELOOP);
}
END_TEST

START_TEST(a_fifo_is_written_to_and_stays_one) {
    struct outfile file;
    char got[8] = "";
    struct stat entry;
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    ck_assert(outfile_open(&file, "fifo"));
    ck_assert(!outfile_is_regular(&file));
    fputs("row", file.stream);
    ck_assert(outfile_commit(&file));
    ck_assert_int_eq(read(reader, got, sizeof(got)), 3);
    ck_assert_str_eq(got, "row");
    close(reader);
    ck_assert(lstat("fifo", &entry) == 0 && S_ISFIFO(entry.st_mode));
    ck_assert(!exists("fifo.partial"));
}
END_TEST

START_TEST(an_abandoned_fifo_stays) {
    struct outfile file;
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    ck_assert(outfile_open(&file, "fifo"));
    outfile_abandon(&file, false);
    close(reader);
    ck_assert(exists("fifo"));
}
END_TEST

/* A node of our own, as root alone can make one: the machine's is nobody's to lose. */
START_TEST(a_full_device_is_an_error_and_stays_a_device) {
    if (mknod("full", S_IFCHR | 0600, makedev(1, 7)) != 0) return;
    FILE *probe = fopen("full", "wb");
    if (!probe) return; /* a file system that forbids devices */
    fclose(probe);
    struct outfile file;
    struct stat entry;
    ck_assert(outfile_open(&file, "full"));
    fputs("row", file.stream);
    ck_assert(!outfile_commit(&file));
    ck_assert_int_eq(errno, ENOSPC);
    ck_assert(lstat("full", &entry) == 0 && S_ISCHR(entry.st_mode));
}
END_TEST

START_TEST(a_file_is_removed_and_a_fifo_is_not) {
    fclose(fopen("file", "w"));
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    outfile_remove("file");
    outfile_remove("fifo");
    outfile_remove("nothing");
    ck_assert(!exists("file"));
    ck_assert(exists("fifo"));
}
END_TEST

START_TEST(a_folder_is_no_file) {
    struct outfile file;
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    ck_assert(!outfile_open(&file, "folder"));
    ck_assert_int_eq(errno, EISDIR);
    ck_assert(!exists("folder.partial"));
}
END_TEST

START_TEST(a_place_that_is_not_there_is_an_error_with_errno) {
    struct outfile file;
    ck_assert(!outfile_open(&file, "nowhere/a"));
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(directories_are_made_with_their_parents) {
    ck_assert(outfile_make_directory("a/b/c"));
    ck_assert(exists("a/b/c"));
    ck_assert(outfile_make_directory("a/b/c/"));
    ck_assert(outfile_make_directory("."));
    fclose(fopen("file", "w"));
    ck_assert(!outfile_make_directory("file/b"));
    ck_assert_int_eq(errno, ENOTDIR);
    ck_assert(!outfile_make_directory(""));
}
END_TEST

START_TEST(the_hash_is_xxh64_of_the_bytes) {
    char hex[17];
    fclose(fopen("empty", "w"));
    ck_assert(outfile_hash("empty", hex));
    ck_assert_str_eq(hex, "ef46db3751d8e999"); /* XXH64 of nothing, seed 0 */
    FILE *stream = fopen("abc", "w");
    fputs("abc", stream);
    fclose(stream);
    ck_assert(outfile_hash("abc", hex));
    ck_assert_str_eq(hex, "44bc2cf5ad770999"); /* xxhsum -H64 */
    ck_assert(!outfile_hash("missing", hex));
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("outfile");
    TCase *tests = tcase_create("outfile");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, a_file_is_there_only_once_committed);
    tcase_add_test(tests, a_commit_replaces_an_older_file_at_once);
    tcase_add_test(tests, an_abandoned_file_leaves_its_rows_only_if_told);
    tcase_add_test(tests, a_full_disk_is_an_error_and_no_file);
    tcase_add_test(tests, a_link_stays_and_its_target_appears_whole);
    tcase_add_test(tests, links_in_a_ring_are_an_error);
    tcase_add_test(tests, a_fifo_is_written_to_and_stays_one);
    tcase_add_test(tests, an_abandoned_fifo_stays);
    tcase_add_test(tests, a_full_device_is_an_error_and_stays_a_device);
    tcase_add_test(tests, a_file_is_removed_and_a_fifo_is_not);
    tcase_add_test(tests, a_folder_is_no_file);
    tcase_add_test(tests, a_place_that_is_not_there_is_an_error_with_errno);
    tcase_add_test(tests, directories_are_made_with_their_parents);
    tcase_add_test(tests, the_hash_is_xxh64_of_the_bytes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
