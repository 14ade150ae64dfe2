#!/bin/sh
# Compares our reading of ORC files with pyarrow's: PYTHON=venv/bin/python scripts/compare-pyarrow.sh FILE…
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp -d)
../../node_modules/.bin/esbuild scripts/canonical.mjs --bundle --platform=node --format=esm --conditions=source \
  --external:snappy --external:lz4-napi --external:@toondepauw/node-zstd --log-level=error --outfile=node_modules/.orc-compare/canonical.mjs || exit 1
status=0
for file in "$@"; do
  node --max-old-space-size=4096 node_modules/.orc-compare/canonical.mjs "$file" > "$out/rows" || { echo "FAILED $file"; status=1; continue; }
  "${PYTHON:-python3}" scripts/compare-pyarrow.py "$file" < "$out/rows" || status=1
done
rm -rf "$out" node_modules/.orc-compare
exit $status
