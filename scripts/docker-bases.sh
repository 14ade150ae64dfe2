#!/bin/bash
# Where no registry of images can be reached: makes stand-ins of the images that docker/ starts from, of Debian's packages and this
# machine's Node, under their very names: scripts/docker-bases.sh podman|docker. For scripts/docker-check.sh, on Debian, as root, with
# debootstrap. The one of MariaDB has an entrypoint and a health check of its own, which take the same variables.
set -euo pipefail
engine=${1:?podman or docker}
command -v debootstrap >/dev/null || { echo 'docker-bases: debootstrap is needed' >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# `chroot` without what the packages' own scripts would start.
install() {
  local root=$1; shift
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"; chmod +x "$root/usr/sbin/policy-rc.d"
  chroot "$root" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
}

# image NAME ROOT CHANGE…: the engine's own settings, as in a Dockerfile.
image() {
  local name=$1 root=$2 changes=(); shift 2
  for change in "$@"; do changes+=(--change "$change"); done
  tar -C "$root" -c . | "$engine" import "${changes[@]}" - "docker.io/library/$name" >/dev/null
  echo "docker-bases: $name" >&2
}

debootstrap --variant=minbase --include=ca-certificates,libstdc++6 bookworm "$work/slim" >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
# What this machine trusts: a registry of packages may be behind an authority of its own.
cp /etc/ssl/certs/ca-certificates.crt "$work/slim/etc/ssl/certs/ca-certificates.crt"
cp -a "$work/slim" "$work/mariadb"

node=$(readlink -f "$(command -v node)")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
cp "$node" "$work/slim/usr/local/bin/node"
mkdir -p "$work/slim/usr/local/lib/node_modules"
cp -a "$npm" "$work/slim/usr/local/lib/node_modules/npm"
for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$work/slim/usr/local/bin/$name"; done
# Node's headers are part of the official image; npm compiles native modules against them.
cp -a "$(dirname "$(dirname "$node")")/include/node" "$work/slim/usr/local/include/node"
chroot "$work/slim" useradd --create-home --uid 1000 --shell /bin/bash node
cert='ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt'
image node:20-bookworm-slim "$work/slim" "$cert" 'CMD ["node"]'
install "$work/slim" build-essential python3 git
image node:20-bookworm "$work/slim" "$cert" 'CMD ["node"]'
rm -rf --one-file-system "$work/slim"

install "$work/mariadb" mariadb-server gosu
rm -rf "$work"/mariadb/var/lib/mysql/*
cat >"$work/mariadb/usr/local/bin/docker-entrypoint.sh" <<'END'
#!/bin/bash
# The same variables as the official image's; what it does with them is the least that is needed.
set -e
secret() { local file=$1_FILE; if [ -n "${!file:-}" ]; then cat "${!file}"; else echo "${!1:-}"; fi; }
mkdir -p /run/mysqld; chown mysql:mysql /run/mysqld /var/lib/mysql
if [ ! -d /var/lib/mysql/mysql ]; then
  password=$(secret MARIADB_PASSWORD)
  [ -n "$password" ] || { echo 'MARIADB_PASSWORD or MARIADB_PASSWORD_FILE is needed' >&2; exit 1; }
  mariadb-install-db --user=mysql --skip-test-db --auth-root-authentication-method=socket >/dev/null
  quoted=${password//\'/\'\'}
  cat >/run/mysqld/first.sql <<SQL
CREATE DATABASE \`$MARIADB_DATABASE\`;
CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$quoted';
GRANT ALL ON \`$MARIADB_DATABASE\`.* TO '$MARIADB_USER'@'%';
CREATE USER healthcheck@localhost IDENTIFIED VIA unix_socket;
SQL
  chown mysql:mysql /run/mysqld/first.sql
  set -- "$@" --init-file=/run/mysqld/first.sql
fi
exec gosu mysql "$@" --bind-address=0.0.0.0 --skip-name-resolve
END
cat >"$work/mariadb/usr/local/bin/healthcheck.sh" <<'END'
#!/bin/bash
exec mariadb --user=root --batch --skip-column-names --execute 'SELECT 1' >/dev/null
END
chmod +x "$work"/mariadb/usr/local/bin/*.sh
image mariadb:10.11 "$work/mariadb" 'ENTRYPOINT ["docker-entrypoint.sh"]' 'CMD ["mariadbd"]' 'VOLUME /var/lib/mysql'
