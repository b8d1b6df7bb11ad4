#!/bin/sh
# Walks through the API with curl, and shows every command that it runs.
#
# LADE_URL is the service, http://127.0.0.1:8080 by default. LADE_TOKEN is a token with all scopes; without it the script
# signs up as LADE_EMAIL for one, which it revokes at the end. The file that it stages is its own, and is removed again.
set -eu

url=${LADE_URL:-http://127.0.0.1:8080}
url=${url%/}
email=${LADE_EMAIL:-walk-through@example.org}

umask 077
work=$(mktemp -d)
cd "$work"
finish() {
  status=$?
  trap - EXIT
  if [ "$status" -ne 0 ]; then
    printf '\nThat failed. The last answer of the service: ' >&2
    if [ -s answer.json ]; then { cat answer.json && echo; } >&2; else printf 'none\n' >&2; fi
  fi
  cd /
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# In place of the user's own settings: say nothing but errors, and keep the answer of a request that fails.
printf 'silent\nshow-error\nfail-with-body\n' >.curlrc
export CURL_HOME="$work"

step() { printf '\n== %s\n' "$1"; }

# Shows a command as it could be typed, and runs it.
show() {
  printf '$'
  for word; do
    case $word in
    *[!A-Za-z0-9_./:=@%-]*) printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")" ;;
    *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$@"
}

# Prints the last answer.
answer() { if command -v jq >/dev/null; then jq . answer.json; else cat answer.json && echo; fi; }

# The last text called $1 in the last answer. Enough for a script; a program parses the JSON.
field() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' answer.json; }

token=${LADE_TOKEN:-}
if [ -z "$token" ]; then
  step 'Sign up. The token is in this answer and in no other.'
  show curl -o answer.json -H 'Content-Type: application/json' \
    -d "{\"email\":\"$email\",\"label\":\"walk-through\",\"ttlDays\":1}" "$url/api/auth/signup"
  token=$(field token)
  sed 's/pk_live_[^"]*/pk_live_.../' answer.json && echo
fi
# In a file, since all users of a machine can read the arguments of programs. printf is part of the shell.
printf 'Authorization: Bearer %s\n' "$token" >token.txt

step 'Make a file. Its sha2-256 is a content id.'
printf 'Hello from process %s on %s\n' "$$" "$(date)" >hello.txt
show sha256sum hello.txt
cid=$(sha256sum hello.txt | sed 's/ .*//')

step 'Upload it. It is taken only if its bytes have the id.'
show curl -o answer.json -H @token.txt -H 'Content-Type: text/plain' -H 'X-Filename: hello.txt' \
  --data-binary @hello.txt "$url/api/upload?cid=$cid"
answer

step 'List the newest of what is staged.'
show curl -o answer.json -H @token.txt "$url/api/files?limit=1"
answer

step 'Fetch five bytes of it. What is public needs no token.'
show curl -r 0-4 -w '\nHTTP %{http_code}, %{size_download} bytes\n' "$url/p/$cid"

step 'Fetch all of it, and check it against the id.'
show curl -o copy.txt "$url/p/$cid"
printf '%s  copy.txt\n' "$cid" >sums.txt
show sha256sum -c sums.txt

step 'Delete it. From now on it is gone.'
show curl -o answer.json -H @token.txt -X DELETE "$url/api/files/$cid"
answer
show curl --no-fail-with-body -o answer.json -w 'HTTP %{http_code}\n' "$url/p/$cid"

if [ -z "${LADE_TOKEN:-}" ]; then
  step 'Revoke the token.'
  show curl -o answer.json -H @token.txt "$url/api/tokens"
  jti=$(sed 's/"current":true.*//' answer.json | sed -n 's/.*"jti":"\([^"]*\)".*/\1/p')
  show curl -o answer.json -H @token.txt -H 'Content-Type: application/json' \
    -d "{\"jti\":\"$jti\"}" "$url/api/tokens/revoke"
  answer
fi
