create table p (id int, v string) partitioned by (k int) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true');
insert into p values (1,'a',1),(2,'b',1),(3,'c',2),(4,'d',2),(5,'e',3);
insert into p values (6,'f',1),(7,'g',2),(8,'h',3),(9,'i',4);
update p set v = concat(v, v) where id in (1, 3, 5);
delete from p where id in (2, 7);
insert into p partition (k=1) values (10,'j');
merge into p t using (select 6 id, 'F' v, 1 k union all select 11, 'l', 1 union all select 8, 'H', 3) s on t.id = s.id and t.k = s.k when matched then update set v = s.v when not matched then insert values (s.id, s.v, s.k);
!ls p
alter table p partition (k=1) compact 'minor';
alter table p partition (k=2) compact 'minor';
alter table p partition (k=3) compact 'major';
alter table p partition (k=4) compact 'major';
!worker
!worker
!worker
!worker
show compactions;
!ls p
select ROW__ID, * from p order by k, id;
!cleaner
!ls p
show compactions;
update p set v = 'again' where k < 3;
delete from p where k = 3;
insert into p partition (k=4) values (12,'m');
alter table p partition (k=1) compact 'minor';
alter table p partition (k=3) compact 'minor';
alter table p partition (k=4) compact 'minor';
!worker
!worker
!worker
!cleaner
!ls p
select ROW__ID, * from p order by k, id;
alter table p partition (k=1) compact 'major';
alter table p partition (k=3) compact 'major';
alter table p partition (k=4) compact 'major';
!worker
!worker
!worker
!cleaner
!ls p
select ROW__ID, * from p order by k, id;
alter table p add partition (k=5);
alter table p partition (k=5) compact 'major';
alter table p partition (k=5) compact 'minor';
!worker
!worker
show compactions p partition (k=5);
truncate table p partition (k=1);
alter table p partition (k=1) compact 'major';
!worker
!sleep 1100
!cleaner
!ls p
insert into p partition (k=1) values (20,'t');
alter table p drop partition (k=2);
alter table p partition (k=2) compact 'major';
alter table p partition (k=4) compact 'major';
alter table p drop partition (k=4);
!worker
show compactions;
alter table p add partition (k=4);
insert into p partition (k=4) values (30,'back');
!ls p
insert overwrite table p select id, v, k from p where k = 3;
insert overwrite table p partition (k=1) select id + 1, v from p where k = 1;
insert into p partition (k=1) values (31,'w');
!ls p
alter table p partition (k=1) compact 'major';
!worker
!cleaner
!ls p
select ROW__ID, * from p order by k, id;
show compactions;
!initiator
show compactions;
