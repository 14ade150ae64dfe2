create table t (id int, v string) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true');
create table p (id int, v string) partitioned by (k int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
create table src (id int, v string, k int) stored as orc tblproperties ('transactional'='true');
insert into src values (1,'a',1),(2,'b',2),(3,'c',3),(4,'d',1);
insert overwrite table t select id, v from src where id > 100;
!ls t
insert into t select id, v from src;
insert overwrite table t select id, v from src where id < 3;
update t set v = 'u' where id = 1;
!ls t
!snapshot overwritten
alter table t compact 'minor';
!worker
!ls t
alter table t compact 'major';
!worker
!ls t
show compactions;
select ROW__ID, * from t order by id;
insert overwrite table p partition (k=1) select id, v from src;
insert into p select * from src;
insert overwrite table p select * from src where k = 2;
!ls p
select * from p order by k, id;
insert overwrite table p partition (k) select id, v, k + 10 from src;
insert overwrite table p partition (k=3) select id, v from src where false;
!ls p
select * from p order by k, id;
!snapshot parts
from src insert overwrite table p partition (k=1) select id, v where k = 1 insert into p partition (k=2) select id, v where k = 2;
!ls p
select ROW__ID, * from p order by k, id;
alter table p partition (k=1) compact 'major';
alter table p partition (k=2) compact 'major';
alter table p partition (k=3) compact 'major';
!worker
!worker
!worker
show compactions p;
!sleep 1100
!cleaner
!ls p
truncate table p partition (k=1);
insert into p partition (k=1) values (9,'z');
truncate table p;
!ls p
select count(*) from p;
insert into p values (20,'n',1);
alter table p partition (k=1) compact 'minor';
!worker
!sleep 1100
!cleaner
!ls p
delete from p where k = 1;
alter table p partition (k=1) compact 'major';
!worker
!cleaner
!ls p
select count(*) from p;
delete from p;
!ls p
show partitions p;
alter table p drop partition (k=2);
alter table p add partition (k=2);
insert into p partition (k=2) values (30,'back');
select ROW__ID, * from p;
!ls p
!copy p/k=2 p/k=77
msck repair table p;
show partitions p;
select count(*) from p;
alter table p partition (k=77) compact 'major';
!worker
show compactions p partition (k=77);
!snapshot last
insert overwrite table t select 1, 'x' union all select 2, 'y';
select * from t order by id;
insert overwrite table nosuch select 1;
insert overwrite table t select 1;
insert overwrite table p partition (k=1, z=2) select 1, 'x';
insert overwrite table p partition (z=2) select 1, 'x';
