create table t (id int, v string, n int) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true');
create table p (id int, v string) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
create table s (id int, v string, k int) stored as orc tblproperties ('transactional'='true');
insert into s values (1,'a',1),(2,'b',2),(3,'c',1),(4,'d',3),(5,'e',2),(6,'f',1);
from s insert into t select id, v, k where id < 4 insert into t select id + 10, v, k where id > 2;
from s insert into p partition (k=1) select id, v where k = 1 insert into p partition (k=2) select id, v where k = 2;
from s insert into p partition (k) select id + 100, v, k insert into p partition (k=9) select id, v;
!ls t
!ls p
merge into t using (select id, v, k from s union all select 50, 'new', 7) s on t.id = s.id when matched and s.id = 1 then delete when matched then update set v = upper(s.v), n = t.n + 100 when not matched then insert values (s.id + 1000, s.v, s.k);
!ls t
select ROW__ID, * from t order by id, v;
!snapshot merged
alter table t compact 'minor';
!worker
!cleaner
!ls t
select ROW__ID, * from t order by id, v;
!snapshot minor
merge into t using s on t.id = s.id when matched then delete;
from s insert into t select id, v, k where id = 1 insert into t select id, v, k where id = 2;
update t set n = -1 where id > 1000;
!ls t
alter table t compact 'minor';
!worker
!cleaner
!ls t
select ROW__ID, * from t order by id, v;
!snapshot minor2
alter table t compact 'major';
!worker
!cleaner
!ls t
select ROW__ID, * from t order by id, v;
!snapshot major
alter table p partition (k=1) compact 'minor';
alter table p partition (k=9) compact 'major';
!worker
!worker
!cleaner
!ls p
merge into p using s on p.id = s.id and p.k = 1 when matched and s.id = 1 then delete when matched then update set v = 'm' when not matched then insert values (s.id + 500, s.v, s.k);
!ls p
select * from p order by k, id, v;
alter table p partition (k=1) compact 'major';
alter table p partition (k=2) compact 'minor';
!worker
!worker
!cleaner
!ls p
select * from p order by k, id, v;
show compactions;
!snapshot parts
create table c clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true') as select * from s;
create table c2 stored as orc tblproperties ('transactional'='true') as select * from s where id < 3;
insert into c2 values (9,'z',9);
alter table c2 compact 'major';
!worker
!cleaner
!ls c2
select * from c2 order by id;
