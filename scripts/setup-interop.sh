#!/bin/bash
# What `npm run test:interop` needs: Java 17, Maven, a Python with pyarrow and pyorc (in .cache/venv), Hive's jars (about 300 MB, in
# ${ORACLE_CACHE:-~/.cache/hive-oracle}). Does nothing where all is there. Prints what is missing and ends with 1 where it cannot help.
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

java_version() { java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1; }

missing=()
command -v javac >/dev/null && [ "$(java_version)" -ge 17 ] || missing+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
command -v python3 >/dev/null || missing+=(python3)
if [ ! -x "$root/.cache/venv/bin/python" ] && command -v python3 >/dev/null && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then missing+=(python3-venv); fi
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

if ! "$root/.cache/venv/bin/python" -c 'import pyarrow.orc, pyorc' 2>/dev/null; then
  say "making .cache/venv with pyarrow and pyorc"
  mkdir -p "$root/.cache"
  python3 -m venv "$root/.cache/venv"
  "$root/.cache/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow pyorc >&2
  "$root/.cache/venv/bin/python" -c 'import pyarrow.orc, pyorc'
fi
