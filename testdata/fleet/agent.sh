#!/bin/sh
# Plays the agents of the fleet's demo with the program fakeagent beside this file. The
# script of a task is named by the beginning of its id.
here=$(dirname -- "$0")
export SWITCHYARD_FAKE_SCENARIO="$here/${SWITCHYARD_TASK%%-*}.json"
exec "$here/fakeagent" "$@"
