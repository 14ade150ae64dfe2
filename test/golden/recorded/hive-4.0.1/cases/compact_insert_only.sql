create table m (a int, b string) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into m values (1,'a'),(2,'b');
insert into m values (3,'c');
insert into m select a + 10, b from m;
!ls m
alter table m compact 'minor';
!worker
show compactions;
!ls m
!sleep 1100
!cleaner
!ls m
insert into m values (4,'d');
alter table m compact 'major';
!worker
!ls m
select * from m order by a;
!sleep 1100
!cleaner
!ls m
insert into m values (5,'e');
insert overwrite table m select a, b from m where a < 5;
insert into m values (6,'f');
!ls m
alter table m compact 'minor';
!worker
show compactions m;
!ls m
!sleep 1100
!cleaner
!ls m
insert into m values (7,'g');
insert into m values (8,'h');
alter table m compact 'minor';
!worker
!sleep 1100
!cleaner
!ls m
select * from m order by a;
alter table m compact 'major';
!worker
!sleep 1100
!cleaner
!ls m
truncate table m;
alter table m compact 'major';
!worker
!sleep 1100
!cleaner
!ls m
show compactions m;
create table mp (a int, b string) partitioned by (k int) stored as textfile tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into mp values (1,'x',1),(2,'y',2);
insert into mp values (3,null,1),(4,'',2);
alter table mp partition (k=1) compact 'major';
alter table mp partition (k=2) compact 'minor';
!worker
!worker
!sleep 1100
!cleaner
!ls mp
select * from mp order by a;
create table mq (a int, b string, c array<int>) stored as parquet tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into mq select 1, 'x', array(1,2);
insert into mq select 2, 'y', array(3);
alter table mq compact 'major';
!worker
!sleep 1100
!cleaner
!ls mq
select * from mq order by a;
create table mb (a int, b string) clustered by (a) into 2 buckets stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into mb values (1,'x'),(2,'y'),(3,'z');
insert into mb values (4,'x'),(5,'y'),(6,'z');
!ls mb
alter table mb compact 'major';
!worker
!sleep 1100
!cleaner
!ls mb
select * from mb order by a;
show compactions;
