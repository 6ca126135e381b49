# compare: the variants of one scenario in the same panels. Called by `lapse plot`, or by hand:
#   gnuplot -e "folder='out/storm-jitter'; plots='plots'; output='jitter.svg'" plots/compare.gp
# It reads folder/compare.csv and, for each variant that it names, folder/VARIANT/trace.csv. Servers
# are columns, a variant has one colour and dash everywhere, an empty panel is left out.

if (!exists("folder")) folder = "."
if (!exists("plots")) plots = "plots"
if (!exists("terminal")) terminal = "svg"
if (!exists("output")) output = folder."/compare.".terminal
if (!exists("name")) name = folder
COLUMNS_MAX = 3
VARIANTS_MAX = 8

load plots."/style.gp"
TOP = 128.0; HEAD = 34.0

# ---- what the summaries say ----------------------------------------------------------------------
set datafile separator ","
set datafile columnheaders
V = 0; N = 0; servers = ""; roles = ""; seen = ""; keys = 0
any_cycle = ""; any_requests = ""; any_lag = ""
array Variant[64]; array Text[64]
known(list, w) = strstrt(list, " ".w." ") > 0
add(list, w) = known(list." ", w) ? list : list." ".w
first_text(ms, stale, us) = strcol("variant").(stale == 0 ? ": no key was ever stale at a row" : \
    ms < 0 ? ": up to ".commas(stale)." stale keys" : ": 99 % of ".commas(stale). \
    " stale keys reclaimed in ".ms_text(ms)).(us > 0 ? ", worst request ".us_text(us) : "")
new_variant(dummy) = known(seen." ", strcol("variant")) ? 0 : (seen = seen." ".strcol("variant"), \
    V = V + 1, Variant[V] = strcol("variant"), Text[V] = first_text(column("reclaimed_99_ms"), \
    column("stale_keys_peak"), column("request_max_us")), 0)
new_server(dummy) = known(servers." ", strcol("server")) ? 0 : (N = N + 1, \
    servers = servers." ".strcol("server"), roles = roles." ".strcol("role"), 0)
note(list, dummy) = add(list, strcol("server"))
take(dummy) = (new_variant(0), new_server(0), \
    any_cycle = column("slow_cycle_ms") + column("fast_cycle_ms") > 0 ? note(any_cycle, 0) : any_cycle, \
    any_requests = column("requests") > 0 ? note(any_requests, 0) : any_requests, \
    any_lag = column("lag_max_ms") > 0 ? note(any_lag, 0) : any_lag, \
    keys = column("keys_peak") > keys ? column("keys_peak") : keys, 0)
stats folder."/compare.csv" using (take(0)) nooutput
NCOLUMNS = N < COLUMNS_MAX ? N : COLUMNS_MAX
V = V < VARIANTS_MAX ? V : VARIANTS_MAX
file(v) = folder."/".Variant[v]."/trace.csv"

# ---- scales that all panels of a kind share ------------------------------------------------------
T = 0; M = 0; L = 0; U = 0; S_max = 0
do for [v = 1:V] {
    stats file(v) using (column("t_ms")) nooutput name "A"; T = A_max > T ? A_max : T
    stats file(v) using (column("used_memory_bytes")) nooutput name "A"; M = A_max > M ? A_max : M
    stats file(v) using (column("stale_percent")) nooutput name "A"; S_max = A_max > S_max ? A_max : S_max
    stats file(v) using (column("lag_ms")) nooutput name "A"; L = A_max > L ? A_max : L
    stats file(v) using (column("request_max_us")) nooutput name "A"; U = A_max > U ? A_max : U
    stats file(v) using (column("cycle_us")) nooutput name "A"; U = A_max > U ? A_max : U
}
T = T > 0 ? T : 1 # a run of one row has no width
tu = time_unit(T)
mu = bytes_unit(M)
LOG_MAX = 10 ** ceil(log10(U > 10 ? U * 1.5 : 10))

has(list, i) = known(list." ", word(servers, i))
panels(i) = 2 + has(any_cycle, i) + has(any_requests, i) + has(any_lag, i)
NROWS = 2
do for [i = 1:NCOLUMNS] { NROWS = panels(i) > NROWS ? panels(i) : NROWS }

LAST = 'set xlabel (ROW == panels(i) - 1 ? "virtual time (".time_name(tu).")" : "") offset 0,0.4'
REACHED = NaN; KEYS = ""; TYPES = ""; AREAS = 0

# One linetype a variant; the first is drawn widest, so that it shows under one that runs alike.
set linetype 1 lc rgb BLUE lw 3.2
set linetype 2 lc rgb RED lw 2.4 dt (10,4)
set linetype 3 lc rgb GREEN lw 2 dt (4,3)
set linetype 4 lc rgb PINK lw 2 dt (10,4,2,4)
set linetype 5 lc rgb BLACK lw 1.4
set linetype 6 lc rgb ORANGE lw 2 dt (6,3)
set linetype 7 lc rgb SKY lw 2 dt (2,3)
set linetype 8 lc rgb GREY lw 2 dt (10,3,2,3,2,3)

# ---- title and legend: a line a variant, of the first server -------------------------------------
set multiplot
set label 1 bold(name) at screen sx(LEFT), screen sy(36) left front font FONT.",".LARGE
set label 2 commas(keys)." keys, ".V." variants; figures of ".word(servers, 1). \
    (N > NCOLUMNS ? sprintf("; %d more servers are in the traces", N - NCOLUMNS) : "") \
    at screen sx(LEFT), screen sy(66) left front noenhanced
do for [v = 1:V] {
    set arrow v from screen sx(LEFT), screen sy(74 + 20 * v) to screen sx(LEFT + 40), \
        screen sy(74 + 20 * v) nohead lt v
    set label 10 + v Text[v] at screen sx(LEFT + 50), screen sy(74 + 20 * v) left front \
        font FONT.",".SMALL noenhanced
}
TOP = 120.0 + 20 * V
unset border; unset tics; set xrange [0:1]; set yrange [0:1]
set lmargin at screen 0; set rmargin at screen 1; set tmargin at screen 1; set bmargin at screen 0
plot NaN notitle
unset label; unset arrow
@FRAME
set xrange [0:T / tu]

do for [i = 1:NCOLUMNS] {
    server = word(servers, i)
    COLUMN = i - 1; ROW = 0
    set datafile separator ","
    set datafile columnheaders
    # 1 variant, 2 time, 3 used memory, 4 stale percent, 5 both cycles, 6 p99, 7 lag
    set table $S
    do for [v = 1:V] {
        plot file(v) using (v):(column("t_ms") / tu):(column("used_memory_bytes") / mu): \
            (column("stale_percent")):(column("cycle_us") + column("fast_us")): \
            (column("request_p99_us")):(column("lag_ms")) with table if (strcol("server") eq server)
    }
    unset table
    set datafile separator whitespace
    unset datafile columnheaders

    TITLE = "Memory used (".bytes_name(mu).")"
    @PANEL
    set yrange [0:headroom(M / mu)]
    set label 2 bold(server) at screen sx(X0), screen sy(TOP - 16) left front \
        textcolor rgb BLUE
    set label 3 beside(server, word(roles, i)) at screen sx(X1), screen sy(TOP - 16) right front \
        textcolor rgb GREY font FONT.",".SMALL noenhanced
    plot for [v = 1:V] $S using ($1 == v ? $2 : NaN):3 with lines lt v
    ROW = ROW + 1

    TITLE = "Stale keys (% of keys with a TTL)"
    @PANEL; @PERCENT
    plot for [v = 1:V] $S using ($1 == v ? $2 : NaN):4 with lines lt v
    ROW = ROW + 1

    if (has(any_cycle, i)) {
        TITLE = "Time in expire cycles, per row"
        @PANEL; @LOG_US
        plot for [v = 1:V] $S using ($1 == v ? $2 : NaN):(positive($5)) with lines lt v
        ROW = ROW + 1
    }
    if (has(any_requests, i)) {
        TITLE = "Request p99: arrival to reply, per row"
        @PANEL; @LOG_US
        plot for [v = 1:V] $S using ($1 == v ? $2 : NaN):(positive($6)) with lines lt v
        ROW = ROW + 1
    }
    if (has(any_lag, i)) {
        TITLE = "Replica lag (ms)"
        @PANEL
        set yrange [0:headroom(L)]
        plot for [v = 1:V] $S using ($1 == v ? $2 : NaN):7 with lines lt v
        ROW = ROW + 1
    }
}
unset multiplot
set output
