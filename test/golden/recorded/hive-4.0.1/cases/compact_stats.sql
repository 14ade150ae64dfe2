create table t (id int, v string) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
create table p (id int, v string) partitioned by (k int) clustered by (id) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into t values (1,'a'),(2,'b');
insert into t values (3,'c');
delete from t where id = 2;
describe formatted t;
describe extended t;
analyze table t compute statistics;
describe formatted t;
alter table t compact 'major';
!worker
!cleaner
describe formatted t;
show tblproperties t;
show table extended like 't';
show create table t;
insert into p values (1,'x',1),(2,'y',2);
insert into p values (3,'z',1);
update p set v = 'u' where id = 1;
alter table p partition (k=1) compact 'minor';
!worker
!cleaner
analyze table p partition (k) compute statistics;
describe formatted p partition (k=1);
describe extended p partition (k=1);
show table extended like 'p' partition (k=1);
show partitions p;
describe formatted p;
alter table p partition (k=1) compact 'major';
!worker
!cleaner
describe formatted p partition (k=1);
select count(*) from p where k = 1;
select count(*), min(id), max(id) from t;
show transactions;
show locks;
show locks t;
show locks t extended;
show locks p partition (k=1);
show locks p partition (k=77);
show locks nosuch;
show locks database compact_stats;
show locks database nosuchdb;
show locks p partition (nosuch=1);
show compactions t;
show compactions type 'major' status 'succeeded' order by tabname, compactionid limit 3;
show compactions database compact_stats status 'succeeded' order by type desc;
abort transactions 999999;
abort transactions 1 2 3;
abort transactions;
abort transactions x;
kill query 'nosuch';
