create table a (id int, v string) stored as orc tblproperties ('transactional'='true');
create table p (id int) partitioned by (k int, s string) stored as orc tblproperties ('transactional'='true');
create table plain (id int) stored as orc tblproperties ('transactional'='false');
create table plainp (id int) partitioned by (k int) stored as orc tblproperties ('transactional'='false');
create external table ext (id int) stored as orc;
create view v as select * from a;
create table m (id int) stored as textfile tblproperties ('transactional'='true','transactional_properties'='insert_only');
create table b (id int) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true');
create table na (id int) stored as orc tblproperties ('transactional'='true','NO_AUTO_COMPACTION'='true');
alter table nosuch compact 'major';
alter table nosuchdb.t compact 'major';
alter table plain compact 'minor';
alter table plainp partition (k=1) compact 'minor';
alter table ext compact 'major';
alter table v compact 'major';
alter table a compact 'full';
alter table a compact '';
alter table a compact 'MAJOR';
alter table a compact 'major';
alter table a compact 'minor';
show compactions;
alter table a partition (k=1) compact 'major';
alter table p compact 'major';
insert into p values (1,1,'x'),(2,1,'y'),(3,2,'x');
alter table p compact 'major';
alter table p partition (k=1) compact 'major';
alter table p partition (k=9, s='x') compact 'major';
alter table p partition (k=1, nosuch='x') compact 'major';
alter table p partition (k='one', s='x') compact 'major';
alter table p partition (k=1, s='x') compact 'major';
alter table p partition (k=1, s='x') compact 'major';
alter table p partition (k=1, s='y') compact 'minor' pool 'pl';
alter table p partition (s='x', k=2) compact 'minor' with overwrite tblproperties ('compactor.mapreduce.map.memory.mb'='1024','tblprops.orc.compress.size'='8192');
show compactions;
show compactions p;
show compactions p partition (k=1);
show compactions p partition (k=1, s='x');
show compactions database compact_refused;
show compactions schema compact_refused pool 'pl';
show compactions compact_refused.p type 'minor';
show compactions pool 'pl' type 'minor' status 'initiated';
show compactions database compact_refused order by compactionid desc limit 2;
show compactions database compact_refused status 'nosuch';
show compactions database compact_refused type 'nosuch';
show compactions database nosuchdb;
show compactions nosuch;
show compactions database compact_refused order by nosuch;
show compactions compactionid=1;
show compactions compactionid=999999;
!worker
show compactions;
show compactions status 'refused';
show compactions status 'ready for cleaning';
alter table b compact 'rebalance';
alter table m compact 'rebalance';
alter table m compact 'minor';
alter table na compact 'major';
alter table na compact 'rebalance' clustered into 3 buckets;
alter table na compact 'major' clustered into 3 buckets;
alter table na compact 'major' order by id;
alter table a compact 'rebalance' order by id desc;
!worker
!worker
!worker
!worker
!worker
!worker
show compactions;
abort compactions 1;
abort compactions 999999;
abort compactions 1 999999 2;
abort compactions;
alter table b compact 'major';
show compactions b;
