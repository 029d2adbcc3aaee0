#!/bin/sh
# Run a command that must not go on for ever: so many seconds of processor time, which a busy machine does
# not use up, and an hour, for one that waits for something.
#
#   tools/limit.sh SECONDS COMMAND...
ulimit -t "$1"
shift
exec timeout --foreground 3600 "$@"
