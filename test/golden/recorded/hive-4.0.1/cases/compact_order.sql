create table t (id int, v string) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into t values (1,'a'),(2,'b');
insert into t values (3,'c');
delete from t where id = 1;
alter table t compact 'minor';
!worker
insert into t values (4,'d');
update t set v = 'D' where id = 4;
alter table t compact 'major';
!worker
insert into t values (5,'e');
show compactions;
!ls t
!sleep 1100
!cleaner
!ls t
!cleaner
!ls t
select ROW__ID, * from t order by id;
insert into t values (6,'f');
alter table t compact 'major';
!worker
insert into t values (7,'g');
alter table t compact 'major';
!worker
insert into t values (8,'h');
alter table t compact 'minor';
!worker
!sleep 1100
!cleaner
!ls t
!cleaner
!ls t
!cleaner
!ls t
select ROW__ID, * from t order by id;
!txn open r
insert into t values (9,'i');
alter table t compact 'major';
!worker
!sleep 1100
!cleaner
!ls t
insert into t values (10,'j');
alter table t compact 'minor';
!worker
!sleep 1100
!cleaner
!ls t
!txn commit r
!sleep 1100
!cleaner
!ls t
!cleaner
!ls t
!snapshot end
insert overwrite table t select id, v from t where id > 8;
insert into t values (11,'k');
insert overwrite table t select id + 100, v from t;
!ls t
alter table t compact 'minor';
!worker
!sleep 1100
!cleaner
!ls t
alter table t compact 'major';
!worker
!sleep 1100
!cleaner
!ls t
truncate table t;
truncate table t;
!ls t
alter table t compact 'major';
!worker
!sleep 1100
!cleaner
!ls t
