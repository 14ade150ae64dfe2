#!/bin/bash
# What `npm run test:interop` needs: Java 17, Maven, a Python with pyarrow, pyorc, pyspark and gRPC's tools (in .cache/venv), Go 1.21 with
# protoc's plugins (in .cache/go/bin), openssl, Hive's jars (about 300 MB, in ${ORACLE_CACHE:-~/.cache/hive-oracle}). Does nothing where
# all is there. Prints what is missing and ends with 1 where it cannot help.
# With the argument `mariadb` only mariadb-server, which npm test uses too; it starts no service.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

say() { echo "setup-interop: $*" >&2; }

install_packages() {
  if ! command -v apt-get >/dev/null; then say "please install: $*"; exit 1; fi
  local sudo=''
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then say "please install as root: $*"; exit 1; fi
    sudo=sudo
  fi
  say "installing $*"
  $sudo apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$@" >&2
}

# The tests start servers of their own: Debian's package is kept from starting one, now or at the next boot.
install_mariadb() {
  if PATH=$PATH:/usr/sbin command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null; then return; fi
  local policy=/usr/sbin/policy-rc.d ours=''
  if [ "$(id -u)" -eq 0 ] && [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    ours=yes
  fi
  local status=0
  install_packages mariadb-server || status=$?
  [ -z "$ours" ] || rm -f "$policy"
  [ "$status" -eq 0 ] || exit "$status"
  if [ -d /run/systemd/system ]; then
    if [ "$(id -u)" -eq 0 ]; then systemctl disable --now mariadb >&2 || true; else sudo systemctl disable --now mariadb >&2 || true; fi
  fi
}

java_version() { java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1; }

install_mariadb
[ "${1:-}" != mariadb ] || exit 0

missing=()
command -v javac >/dev/null && [ "$(java_version)" -ge 17 ] || missing+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
command -v python3 >/dev/null || missing+=(python3)
if [ ! -x "$root/.cache/venv/bin/python" ] && command -v python3 >/dev/null && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then missing+=(python3-venv); fi
command -v openssl >/dev/null || missing+=(openssl)
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || missing+=(golang-go)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

if ! "$root/.cache/venv/bin/python" -c 'import pyarrow.orc, pyorc' 2>/dev/null; then
  say "making .cache/venv with pyarrow and pyorc"
  mkdir -p "$root/.cache"
  python3 -m venv "$root/.cache/venv"
  "$root/.cache/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow pyorc >&2
  "$root/.cache/venv/bin/python" -c 'import pyarrow.orc, pyorc'
fi

if ! "$root/.cache/venv/bin/python" -c 'import grpc_tools, grpc_status, grpc_health, grpc_reflection' 2>/dev/null; then
  say "adding gRPC to .cache/venv"
  "$root/.cache/venv/bin/pip" install --quiet --disable-pip-version-check \
    grpcio-tools grpcio-status grpcio-health-checking grpcio-reflection >&2
fi

if ! "$root/.cache/venv/bin/python" -c 'import pyspark, pandas, pyarrow.flight' 2>/dev/null; then
  say "adding pyspark to .cache/venv (450 MB)"
  "$root/.cache/venv/bin/pip" install --quiet --disable-pip-version-check pyspark pandas >&2
fi

if ! "$root/.cache/venv/bin/python" -c 'import adbc_driver_flightsql' 2>/dev/null; then
  say "adding ADBC's Flight SQL driver to .cache/venv"
  "$root/.cache/venv/bin/pip" install --quiet --disable-pip-version-check adbc-driver-flightsql adbc-driver-manager >&2
fi

go_minor=$(go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
if [ "${go_minor:-0}" -lt 21 ]; then say "Go 1.21 or later is needed, found $(go env GOVERSION): please install it"; exit 1; fi
if [ ! -x "$root/.cache/go/bin/protoc-gen-go" ] || [ ! -x "$root/.cache/go/bin/protoc-gen-go-grpc" ]; then
  say "making protoc-gen-go and protoc-gen-go-grpc in .cache/go/bin"
  export GOBIN=$root/.cache/go/bin
  go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.6
  go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1
fi
