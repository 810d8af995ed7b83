#!/usr/bin/env bash
# Records one JVM: record.sh JAVA_HOME NAME FLAGS... See README.md. Needs javac of JDK 11 or later.
set -euo pipefail
home=$1 name=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
javac --release 11 -d . "$here/Load.java"
mkfifo commands
"$home/bin/java" -Xmx64m "$@" -cp . Load <commands >answers 2>&1 &
pid=$!
exec 3>commands
await() {
  for _ in $(seq 400); do
    if grep -qx "$1" answers; then return; fi
    sleep 0.05
  done
  echo "no answer to $1" >&2
  exit 1
}
say() {
  echo "$1" >&3
  await "$1"
}
snap() { "$home/bin/jstat" -J-Djstat.showUnsupported=true -snap "$pid" | sort; }
tables() {
  for option in gc gccapacity gcutil class compiler; do
    echo "-$option"
    "$home/bin/jstat" "-$option" "$pid" | tr -s ' '
  done
}

await ready
# Epsilon does not collect.
case $name in *Epsilon) ;; *) say work; sleep 2.5; say gc; sleep 0.5 ;; esac
say quiet
sleep "${SETTLE:-1.2}"
for _ in 1 2 3; do
  snap >snap.before
  tables >tables.before
  cp "/tmp/hsperfdata_$(id -un)/$pid" hsperfdata
  tables >tables.after
  snap >snap.after
  if cmp -s tables.before tables.after; then break; fi
done
gzip -9nc hsperfdata >"$here/$name.hsperfdata.gz"
comm -12 snap.before snap.after | gzip -9nc >"$here/$name.snap.gz"
cp tables.after "$here/$name.jstat"
exec 3>&-
wait "$pid"
