#!/bin/bash
# The one rule of the architecture, read off sources and objects: core includes only itself and a few
# headers of the C library; it calls only the functions listed here, so that time, rand, printf and
# getenv cannot creep in; and it has no state of its own.
# Arguments: the source folder core/, the library liblapsecore.a, "sanitized" or "plain".
set -u
core=$1
library=$2
kind=$3
status=0
headers="stdbool.h stddef.h stdint.h stdlib.h string.h"
# (clang spells a memcmp for equality bcmp)
functions="memcpy memset memcmp bcmp memmove strlen strcmp malloc calloc realloc free qsort assert_failed"

break_law() {
    echo "$1" >&2
    status=1
}

has_word() { # WORD in LIST
    case " $2 " in *" $1 "*) return 0 ;; esac
    return 1
}

while IFS=: read -r file line text; do
    case $text in
    *\"*)
        name=$(echo "$text" | cut -d'"' -f2)
        [ -f "$core/$name" ] || break_law "$file:$line: core may not include $name"
        ;;
    *)
        name=${text#*<}
        name=${name%%>*}
        has_word "$name" "$headers" || break_law "$file:$line: core may not include <$name>"
        ;;
    esac
done < <(grep -Hn '^ *# *include' "$core"/*.[ch])

undefined=$(nm -u "$library" | awk '$1 == "U" {print $2}' | sort -u)
defined=$(nm --defined-only "$library" | awk 'NF == 3 {print $3}' | sort -u)
[ -n "$defined" ] || break_law "$library: no symbol at all"
for symbol in $(comm -23 <(echo "$undefined") <(echo "$defined")); do
    case $symbol in
    _GLOBAL_OFFSET_TABLE_ | __stack_chk_fail) continue ;; # the compiler's own
    __asan* | __ubsan* | __sanitizer* | __gcov* | __llvm*) continue ;;
    esac
    # glibc's fortified spelling: __memcpy_chk is memcpy
    plain=${symbol#__}
    plain=${plain%_chk}
    has_word "$plain" "$functions" || break_law "core may not call $symbol"
done

# Constant tables with pointers lie in .data.rel.ro; what may be written lies in .data and .bss.
if [ "$kind" = plain ]; then
    while read -r file section size; do
        [ "$size" -eq 0 ] || break_law "$file: $section has $size bytes: core keeps no state"
    done < <(size -A "$library" | awk '/\(ex / {file = $1}
        $1 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ {print file, $1, $2}')
fi
exit $status
