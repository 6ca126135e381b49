# style: what the pictures share: sizes, colours, numbers as people read them, one panel's frame.
# Colours are Okabe and Ito's, told apart by colour-blind readers; dashes say the same in print.
# A script that loads this has set: terminal ("svg" or "png"), output.

set encoding utf8
WIDTH = 1200.0
HEIGHT = 1400.0
FONT = terminal eq "png" ? "DejaVu Sans" : "sans-serif"
SMALL = terminal eq "png" ? "9" : "12"
LARGE = terminal eq "png" ? "17" : "22"
if (terminal eq "png") {
    set terminal pngcairo size WIDTH,HEIGHT font FONT.",10" background "white"
} else {
    set terminal svg size WIDTH,HEIGHT font FONT.",13" background "white"
}
if (strlen(output) > 0) { set output output } # else to stdout, where lapse reads it

BLACK = "#000000"; GREY = "#6b6b6b"; ORANGE = "#E69F00"; SKY = "#56B4E9"; GREEN = "#009E73"
YELLOW = "#F0E442"; BLUE = "#0072B2"; RED = "#D55E00"; PINK = "#CC79A7"

# ---- numbers -------------------------------------------------------------------------------------
commas(n) = n < 1000 ? sprintf("%d", n) : commas(int(n) / 1000).sprintf(",%03d", int(n) % 1000)
plain(x) = x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x)
ms_text(ms) = ms < 0 ? "never" : ms < 1000 ? sprintf("%d ms", ms) : ms < 120000 ? \
    plain(ms / 1000.0)." s" : ms < 7200000 ? plain(ms / 60000.0)." min" : plain(ms / 3600000.0)." h"
us_text(us) = us < 1000 ? sprintf("%d µs", us) : us < 1000000 ? plain(us / 1000.0)." ms" : \
    plain(us / 1000000.0)." s"
# Bold text needs enhanced mode in SVG, and there some characters speak: they get a backslash.
quiet(s) = strlen(s) == 0 ? "" : (strstrt("_^{}@&~", s[1:1]) ? "\\" : "").s[1:1].quiet(s[2:*])
bold(s) = "{/:Bold ".quiet(s)."}"
bytes_unit(max) = max < 10240 ? 1.0 : max < 4194304 ? 1024.0 : max < 4294967296.0 ? 1048576.0 : \
    1073741824.0
bytes_name(unit) = unit == 1.0 ? "B" : unit == 1024.0 ? "KiB" : unit == 1048576.0 ? "MiB" : "GiB"
time_unit(max_ms) = max_ms < 600000 ? 1000.0 : max_ms < 36000000 ? 60000.0 : 3600000.0
time_name(unit) = unit == 1000.0 ? "s" : unit == 60000.0 ? "min" : "h"
headroom(max) = max > 0 ? max * 1.06 : 1
# Nothing is drawn at or below 1 µs, where an axis of times ends: a row of 0 next to one of 1 would
# leave broken dashes on the frame.
positive(x) = x > 1 ? x : NaN
# The end of an axis of percentages: all of it, or less when little happens; then its figures say so.
percent_top(max) = max > 0 && max < 25 ? max * 1.15 : 104

# ---- one panel -----------------------------------------------------------------------------------
# Places are in pixels from the top left corner. A panel is a frame with its title and one line of
# legend above it; columns are servers, rows count from 0. NCOLUMNS and NROWS are set by the script.
TOP = 128.0; BOTTOM = 50.0; LEFT = 70.0; RIGHT = 24.0; GUTTER = 64.0; HEAD = 50.0; FOOT = 34.0

FRAME = 'set border 3 lc rgb GREY lw 1; set xtics nomirror out scale 0.5 textcolor rgb "#303030"; '. \
    'set ytics nomirror out scale 0.5 textcolor rgb "#303030"; '. \
    'set grid ytics lc rgb "#dddddd" lt 1 lw 0.6'
set style fill solid 1.0 noborder
unset key

panel_width(n) = (WIDTH - LEFT - RIGHT - (n - 1) * GUTTER) / n
panel_pitch(n) = (HEIGHT - TOP - BOTTOM) / n
sx(pixels) = pixels / WIDTH
sy(pixels) = 1.0 - pixels / HEIGHT
# What stands at the right of a column's head, if there is room for it beside the server's name.
beside(name, text) = 8.5 * strlen(name) + 7.0 * strlen(text) < panel_width(NCOLUMNS) ? text : ""

# Macros. PANEL frames the cell (COLUMN, ROW), writes TITLE and the legend: KEYS names the series,
# TYPES their linetypes (AREAS of them, from the first, as boxes). LOG_US is an axis of times, PERCENT
# one of percentages up to S_max. REACHED is a moment to mark in every panel, or NaN. LAST names the time axis under a column's last panel.
PLACE = 'X0 = LEFT + COLUMN * (panel_width(NCOLUMNS) + GUTTER); X1 = X0 + panel_width(NCOLUMNS); '. \
    'Y0 = TOP + ROW * panel_pitch(NROWS); Y1 = Y0 + panel_pitch(NROWS) - FOOT; KX = X0; '. \
    'set lmargin at screen sx(X0); set rmargin at screen sx(X1); '. \
    'set tmargin at screen sy(Y0 + HEAD); set bmargin at screen sy(Y1)'
LEGEND = 'do for [k = 1:words(KEYS)] { '. \
    'set arrow 10 + k from screen sx(KX), screen sy(Y0 + 33) to screen sx(KX + 24), '. \
    'screen sy(Y0 + 33) nohead lt int(word(TYPES, k)) lw (k <= AREAS ? 9 : 2); '. \
    'set label 10 + k word(KEYS, k) at screen sx(KX + 30), screen sy(Y0 + 33) left '. \
    'font FONT.",".SMALL textcolor rgb "#303030" noenhanced; '. \
    'KX = KX + 50 + 6.8 * strlen(word(KEYS, k)) }'
PANEL = PLACE.'; unset label; unset arrow; unset logscale; set ytics auto; set format y "%g"; '. \
    'set label 1 bold(TITLE) at screen sx(X0), screen sy(Y0 + 12) left front; '. \
    'if (REACHED == REACHED) { set arrow 1 from first REACHED, graph 0 to first REACHED, graph 1 '. \
    'nohead front lc rgb GREY lw 1 dt (2,3) }; '.LEGEND.'; @LAST'
PERCENT = 'set yrange [0:percent_top(S_max)]; set format y "%g %%"'
LOG_US = 'set logscale y; set yrange [1:LOG_MAX]; set format y ""; set ytics ('. \
    '"1 µs" 1, "10 µs" 10, "100 µs" 100, "1 ms" 1e3, "10 ms" 1e4, "100 ms" 1e5, "1 s" 1e6, '. \
    '"10 s" 1e7, "100 s" 1e8)'
