# validate: live runs of a scenario and its simulation in the same panels. Called by `lapse validate`,
# or by hand:
#   gnuplot -e "folder='out/storm-validate'; plots='plots'; output='v.svg'" plots/validate.gp
# It reads folder/live-N.csv and, of folder/trace.csv, the rows of the first server.

if (!exists("folder")) folder = "."
if (!exists("plots")) plots = "plots"
if (!exists("terminal")) terminal = "svg"
if (!exists("output")) output = folder."/validate.".terminal
if (!exists("name")) name = folder
RUNS_MAX = 32

load plots."/style.gp"
NCOLUMNS = 1; NROWS = 3; COLUMN = 0; KEYS = "lapse live"; TYPES = "1 2"; AREAS = 0; REACHED = NaN
trace = folder."/trace.csv"
live(i) = sprintf("%s/live-%d.csv", folder, i)
exists_file(file) = int(system("test -r \"".file."\" && echo 1 || echo 0"))

set datafile separator ","
set datafile columnheaders
N = 0
do for [i = 1:RUNS_MAX] { if (exists_file(live(i))) { N = i } else { break } }

# ---- scales --------------------------------------------------------------------------------------
server = ""
first(dummy) = (server = server eq "" ? strcol("server") : server, column("t_ms"))
stats trace using (first(0)) nooutput name "T"
M = 0; K = 0
stats trace using (column("used_memory_bytes")) nooutput name "A"; M = A_max
stats trace using (column("expires")) nooutput name "A"; K = A_max
do for [i = 1:N] {
    stats live(i) using (column("used_memory_bytes")) nooutput name "A"; M = A_max > M ? A_max : M
    stats live(i) using (column("expires")) nooutput name "A"; K = A_max > K ? A_max : K
}
T = T_max > 0 ? T_max : 1
tu = time_unit(T)
mu = bytes_unit(M)
of(x) = strcol("server") eq server ? x : NaN
LAST = 'set xlabel (ROW == NROWS - 1 ? "time since the start (".time_name(tu).")" : "") offset 0,0.4'

set linetype 1 lc rgb BLUE lw 2.6
set linetype 2 lc rgb ORANGE lw 1.6

# ---- title ---------------------------------------------------------------------------------------
set multiplot
set label 1 bold(name) at screen sx(LEFT), screen sy(36) left front font FONT.",".LARGE
set label 2 sprintf("%d live runs, and the simulation of %s", N, server) at screen sx(LEFT), \
    screen sy(66) left front noenhanced
TOP = 96.0
unset border; unset tics; set xrange [0:1]; set yrange [0:1]
set lmargin at screen 0; set rmargin at screen 1; set tmargin at screen 1; set bmargin at screen 0
plot NaN notitle
unset label; unset arrow
@FRAME
set xrange [0:T / tu]

# ---- panels --------------------------------------------------------------------------------------
ROW = 0; TITLE = "Keys with a TTL"
@PANEL
set yrange [0:headroom(K)]
plot for [i = 1:N] live(i) using (column("t_ms") / tu):(column("expires")) with lines lt 2, \
    trace using (column("t_ms") / tu):(of(column("expires"))) with lines lt 1

ROW = 1; TITLE = "Stale share as INFO estimates it (%)"
@PANEL
set yrange [0:105]
plot for [i = 1:N] live(i) using (column("t_ms") / tu):(column("stale_percent_estimate")) \
    with lines lt 2, \
    trace using (column("t_ms") / tu):(of(column("stale_percent_estimate"))) with lines lt 1

ROW = 2; TITLE = "Memory used (".bytes_name(mu).")"
@PANEL
set yrange [0:headroom(M / mu)]
plot for [i = 1:N] live(i) using (column("t_ms") / tu):(column("used_memory_bytes") / mu) \
    with lines lt 2, \
    trace using (column("t_ms") / tu):(of(column("used_memory_bytes") / mu)) with lines lt 1
unset multiplot
set output
