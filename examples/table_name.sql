-- A bucketed table that says itself how it wants to be compacted.
-- skep -f examples/table_name.sql
create table table_name (
  id   int,
  name string
)
clustered by (id) into 2 buckets
stored as orc
tblproperties (
  'transactional' = 'true',
  'compactor.mapreduce.map.memory.mb' = '2048',                      -- handed to the compaction job
  'compactorthreshold.hive.compactor.delta.num.threshold' = '4',    -- more deltas than this: a minor compaction
  'compactorthreshold.hive.compactor.delta.pct.threshold' = '0.5'   -- deltas above half of the base: a major one
);

insert into table_name values (1, 'one'), (2, 'two'), (3, 'three');
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/table_name;
insert into table_name values (4, 'four');
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/table_name;
delete from table_name where id = 3;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/table_name;

-- A minor compaction makes one delta and one delete_delta of many.
alter table table_name compact 'minor' and wait with overwrite tblproperties ('compactor.mapreduce.map.memory.mb' = '3072');
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/table_name;
show compactions;

-- A major compaction makes a base. Here it may use a property of its own for the files it writes.
alter table table_name compact 'major' and wait with overwrite tblproperties ('tblprops.orc.compress.size' = '8192');
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/table_name;
show compactions;

show transactions;
show locks;
select * from table_name order by id;
