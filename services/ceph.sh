#!/bin/bash
# Starts a Ceph of one node with an S3 gateway, for tests that want a real object store, and stops it.
#
#   services/ceph.sh start FOLDER PORT    FOLDER is new or empty; S3 is then at http://127.0.0.1:PORT, PORT+1 and PORT+2 are the monitor's
#   services/ceph.sh gateway FOLDER PORT  starts one more gateway of that Ceph, and prints its process id
#   services/ceph.sh stop FOLDER          ends the processes of that folder, and leaves the folder
#
# It is started when it has taken an object of each kind. Keys: test / testing. Buckets are made by whoever needs them. Everything is kept in memory and on 127.0.0.1 only.
# It needs Debian's ceph-mon, ceph-osd, ceph-common and radosgw (apt-get install --no-install-recommends).
set -euo pipefail

usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }
[[ $# -ge 2 ]] || usage
action=$1
folder=$(realpath -m "$2")

# One line for each process: its id, and when it began by the kernel's clock, since ids are used again.
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
remember() { echo "$1 $(started_at "$1")" >> "$folder/processes"; }

stop() {
  [[ -f $folder/processes ]] || return 0
  local id began
  # The gateway before what it stands on.
  while read -r id began; do
    [[ $(started_at "$id") == "$began" ]] || continue
    kill -TERM "$id" 2>/dev/null || true
    # One that was stopped ends when it goes on.
    kill -CONT "$id" 2>/dev/null || true
    for _ in $(seq 50); do [[ $(started_at "$id") == "$began" ]] || break; sleep 0.1; done
    [[ $(started_at "$id") == "$began" ]] && kill -KILL "$id" 2>/dev/null || true
  done < <(tac "$folder/processes")
  rm -f "$folder/processes"
}

[[ $action == stop ]] && { stop; exit 0; }
[[ $# -eq 3 ]] || usage
port=$3
if [[ $action == gateway ]]; then
  mkdir "$folder/gateway-$port"
  setsid radosgw -c "$folder/ceph.conf" -f -n client.gateway --rgw-data="$folder/gateway-$port" \
    --rgw-frontends="beast endpoint=127.0.0.1:$port" --admin-socket="$folder/gateway-$port.asok" \
    --pid-file="$folder/gateway-$port.pid" --log-file="$folder/log/gateway-$port.log" \
    > "$folder/log/gateway-$port.out" 2>&1 < /dev/null & remember $!
  timeout 90 bash -c "until curl -s -o /dev/null http://127.0.0.1:$port/; do sleep 0.2; done"
  echo $!
  exit 0
fi
[[ $action == start ]] || usage
mkdir -p "$folder"
[[ -z $(ls -A "$folder") ]] || { echo "$folder is not empty" >&2; exit 2; }
trap 'stop; echo "Ceph did not start; its logs are in $folder/log" >&2' ERR
mkdir "$folder"/{mon,osd,gateway,log}

fsid=$(< /proc/sys/kernel/random/uuid)
osd_uuid=$(< /proc/sys/kernel/random/uuid)
conf=$folder/ceph.conf
cat > "$conf" <<CONF
[global]
fsid = $fsid
keyring = $folder/keyring
mon host = [v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]
public network = 127.0.0.0/8
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
run dir = $folder
admin socket = $folder/\$name.asok
pid file = $folder/\$name.pid
log file = $folder/log/\$name.log
mon cluster log file = $folder/log/cluster.log
mon data = $folder/mon
# A full disk of the machine is not what is tested.
mon data avail warn = 1
mon data avail crit = 0
mon allow pool size one = true
osd data = $folder/osd
osd objectstore = memstore
memstore device bytes = ${CEPH_MEMORY_BYTES:-2147483648}
osd heartbeat grace = 60
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pg autoscale mode = off
[client.gateway]
rgw data = $folder/gateway
rgw frontends = beast endpoint=127.0.0.1:$port
rgw run sync thread = false
rgw thread pool size = 32
# What is deleted gives its memory back at once, and not after hours.
rgw gc obj min wait = 1
rgw gc processor period = 2
rgw gc processor max time = 2
CONF

key() { ceph-authtool "$folder/keyring" --gen-key -n "$@" > /dev/null; }
ceph-authtool --create-keyring "$folder/keyring" > /dev/null
key mon. --cap mon 'allow *'
key client.admin --cap mon 'allow *' --cap osd 'allow *'
key client.gateway --cap mon 'allow *' --cap osd 'allow *'
key osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'

monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]" "$folder/monmap" > /dev/null
ceph-mon -c "$conf" --mkfs -i a --monmap "$folder/monmap" --keyring "$folder/keyring" > "$folder/log/mkfs.mon" 2>&1
setsid ceph-mon -c "$conf" -f -i a > "$folder/log/mon.out" 2>&1 < /dev/null & remember $!

# The monitor takes a moment to answer, and the first command waits for it.
timeout 60 ceph -c "$conf" osd new "$osd_uuid" 0 -n mon. > /dev/null
ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$osd_uuid" > "$folder/log/mkfs.osd" 2>&1
setsid ceph-osd -c "$conf" -f -i 0 > "$folder/log/osd.out" 2>&1 < /dev/null & remember $!
timeout 60 bash -c "until ceph -c '$conf' osd stat 2>/dev/null | grep -q '1 up'; do sleep 0.2; done"

setsid radosgw -c "$conf" -f -n client.gateway > "$folder/log/gateway.out" 2>&1 < /dev/null & remember $!
timeout 90 bash -c "until curl -s -o /dev/null http://127.0.0.1:$port/; do sleep 0.2; done"
timeout 60 radosgw-admin -c "$conf" -n client.gateway user create --uid=test --display-name=test --access-key=test --secret=testing > /dev/null 2>&1

# The gateway creates a pool when something is first put into it. That takes seconds, and no test should wait for them: there is a pool for
# buckets, one for objects and one for uploads in parts. Eight keys reach every placement group of a pool.
s3() {
  curl -sSf --max-time 60 --aws-sigv4 aws:amz:us-east-1:s3 --user test:testing -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -X "$1" \
    "${@:3}" "http://127.0.0.1:$port/warm-up$2"
}
s3 PUT ''
for key in {1..8}; do
  s3 PUT "/$key" --data-binary "$key"
  upload=$(s3 POST "/$key?uploads=" | sed -n 's:.*<UploadId>\(.*\)</UploadId>.*:\1:p')
  etag=$(s3 PUT "/$key?partNumber=1&uploadId=$upload" --data-binary "$key" -o /dev/null -w '%header{etag}')
  s3 POST "/$key?uploadId=$upload" -o /dev/null --data-binary \
    "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>$etag</ETag></Part></CompleteMultipartUpload>"
  s3 DELETE "/$key"
done
s3 DELETE ''
echo "http://127.0.0.1:$port"
