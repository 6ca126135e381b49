# run: the picture of one run. Called by `lapse plot`, or by hand:
#   gnuplot -e "folder='out/storm'; plots='plots'; terminal='svg'; output='storm.svg'" plots/run.gp
# It reads folder/trace.csv and folder/summary.csv. Servers are columns (the first COLUMNS_MAX of
# them), time runs along every panel, and a panel that would be empty is left out.

if (!exists("folder")) folder = "."
if (!exists("plots")) plots = "plots"
if (!exists("terminal")) terminal = "svg"
if (!exists("output")) output = folder."/run.".terminal
if (!exists("name")) name = folder
COLUMNS_MAX = 3

load plots."/style.gp"
trace = folder."/trace.csv"
summary = folder."/summary.csv"

# ---- what the summary says -----------------------------------------------------------------------
set datafile separator ","
set datafile columnheaders
n = 0; servers = ""; roles = ""; keys = 0; worst = 0; worst_at = ""; slowest = -2
array Requests[64]; array Cycles[64]; array Lag[64]; array Lagging[64]; array Reclaimed[64]
array Stale[64]; array Start[64]
take(dummy) = (n = n + 1, servers = servers." ".strcol("server"), roles = roles." ".strcol("role"), \
    Requests[n] = column("requests"), Cycles[n] = column("slow_cycle_ms") + column("fast_cycle_ms"), \
    Lag[n] = column("lag_max_ms"), Lagging[n] = column("lag_bytes_max"), \
    Reclaimed[n] = column("reclaimed_99_ms"), Stale[n] = column("stale_keys_peak"), \
    Start[n] = column("storm_start_ms"), keys = column("keys_peak") > keys ? column("keys_peak") : keys, \
    worst_at = column("request_max_us") > worst ? strcol("server") : worst_at, \
    worst = column("request_max_us") > worst ? column("request_max_us") : worst, 0)
stats summary using (take(0)) nooutput
NCOLUMNS = n < COLUMNS_MAX ? n : COLUMNS_MAX

# ---- scales that the columns share ---------------------------------------------------------------
LARGEST = 'nooutput name'
stats trace using (column("t_ms")) @LARGEST "T"
stats trace using (column("used_memory_bytes")) @LARGEST "M"
stats trace using (column("stale_percent") > column("stale_percent_estimate") ? \
    column("stale_percent") : column("stale_percent_estimate")) @LARGEST "S"
stats trace using (column("lag_ms")) @LARGEST "L"
stats trace using (column("lag_bytes")) @LARGEST "B"
stats trace using (column("request_max_us") > column("cycle_us") ? column("request_max_us") : \
    column("cycle_us")) @LARGEST "U"
# Of fewer than 100 requests the 99th percentile is the largest: p99 has no line of its own.
array Typical[64]
do for [i = 1:NCOLUMNS] {
    stats trace using (strcol("server") eq word(servers, i) ? column("requests") : NaN) \
        nooutput name "R"
    Typical[i] = R_median
}
T_max = T_max > 0 ? T_max : 1 # a run of one row has no width
tu = time_unit(T_max)
mu = bytes_unit(M_max)
bu = bytes_unit(B_max)
LOG_MAX = 10 ** ceil(log10(U_max > 10 ? U_max * 1.5 : 10))

# ---- which panels a server has -------------------------------------------------------------------
has_cycle(i) = Cycles[i] > 0
has_requests(i) = Requests[i] > 0
has_lag(i) = word(roles, i) eq "replica" && Lag[i] > 0
has_lag_bytes(i) = word(roles, i) eq "replica" && Lagging[i] > 0
panels(i) = 2 + has_cycle(i) + has_requests(i) + has_lag(i) + has_lag_bytes(i)
NROWS = 2
do for [i = 1:NCOLUMNS] { NROWS = panels(i) > NROWS ? panels(i) : NROWS }

# ---- the title: what happened, in numbers --------------------------------------------------------
happened = commas(keys)." keys"
if (Stale[1] > 0) {
    happened = happened.(Reclaimed[1] < 0 ? "; up to ".commas(Stale[1])." of them stale at once" : \
        "; 99 % of the stale ones reclaimed in ".ms_text(Reclaimed[1]))
} else { happened = happened."; none was ever stale at a row" }
happened = happened.(worst > 0 ? "; worst request ".us_text(worst)." (".worst_at.")" : "")
left_out = n > NCOLUMNS ? sprintf("; %d more servers are in trace.csv", n - NCOLUMNS) : ""

# The last panel of a column names the time axis.
LAST = 'set xlabel (ROW == panels(i) - 1 ? "virtual time (".time_name(tu).")" : "") offset 0,0.4'

# One linetype a series.
set linetype 1 lc rgb ORANGE lw 1
set linetype 2 lc rgb SKY lw 1
set linetype 3 lc rgb BLACK lw 1.6 dt (6,4)
set linetype 4 lc rgb RED lw 2
set linetype 5 lc rgb BLUE lw 2 dt (7,4)
set linetype 6 lc rgb BLUE lw 1.8
set linetype 7 lc rgb PINK lw 1.8 dt (5,3)
set linetype 8 lc rgb RED lw 1.8 dt (3,2)
set linetype 9 lc rgb ORANGE lw 1.8 dt (7,3)
set linetype 10 lc rgb GREEN lw 1.8
set linetype 11 lc rgb PINK lw 1.8

reclaimed_text(stale, ms) = stale == 0 ? "" : \
    ms < 0 ? "; up to ".commas(stale)." stale keys" : "; 99 % reclaimed in ".ms_text(ms)." ┊"

set multiplot
set label 11 bold(name) at screen sx(LEFT), screen sy(36) left front font FONT.",".LARGE
set label 12 happened.left_out at screen sx(LEFT), screen sy(68) left front noenhanced
unset border; unset tics; set xrange [0:1]; set yrange [0:1]
set lmargin at screen 0; set rmargin at screen 1; set tmargin at screen 1; set bmargin at screen 0
plot NaN notitle
@FRAME
set xrange [0:T_max / tu]

do for [i = 1:NCOLUMNS] {
    server = word(servers, i)
    COLUMN = i - 1; ROW = 0
    set datafile separator ","
    set datafile columnheaders
    set table $S
    #     1 time                  2 used                          3 live
    #     4 expires dict          5 stale percent                 6 estimate of INFO
    #     7 slow cycle            8 fast cycle                    9-11 requests   12, 13 lag
    plot trace using (column("t_ms") / tu):(column("used_memory_bytes") / mu): \
        ((column("used_memory_bytes") - column("stale_memory_bytes")) / mu): \
        (column("expires_overhead_bytes") / mu):(column("stale_percent")): \
        (column("stale_percent_estimate")):(column("cycle_us")):(column("fast_us")): \
        (column("request_p50_us")):(column("request_p99_us")):(column("request_max_us")): \
        (column("lag_ms")):(column("lag_bytes") / bu) with table if (strcol("server") eq server)
    unset table
    set datafile separator whitespace
    unset datafile columnheaders

    REACHED = Stale[i] > 0 && Reclaimed[i] >= 0 ? (Start[i] + Reclaimed[i]) / tu : NaN

    TITLE = "Memory (".bytes_name(mu).")"
    KEYS = '"stale" "live" "of it expires dict"'; TYPES = "1 2 3"; AREAS = 2
    @PANEL
    set yrange [0:headroom(M_max / mu)]
    set label 2 bold(server) at screen sx(X0), screen sy(TOP - 20) left front \
        textcolor rgb BLUE
    about = word(roles, i).reclaimed_text(Stale[i], Reclaimed[i])
    set label 3 beside(server, about) at screen sx(X1), screen sy(TOP - 20) right front \
        textcolor rgb GREY font FONT.",".SMALL noenhanced
    plot $S using 1:2:3 with filledcurves lt 1, $S using 1:3 with filledcurves y1=0 lt 2, \
         $S using 1:4 with lines lt 3
    ROW = ROW + 1

    TITLE = "Stale keys (% of keys with a TTL)"
    KEYS = '"truth" "as INFO estimates"'; TYPES = "4 5"; AREAS = 0
    @PANEL; @PERCENT
    plot $S using 1:5 with lines lt 4, $S using 1:6 with lines lt 5
    ROW = ROW + 1

    if (has_cycle(i)) {
        TITLE = "Time in expire cycles, per row"
        KEYS = "slow fast"; TYPES = "6 7"
        @PANEL; @LOG_US
        plot $S using 1:(positive($7)) with lines lt 6, $S using 1:(positive($8)) with lines lt 7
        ROW = ROW + 1
    }
    if (has_requests(i)) {
        TITLE = "Requests: arrival to reply, per row"
        P99 = Typical[i] >= 100
        KEYS = P99 ? "max p99 p50" : '"max (and p99: under 100 a row)" p50'
        TYPES = P99 ? "8 9 10" : "8 10"
        @PANEL; @LOG_US
        if (P99) {
            plot $S using 1:(positive($11)) with lines lt 8, \
                $S using 1:(positive($10)) with lines lt 9, $S using 1:(positive($9)) with lines lt 10
        } else {
            plot $S using 1:(positive($11)) with lines lt 8, $S using 1:(positive($9)) with lines lt 10
        }
        ROW = ROW + 1
    }
    if (has_lag(i)) {
        TITLE = "Replica lag (ms)"
        KEYS = '"age of the oldest command not applied"'; TYPES = "11"
        @PANEL
        set yrange [0:headroom(L_max)]
        plot $S using 1:12 with lines lt 11
        ROW = ROW + 1
    }
    if (has_lag_bytes(i)) {
        TITLE = "Replica lag (".bytes_name(bu).")"
        KEYS = '"stream not applied"'; TYPES = "10"
        @PANEL
        set yrange [0:headroom(B_max / bu)]
        plot $S using 1:13 with lines lt 10
        ROW = ROW + 1
    }
}
unset multiplot
set output
