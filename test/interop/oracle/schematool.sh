#!/bin/bash
# Hive 4.0.1's own schematool on a MySQL or MariaDB database: schematool.sh JDBC-URL [-initSchema|-info|…]. Logs in as the oracle does
# (APP, mine). Its scripts are in the archive of Hive's metastore, which the first run fetches (80 MB) into $ORACLE_CACHE.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cache=${ORACLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hive-oracle}
home=$cache/schematool
if [ ! -d "$home/scripts" ]; then
  artifact=org.apache.hive:hive-standalone-metastore-server:4.0.1:tar.gz:bin
  mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$artifact -DoutputDirectory="$home.part" >&2
  tar xzf "$home".part/*.tar.gz -C "$home.part" --strip-components=1 --wildcards '*/scripts/metastore/upgrade/mysql/*'
  rm -f "$home".part/*.tar.gz
  mv "$home.part" "$home"
fi
url=$1; shift
METASTORE_HOME=$home HIVE_HOME=$home exec java -Xmx512m -Dhive.log.file=/dev/null -Dlog4j2.configurationFile="$here/log4j2.properties" \
  -cp "$cache/lib/*" org.apache.hadoop.hive.metastore.tools.schematool.MetastoreSchemaTool \
  -dbType mysql -driver org.mariadb.jdbc.Driver -userName APP -passWord mine -url "$url" "${@:--initSchema}"
