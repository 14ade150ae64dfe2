create table p (a int, b string) partitioned by (k int) clustered by (a) into 1 buckets stored as orc tblproperties ('transactional'='true');
insert into p values (1,'x',1),(2,'y',2);
update p set b = 'xx' where k = 1 and a = 1;
delete from p where k = 2 and a = 2;
insert into p values (22,'z',2);
set hive.acid.renamepartition.makecopy=true;
!txn open r
alter table p partition (k=1) rename to partition (k=10);
show partitions p;
select ROW__ID, * from p order by k;
show compactions;
!ls p
!snapshot renamed
!sleep 1500
!cleaner
!ls p
!txn commit r
!sleep 1500
!cleaner
!ls p
show compactions;
insert into p values (3,'n',1);
select * from p order by k;
!ls p
alter table p partition (k=2) rename to partition (k=20);
insert into p values (23,'o',2);
!sleep 1500
!cleaner
!ls p
show compactions;
select ROW__ID, * from p order by k, a;
!snapshot both
set hive.acid.renamepartition.makecopy=false;
alter table p partition (k=20) rename to partition (k=200);
!ls p
show compactions;
alter table p partition (k=10) compact 'major';
!worker
!sleep 1500
!cleaner
!ls p
