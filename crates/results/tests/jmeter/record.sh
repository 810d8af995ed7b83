#!/bin/sh
# Records the rows that the tests compare with, from Apache JMeter 5.6.3: sh record.sh <path of bin/jmeter>
set -eu
jmeter=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
run() {
    name=$1
    shift
    rm -rf "${here:?}/$name" && mkdir -p "$here/$name"
    "$jmeter" -n -t "$here/rows.jmx" -l "$here/$name/main.csv" -j "$work/$name.log" -Jout="$here/$name" \
        -Duser.timezone=UTC "$@" >"$work/$name.out"
}
run default
run variables -Jsample_variables=alpha,beta
run semicolon '-Jjmeter.save.saveservice.default_delimiter=;' -Jjmeter.save.saveservice.response_message=false \
    -Jjmeter.save.saveservice.subresults=false
run tab '-Jjmeter.save.saveservice.default_delimiter=\t' -Jjmeter.save.saveservice.sample_count=true \
    -Jjmeter.save.saveservice.hostname=true -Jjmeter.save.saveservice.encoding=true
run pattern '-Jjmeter.save.saveservice.timestamp_format=yyyy/MM/dd HH:mm:ss.SSS'
run none -Jjmeter.save.saveservice.timestamp_format=none -Jjmeter.save.saveservice.print_field_names=false
run end -Jsampleresult.timestamp.start=false
rm -rf "$work"
