#!/bin/sh
# Records GCViewer's figures of logs as lines of tests/oracle/gcviewer.tsv.
#
#   tests/oracle/record.sh "java -cp gcviewer-classes com.tagtraum.perf.gcviewer.GCViewer" DIRECTORY < NAMES
#
# NAMES are paths below DIRECTORY, one a line; without input, nothing is recorded. The recorded version is the newest
# commit of GCViewer's repository (af97692884ac918ccbdf7a123fa698460a1d397e, March 2023), compiled with javac; the
# published 1.36 reads fewer unified logs. GCViewer is LGPL: neither it nor its logs are part of this repository.
set -eu
gcviewer=$1
directory=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
while IFS= read -r name; do
    rm -f "$work/summary.csv"
    # shellcheck disable=SC2086
    JAVA_TOOL_OPTIONS="-Djava.awt.headless=true -Duser.language=en -Duser.country=US -Duser.timezone=UTC" \
        $gcviewer "$directory/$name" "$work/summary.csv" -t SUMMARY < /dev/null > /dev/null 2>&1 || true
    # GCViewer leaves out the counts of collections that did not happen.
    test -f "$work/summary.csv" && awk -F '; ' -v name="$name" '
        BEGIN {
            n = split("footprint freedMemory freedMemoryPerMin accumPause throughput totalTime pauseCount " \
                      "fullGcPauseCount fullGCPerformance gcPauseCount gcPerformance", names, " ")
        }
        { value[$1] = $2 ($3 == "-" || $2 == "n.a." ? "" : " " $3) }
        END {
            line = name
            for (i = 1; i <= n; i++) {
                text = names[i] in value ? value[names[i]] : "0"
                line = line "\t" text
            }
            print line
        }' "$work/summary.csv"
done
