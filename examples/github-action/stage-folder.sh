#!/bin/sh
# The one step of the action. It reads INPUT_PATH, INPUT_URL, INPUT_TOKEN, INPUT_PRIVATE and INPUT_DAYS, and of what every
# runner sets GITHUB_ACTION_PATH, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY and RUNNER_TEMP.
set -eu

fail() {
  printf '::error title=Lade::%s\n' "$1"
  exit 1
}

[ -z "$INPUT_TOKEN" ] || printf '::add-mask::%s\n' "$INPUT_TOKEN"
[ -n "$INPUT_PATH" ] || fail 'The input path is empty.'
[ -n "$INPUT_URL" ] || fail 'The input url is empty. Is the variable set that it comes from?'
case $INPUT_PRIVATE in
true) [ -n "$INPUT_TOKEN" ] || fail 'Private files need a token. Is the secret set that it comes from?' ;;
false) ;;
*) fail 'The input private is neither true nor false.' ;;
esac

# The command line is in the repository that this action is part of, and brings the Node.js that it needs.
home=$(cd "$GITHUB_ACTION_PATH/../.." && pwd)
if [ ! -e "$home/node_modules/.bin/lade" ]; then
  echo '::group::Install the command line'
  npm --prefix "$home" ci --omit=dev --no-audit --no-fund --loglevel=error || fail 'npm could not install the command line.'
  echo '::endgroup::'
fi
PATH=$home/node_modules/.bin:$PATH

set -- --url "$INPUT_URL" -- "$INPUT_PATH"
[ -z "$INPUT_DAYS" ] || set -- --days "$INPUT_DAYS" "$@"
[ "$INPUT_PRIVATE" = false ] || set -- --private "$@"
[ -n "$INPUT_TOKEN" ] || set -- --sponsored "$@"
export LADE_TOKEN="$INPUT_TOKEN"

results=$(mktemp "$RUNNER_TEMP/lade-results.XXXXXX")
notes=$(mktemp "$RUNNER_TEMP/lade-notes.XXXXXX")
trap 'rm -f "$results" "$notes"' EXIT

status=0
lade put --recursive --loose --json "$@" >"$results" 2>"$notes" || status=$?
node "$GITHUB_ACTION_PATH/report.ts" "$results" "$notes" "$status"
exit "$status"
