create table o (id int, v string) stored as orc tblproperties ('transactional'='false');
insert into o values (1,'a'),(2,'b'),(3,'c');
insert into o values (4,'d'),(5,'e');
alter table o set tblproperties ('transactional'='true');
alter table o compact 'minor';
!worker
show compactions;
alter table o compact 'major';
!worker
show compactions;
!ls o
select ROW__ID, * from o order by id;
!cleaner
!ls o
!snapshot only
insert into o values (6,'f');
update o set v = 'B' where id = 2;
delete from o where id = 4;
alter table o compact 'minor';
!worker
!cleaner
!ls o
select ROW__ID, * from o order by id;
!snapshot minor
alter table o compact 'major';
!worker
!cleaner
!ls o
select ROW__ID, * from o order by id;
create table op (id int, v string) partitioned by (k int) stored as orc tblproperties ('transactional'='false');
insert into op values (1,'a',1),(2,'b',2);
insert into op values (3,'c',1),(4,'d',2);
alter table op set tblproperties ('transactional'='true');
update op set v = 'u' where id = 3;
delete from op where id = 2;
insert into op values (5,'e',1),(6,'f',3);
!ls op
alter table op partition (k=1) compact 'minor';
alter table op partition (k=2) compact 'major';
alter table op partition (k=3) compact 'major';
!worker
!worker
!worker
!cleaner
!ls op
select ROW__ID, * from op order by id;
!snapshot parts
alter table op partition (k=1) compact 'major';
!worker
!cleaner
!ls op
select ROW__ID, * from op order by id;
create table ob (id int, v string) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='false');
insert into ob values (1,'a'),(2,'b'),(3,'c'),(4,'d');
insert into ob values (5,'e'),(6,'f');
alter table ob set tblproperties ('transactional'='true');
alter table ob compact 'major';
!worker
!cleaner
!ls ob
update ob set v = upper(v) where id > 2;
insert overwrite table ob select * from ob where id < 5;
!ls ob
insert into ob values (7,'g');
alter table ob compact 'minor';
!worker
!sleep 1100
!cleaner
!ls ob
select ROW__ID, * from ob order by id;
!snapshot buckets
