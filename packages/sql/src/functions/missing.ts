/*
 * Functions that Hive 4.0.1 has and skep has not: a call is an error that says so, and why.
 */

const NO_JAVA = 'it calls a method of a Java class, and skep runs without Java';
const SKETCHES = "it reads or writes sketches of Apache DataSketches' binary form";
const GEOMETRY = "it belongs to Esri's geometry library";
const PARTITIONED = 'partitioned table functions (ON … PARTITION BY) are not supported';
const INTERNAL = "Hive's planner uses it internally";

const REASONS: Readonly<Record<string, string>> = {
  java_method: NO_JAVA,
  reflect: NO_JAVA,
  reflect2: NO_JAVA,
  matchpath: PARTITIONED,
  noop: PARTITIONED,
  noopwithmap: PARTITIONED,
  noopstreaming: PARTITIONED,
  noopwithmapstreaming: PARTITIONED,
  windowingtablefunction: PARTITIONED,
  bloom_filter: INTERNAL,
  in_bloom_filter: INTERNAL,
  cardinality_violation: INTERNAL,
  compute_bit_vector_fm: "it computes Hive's own column statistics; skep's come from the files",
  compute_bit_vector_hll: "it computes Hive's own column statistics; skep's come from the files",
  compute_stats: "it computes Hive's own column statistics; skep's come from the files",
  ndv_compute_bit_vector: "it computes Hive's own column statistics; skep's come from the files",
  $sum0: INTERNAL,
  bucket_number: INTERNAL,
  datetime_legacy_hybrid_calendar: INTERNAL,
  deserialize: INTERNAL,
  exception_in_vertex_udaf: "it tests Hive's own executor",
  exception_in_vertex_udf: "it tests Hive's own executor",
  get_llap_splits: 'it belongs to LLAP',
  get_splits: 'it belongs to LLAP',
  get_sql_schema: 'it belongs to LLAP',
  internal_interval: INTERNAL,
  json_read: 'a text is read into nested types only by the table formats',
  restrict_information_schema: 'there is no information_schema',
  split_map_privs: 'there is no information_schema',
  surrogate_key: 'it is only for DEFAULT of a column',
  validate_acid_sort_order: INTERNAL,
};

/** By reason, for the documentation. */
export function missingByReason(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>([
    [SKETCHES, ['ds_…']],
    [GEOMETRY, ['st_…']],
  ]);
  for (const [name, reason] of Object.entries(REASONS)) found.set(reason, [...(found.get(reason) ?? []), name]);
  return found;
}

/** Why a function of Hive's is not there; undefined for a name that Hive does not have either. */
export function missingReason(name: string): string | undefined {
  if (name.startsWith('ds_')) return SKETCHES;
  if (name.startsWith('st_')) return GEOMETRY;
  return REASONS[name];
}
