create table t (a int, b string) stored as orc tblproperties ('transactional'='true');
create table p (a int) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
create table plain (a int) stored as orc tblproperties ('transactional'='false');
insert into t values (1,'x');
insert into p values (1,1),(2,2);
!txn open h
!lock h lock_waits.t
!lock h lock_waits.plain
show locks t;
show locks plain;
show locks p;
show locks database lock_waits;
select * from t;
insert into t values (2,'y');
update t set b = 'z';
delete from t where a = 1;
merge into t using p on t.a = p.a when matched then delete;
insert into p select a, 5 from t;
insert overwrite table t select a, 'n' from p;
insert into plain values (1);
select * from plain;
drop table t;
truncate table t;
alter table t add columns (c int);
alter table t set tblproperties ('x'='y');
alter table t rename to t2;
analyze table t compute statistics;
create table c stored as orc tblproperties ('transactional'='true') as select * from t;
create view v as select * from t;
alter table t compact 'major';
!worker
show compactions;
select * from p order by a;
drop database lock_waits cascade;
set hive.txn.read.locks=false;
select * from t;
set hive.txn.read.locks=true;
set hive.txn.nonacid.read.locks=false;
select * from plain;
set hive.txn.nonacid.read.locks=true;
set hive.acid.lockless.reads.enabled=true;
select * from t;
set hive.acid.lockless.reads.enabled=false;
set hive.txn.xlock.write=false;
select * from t;
insert into t values (2,'y');
set hive.txn.xlock.write=true;
set hive.txn.xlock.iow=false;
select * from t;
set hive.txn.xlock.iow=true;
show locks;
!txn abort h
show locks;
insert into t values (2,'y');
select * from t order by a;
insert into plain values (3);
select * from plain;
!txn open g
!lock g lock_waits.p
insert into p values (3,3);
alter table p drop partition (k=1);
alter table p add partition (k=9);
select * from p where k = 1;
show partitions p;
show locks p partition (k=1);
show locks p;
!txn commit g
select * from p order by a;
show transactions;
