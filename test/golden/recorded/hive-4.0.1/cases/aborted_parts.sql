create table t (id int, v string) partitioned by (k int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
create table dup (id int, v string, k int) stored as orc tblproperties ('transactional'='true');
create table m (id int, v string) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into dup values (1,'x',1),(1,'y',1),(3,'z',3),(4,'w',4);
insert into t values (1,'a',1),(2,'b',2);
merge into t using dup s on t.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v, s.k);
merge into t using dup s on t.id = s.id when matched then delete when not matched then insert values (s.id, s.v, s.k);
!ls t
insert into t values (5,'e',1),(6,'f',3);
select ROW__ID, * from t order by id;
!snapshot aborts
alter table t partition (k=1) compact 'minor';
!worker
show compactions;
!cleaner
!ls t
alter table t partition (k=3) compact 'major';
!worker
show compactions;
!sleep 1100
!cleaner
!ls t
alter table t drop partition (k=1);
insert into t values (7,'g',1);
!ls t
select ROW__ID, * from t order by id;
merge into t using dup s on t.id = s.id + 6 and s.id = 1 when matched then update set v = s.v;
insert overwrite table t partition (k=1) select id, v from t where k = 1;
!ls t
alter table t partition (k=1) compact 'major';
!worker
!sleep 1100
!cleaner
!ls t
!snapshot end
select ROW__ID, * from t order by id;
show transactions;
abort transactions 1;
