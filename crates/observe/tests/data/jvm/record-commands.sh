#!/usr/bin/env bash
# Records answers to diagnostic commands while threads wait for each other: record-commands.sh JAVA_HOME NAME. See README.md.
set -euo pipefail
home=$1 name=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
javac --release 11 -d . "$here/Load.java"
mkfifo commands
"$home/bin/java" -Xmx64m -cp . Load <commands >answers 2>&1 &
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
await ready
for command in hold 'keep 1000'; do
  echo "$command" >&3
  await "$command"
done
record() { "$home/bin/jcmd" "$pid" "${@:2}" | gzip -9nc >"$here/commands/$name.$1.gz"; }
record histogram GC.class_histogram
record threads Thread.print
record threads-l Thread.print -l
record flags-all VM.flags -all
exec 3>&-
wait "$pid"
