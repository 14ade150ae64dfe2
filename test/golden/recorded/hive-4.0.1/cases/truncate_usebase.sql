create table t (a int) clustered by (a) into 1 buckets stored as orc tblproperties ('transactional'='true');
create table p (a int) partitioned by (k int) clustered by (a) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into t values (1),(2);
insert into p values (1,1),(2,2);
truncate table t;
!ls t
truncate table p partition (k=1);
!ls p
show compactions;
insert into t values (3);
select ROW__ID, * from t;
select * from p;
!snapshot withbase
set hive.acid.truncate.usebase=false;
truncate table t;
!ls t
truncate table p partition (k=2);
!ls p
select * from t;
insert into t values (4);
select ROW__ID, * from t;
!ls t
!snapshot withoutbase
set hive.acid.lockless.reads.enabled=true;
truncate table t;
!ls t
insert into t values (5);
select ROW__ID, * from t;
show compactions;
