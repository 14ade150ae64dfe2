create table t (id int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
create table th (id int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true','compactorthreshold.hive.compactor.delta.num.threshold'='1');
create table pct (id int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true','compactorthreshold.hive.compactor.delta.pct.threshold'='0.9');
create table no (id int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true','no_auto_compaction'='true');
create table pool (id int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true','hive.compactor.worker.pool'='mine');
create table m (id int) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
create table p (id int) partitioned by (k int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into t values (1);
insert into th values (1);
insert into m values (1);
insert into pct values (1);
insert into no values (1);
insert into pool values (1);
!initiator
show compactions;
insert into t values (2);
insert into th values (2);
insert into m values (2);
insert into pool values (2);
!initiator
show compactions;
!worker
show compactions;
insert into t values (3);
insert into m values (3);
insert into t values (4);
insert into m values (4);
insert into no values (2);
insert into no values (3);
insert into no values (4);
insert into pool values (3);
insert into pool values (4);
insert into p values (1,1),(2,2);
insert into p values (3,1),(4,2);
insert into p values (5,1);
insert into p values (6,1);
!initiator
show compactions;
show compactions pool 'mine';
!worker
!worker
!worker
!worker
show compactions;
!sleep 1100
!cleaner
show compactions;
!ls t
!ls m
!ls p
!ls pool
alter table pct compact 'major';
!worker
insert into pct values (2);
insert into pct values (3);
alter table pct compact 'major';
!worker
!cleaner
delete from t where id = 1;
!initiator
show compactions t;
!worker
!cleaner
!ls t
insert into pct values (4);
insert into th values (3);
!initiator
show compactions th;
show compactions pct;
!worker
!worker
!worker
show compactions;
alter table p compact 'minor';
alter table p compact 'major';
show compactions p;
insert into p values (7,1);
insert into p values (8,1);
insert into p values (9,1);
insert into p values (10,1);
insert into p values (11,2);
insert into p values (12,2);
alter table p compact 'minor';
show compactions p;
!worker
!worker
!cleaner
!ls p
create database initiator_db with dbproperties ('no_auto_compaction'='true');
create table initiator_db.x (id int) stored as orc tblproperties ('transactional'='true');
create table initiator_db.y (id int) stored as orc tblproperties ('transactional'='true','no_auto_compaction'='false');
insert into initiator_db.x values (1);
insert into initiator_db.x values (2);
insert into initiator_db.x values (3);
insert into initiator_db.x values (4);
insert into initiator_db.y values (1);
insert into initiator_db.y values (2);
insert into initiator_db.y values (3);
insert into initiator_db.y values (4);
!initiator
show compactions database initiator_db;
show compactions initiator_db.x;
drop database initiator_db cascade;
show compactions;
