/* lapse: the command line. One file a subcommand; this one chooses it, minds Ctrl-C, and sees to it
 * that stdout was really written. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "version.h"

/* The only thing that a signal handler may touch. */
static volatile sig_atomic_t interrupt_seen;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupt_seen = 1;
}

static bool interrupted(void) { return interrupt_seen != 0; }

/* The first Ctrl-C asks; the second, back at its default, kills. */
static void signals_install(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef enum exit_code command_fn(int argc, char **argv, interrupted_fn *);

static const struct command_entry {
    const char *name;
    command_fn *run;
} commands[] = {{"run", cmd_run},   {"compare", cmd_compare},     {"plot", cmd_plot},
                {"list", cmd_list}, {"calibrate", cmd_calibrate}, {"validate", cmd_validate}};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct argp_option options[] = {{"version", 'V', NULL, 0, "Print the version", 0},
                                             {0}};

static const char doc[] =
    "Examples:\n"
    "  lapse run storm                 run scenarios/storm.yaml: traces, table, pictures\n"
    "  lapse compare storm-jitter      its variants side by side\n"
    "  lapse plot --term out/storm     draw a run in the terminal\n"
    "  lapse list scenario-keys        every key of a scenario, with its default\n"
    "  lapse calibrate -o my-box.json  prices of this machine, from a real server\n"
    "  lapse validate storm            a run beside a real server, in real time\n"
    "\nSimulates how Redis expires keys and what that does to memory, latency and replicas, on a "
    "virtual clock: the same bytes every time.\v"
    "COMMAND is run, compare, plot, list, calibrate or validate; `lapse COMMAND --help` says more.";

struct arguments {
    int command_at; /* index in argv, 0: none */
    bool version;
};

static error_t option_take(int key, char *value, struct argp_state *state) {
    struct arguments *a = state->input;
    (void)value;
    switch (key) {
    case 'V':
        a->version = true;
        break;
    case ARGP_KEY_ARG:
        a->command_at = state->next - 1;
        state->next = state->argc; /* the rest is the command's */
        break;
    case ARGP_KEY_END:
        if (!a->command_at && !a->version)
            argp_error(state,
                       "expected a command: run, compare, plot, list, calibrate or validate");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static enum exit_code command_run(int argc, char **argv) {
    const char *names[COMMANDS + 1] = {0};
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[0], commands[i].name) != 0) continue;
        char program[32];
        snprintf(program, sizeof(program), "lapse %s", commands[i].name);
        argv[0] = program;
        return commands[i].run(argc, argv, interrupted);
    }
    return say_unknown("command", argv[0], names);
}

/* How many leading arguments are options of lapse itself. */
static int own_arguments(int argc, char **argv) {
    int count = 1;
    while (count < argc && argv[count][0] == '-') count++;
    return count < argc ? count + 1 : argc;
}

int main(int argc, char **argv) {
    struct argp argp = {options, option_take, "COMMAND [ARGUMENT...]", doc, NULL, NULL, NULL};
    struct arguments a = {0};
    char name[] = "lapse";
    argp_err_exit_status = EXIT_INPUT;
    signals_install();
    argv[0] = name;
    if (!options_parse(&argp, own_arguments(argc, argv), argv, &a)) return EXIT_INPUT;
    enum exit_code code = EXIT_FINE;
    if (a.version)
        printf("lapse %s\n", LAPSE_VERSION);
    else
        code = command_run(argc - a.command_at, argv + a.command_at);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    say("standard output could not be written");
    return code == EXIT_FINE || code == EXIT_EXPECTATION ? EXIT_OUTPUT : code;
}
