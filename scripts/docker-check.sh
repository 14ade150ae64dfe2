#!/bin/bash
# docker/ for real: builds the image, runs docker/compose.yaml, and goes through what docker/README.md tells: a client creates, writes and
# compacts; compactors and metastore are stopped, killed and started again; users, rights, signals, secrets, sizes.
#
#     scripts/docker-check.sh [--no-build]          with docker and its compose, or podman and podman-compose
#
# ENGINE and COMPOSE name others. Where no registry of images can be reached, scripts/docker-bases.sh makes the images it starts from;
# BUILD_ARGS (--network=host) are added to the build. Leaves the image `skep`; containers and volumes of the check (project skep-check)
# are removed. Ends with 1 at what does not hold, and where there is no engine.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
say() { echo "docker-check: $*" >&2; }
fail() { say "FAILED: $*"; exit 1; }

engine=${ENGINE:-$(command -v docker || command -v podman || true)}
if [ -z "$engine" ]; then
  say '*** there is neither docker nor podman here: NOTHING WAS CHECKED ***'
  exit 1
fi
case $(basename "$engine") in
  podman*) compose=${COMPOSE:-podman-compose} ;;
  *) compose=${COMPOSE:-$engine compose} ;;
esac
$compose version >/dev/null 2>&1 || fail "'$compose' does not run: COMPOSE names another"
project=skep-check
run_compose() { $compose -p "$project" -f docker/compose.yaml "$@"; }
# Names differ between the two; labels do not.
containers() { "$engine" ps -q --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$1"; }
one() { containers "$1" | head -1; }

checks=0
holds() { # WHAT, then a command that must succeed
  local what=$1; shift
  "$@" >/dev/null || fail "$what"
  checks=$((checks + 1))
}
equal() { # WHAT GOT WANTED
  [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
  checks=$((checks + 1))
}
eventually() { # WHAT SECONDS, then a command
  local what=$1 until=$((SECONDS + $2)); shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || fail "$what"
    sleep 1
  done
  checks=$((checks + 1))
}
client() { run_compose --profile client run --rm -T client "$@" 2>"$log" || { cat "$log" >&2; fail "client $*"; }; }

log=$(mktemp)
made_secret=
secret=docker/secrets/db-password
clean() {
  local status=$?
  if [ $status -ne 0 ]; then
    for service in mariadb metastore compactor; do
      for container in $(containers $service); do say "$service: $("$engine" logs --tail 20 "$container" 2>&1)"; done
    done
  fi
  run_compose --profile client down --volumes >/dev/null 2>&1 || true
  "$engine" volume rm skep-check-home >/dev/null 2>&1 || true
  [ -z "$made_secret" ] || rm -f "$secret"
  rm -f "$log"
}
trap clean EXIT

if [ ! -e "$secret" ]; then
  (umask 077 && mkdir -p docker/secrets)
  head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$secret"
  made_secret=yes
fi
password=$(cat "$secret")

if [ "${1:-}" != --no-build ]; then
  say 'building the image'
  "$engine" build ${BUILD_ARGS:-} -t skep -f docker/Dockerfile .
fi

say 'the image'
inside() { "$engine" run --rm --entrypoint sh skep -c "$1"; }
equal 'the user of the image' "$(inside 'id -un; id -u' | tr '\n' ' ')" 'skep 10001 '
equal 'what is in /skep' "$(inside 'ls -A /skep | tr "\n" " "; ls /skep/apps/cli | tr "\n" " "')" 'apps node_modules package.json bin dist package.json '
equal 'sources, tests, secrets and development tools' \
  "$(inside 'find / -xdev \( -name "*.test.ts" -o -name db-password -o -path "/skep/*/typescript/package.json" -o -path "/skep/*/vitest" \) 2>/dev/null | head -3')" ''
equal 'what skep can write of itself' "$(inside 'find /skep -writable ! -type l | head -3')" ''
equal 'a missing command' "$("$engine" run --rm skep --version)" "$(node -p 'require("./package.json").version')"
bytes=$("$engine" image inspect skep --format '{{.Size}}')

say 'one process, with its home in a volume'
alone() { "$engine" run --rm -v skep-check-home:/home/skep/.skep skep "$@"; }
alone -e "create table t (id int) stored as orc tblproperties ('transactional'='true'); insert into t values (1), (2)" >/dev/null
equal 'rows of the second container' "$(alone -e 'delete from t where id = 1; select * from t' | tail -1)" 2

say 'services apart'
run_compose up --detach --no-build >"$log" 2>&1 || { cat "$log" >&2; fail 'compose up'; }
serves() { "$engine" exec "$(one metastore)" skep health 127.0.0.1:9083; }
eventually 'the metastore does not serve' 120 serves
two_compactors() { [ "$(containers compactor | wc -l)" -eq 2 ]; }
eventually 'two compactors' 60 two_compactors
probe="fetch('http://127.0.0.1:9108/metrics').then((answer) => process.exit(answer.ok ? 0 : 1))"
for container in $(containers compactor); do
  eventually 'a compactor without figures' 60 "$engine" exec "$container" node -e "$probe"
done

acid="stored as orc tblproperties ('transactional'='true')"
equal 'what a client reads' "$(client -e "create database d; create table d.t (id int, v string) $acid; insert into d.t values (1,'a'),(2,'b'),(3,'c');
  update d.t set v = 'x' where id = 2; delete from d.t where id = 1; select * from d.t order by id" | tail -2 | tr '\t\n' ' ')" '2 x 3 c '
client -e "alter table d.t compact 'major' and wait"
equal 'the compaction' "$(client -e 'show compactions' | tail -1 | cut -f2,3,5)" "$(printf 'd\tt\tMAJOR')"
folders() { "$engine" exec "$(one metastore)" ls "/warehouse/d.db/$1"; }
cleaned() { [ "$(folders "$1" | wc -l)" -eq 1 ] && folders "$1" | grep -q '^base_'; }
eventually 'the Cleaner leaves one folder' 60 cleaned t
equal 'whose the files are' "$("$engine" exec "$(one metastore)" find /warehouse ! -user skep)" ''
equal 'who runs' "$("$engine" exec "$(one metastore)" id -un)$("$engine" exec "$(one compactor)" id -un)" skepskep
equal 'what root of the container may do' "$("$engine" exec "$(one metastore)" sh -c 'grep CapBnd /proc/1/status | tr -d "\t"')" 'CapBnd:0000000000000000'
for container in $(containers metastore) $(containers compactor); do
  if { "$engine" inspect "$container"; "$engine" logs "$container" 2>&1; } | grep -qF "$password"; then fail 'the password can be seen'; fi
done
checks=$((checks + 1))

say 'a compactor is stopped, the metastore started again under a client'
stopped=$(one compactor)
before=$SECONDS
"$engine" stop "$stopped" >/dev/null 2>&1
[ $((SECONDS - before)) -lt 8 ] || fail 'a compactor does not hear SIGTERM'
equal 'how a compactor ends' "$("$engine" inspect "$stopped" --format '{{.State.ExitCode}}')" 0
client -e "create table d.u (id int) $acid; insert into d.u values (1); insert into d.u values (2); alter table d.u compact 'major' and wait" >/dev/null
eventually 'the other compactor compacts' 60 cleaned u
client -e "$(for i in 1 2 3 4 5 6 7 8; do echo "insert into d.u values (1$i);"; done)" >/dev/null &
writing=$!
sleep 2
"$engine" restart "$(one metastore)" >/dev/null 2>&1
wait $writing || fail 'a client whose metastore was started again'
equal 'rows after that' "$(client -e 'select count(*) from d.u' | tail -1)" 10
"$engine" exec "$(one metastore)" sh -c 'kill -9 $(cut -d" " -f1 /proc/[0-9]*/stat | while read pid; do grep -qa "^node" /proc/$pid/cmdline && echo $pid; done)' || true
eventually 'the metastore is started again by the engine' 60 serves
equal 'rows at the end' "$(client -e 'select count(*) from d.u' | tail -1)" 10

say "passed: $checks checks in $((SECONDS - started)) s, image $((bytes / 1000000)) MB"
