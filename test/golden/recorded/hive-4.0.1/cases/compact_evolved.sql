create table e (a int, b string, c struct<x:int,y:array<string>>) clustered by (a) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into e select 1, 'one', named_struct('x', 1, 'y', array('p'));
insert into e select 2, 'two', named_struct('x', 2, 'y', array('q', 'r'));
alter table e add columns (d map<string,int>, f decimal(10,2));
insert into e select 3, 'three', named_struct('x', 3, 'y', array()), map('k', 1), 1.50;
update e set f = 2.25 where a = 1;
alter table e compact 'minor';
!worker
!cleaner
!ls e
select * from e order by a;
!snapshot minor
alter table e change a a bigint;
alter table e change b bb varchar(2);
select a, bb from e order by a;
insert into e values (5000000000, 'five', null, null, 3);
delete from e where a = 2;
alter table e compact 'minor';
!worker
!cleaner
select ROW__ID, a, bb, c, d, f from e order by a;
!snapshot minor2
alter table e compact 'major';
!worker
!cleaner
!ls e
select ROW__ID, a, bb, c, d, f from e order by a;
!snapshot major
alter table e change bb bb string;
select a, bb from e order by a;
alter table e change f f decimal(20,4);
alter table e change d d map<string,bigint>;
insert into e values (6, 'six', null, map('z', 7000000000), 4.1234);
select a, bb, d, f from e order by a;
alter table e compact 'major';
!worker
!cleaner
select a, bb, d, f from e order by a;
!snapshot last
create table ep (a int, b float) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
insert into ep values (1, 1.5, 1), (2, 2.5, 2);
alter table ep add columns (c string);
alter table ep partition (k=1) add columns (c string);
insert into ep values (3, 3.5, 'x', 1), (4, 4.5, 'y', 2);
select * from ep order by a;
alter table ep change b b double;
insert into ep values (5, 5.1, 'z', 1), (6, 6.1, 'w', 3);
select * from ep order by a;
alter table ep partition (k=1) compact 'major';
alter table ep partition (k=2) compact 'major';
!worker
!worker
!cleaner
!ls ep
select * from ep order by a;
describe ep partition (k=1);
describe ep partition (k=3);
!snapshot parts
