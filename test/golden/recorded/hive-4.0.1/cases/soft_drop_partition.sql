create table p (a int) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
insert into p values (1,1),(2,2),(3,3),(4,4);
set hive.acid.droppartition.usebase=true;
!txn open r
alter table p drop partition (k=1);
show partitions p;
select * from p order by a;
show compactions;
!ls p
!sleep 1500
!cleaner
!ls p
!txn commit r
!sleep 1500
!cleaner
!ls p
show compactions;
alter table p drop partition (k=2);
insert into p values (20,2);
select * from p order by a;
!ls p
!snapshot again
!sleep 1500
!cleaner
!ls p
show compactions;
select * from p order by a;
alter table p drop partition (k>=3);
show partitions p;
!ls p
show compactions;
!sleep 1500
!cleaner
!ls p
show compactions;
set hive.acid.droppartition.usebase=false;
alter table p drop partition (k=2);
!ls p
show compactions;
