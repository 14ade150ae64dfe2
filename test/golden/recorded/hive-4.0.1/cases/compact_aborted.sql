create table t (id int, v string not null enable) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true');
create table dup (id int, v string) stored as orc tblproperties ('transactional'='true');
insert into dup values (1,'x'),(1,'y'),(9,'z');
insert into t values (1,'a'),(2,'b'),(3,'c');
merge into t using dup s on t.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v);
insert into t values (4,'d');
merge into t using dup s on t.id = s.id when matched then delete when not matched then insert values (s.id, s.v);
update t set v = 'u' where id = 2;
merge into t using dup s on t.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v);
!ls t
!snapshot aborts
select ROW__ID, * from t order by id;
show transactions;
alter table t compact 'minor';
!worker
show compactions;
!ls t
!cleaner
!ls t
show transactions;
!snapshot minor
merge into t using dup s on t.id = s.id when matched then update set v = s.v;
merge into t using dup s on t.id = s.id when matched then update set v = s.v;
!ls t
alter table t compact 'minor';
!worker
show compactions;
!sleep 1100
!cleaner
!ls t
show compactions;
insert into t values (5,'e');
merge into t using dup s on t.id = s.id when matched then update set v = s.v;
alter table t compact 'major';
!worker
!ls t
!cleaner
!ls t
show compactions;
!snapshot major
merge into t using dup s on t.id = s.id when matched then update set v = s.v;
alter table t compact 'major';
!worker
show compactions;
!sleep 1100
!cleaner
!ls t
show compactions;
!txn open r
merge into t using dup s on t.id = s.id when matched then update set v = s.v;
insert into t values (6,'f');
alter table t compact 'major';
!worker
!cleaner
!ls t
show compactions;
!txn abort r
!sleep 1100
!cleaner
!ls t
show compactions;
select ROW__ID, * from t order by id;
create table ap (id int, v string) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
insert into ap values (1,'a',1),(2,'b',2);
merge into ap t using dup s on t.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v, 3);
!ls ap
show partitions ap;
alter table ap partition (k=1) compact 'major';
!worker
show compactions ap;
!sleep 1100
!cleaner
!ls ap
!snapshot parts
