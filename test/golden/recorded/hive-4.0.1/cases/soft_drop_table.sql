set hive.acid.createtable.softdelete=true;
create table t (a int, b string) stored as orc tblproperties ('transactional'='true');
show tblproperties t;
show create table t;
insert into t values (1,'x'),(2,'y');
update t set b = 'z' where a = 2;
select * from t order by a;
create table m (a int) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
insert into m values (7);
create table plain (a int) stored as orc;
show tblproperties plain ("soft_delete");
create table c stored as orc tblproperties ('transactional'='true') as select a, b from t;
create table tp (a int) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
insert into tp values (1,1),(2,2);
create table l like t;
show tblproperties l;
create table loc (a int) stored as orc location '${env:ORACLE_WAREHOUSE}/soft_drop_table.db/elsewhere' tblproperties ('transactional'='true');
show tblproperties loc;
!ls .
!snapshot made
!txn open r
drop table t;
show tables;
show compactions;
!ls .
!sleep 1500
!cleaner
!ls .
create table t (a int, b string) stored as orc tblproperties ('transactional'='true');
insert into t values (10,'new');
select * from t;
!ls .
!sleep 1500
!cleaner
!ls .
show compactions;
!txn commit r
!sleep 1500
!cleaner
!ls .
show compactions;
select ROW__ID, * from t;
!snapshot again
drop table m;
drop table tp;
drop table loc;
drop table plain;
show compactions;
!ls .
!sleep 1500
!cleaner
!ls .
show compactions;
alter table c rename to d;
!ls .
select * from d order by a;
set hive.acid.createtable.softdelete=false;
drop table t;
!ls .
show compactions;
create table n (a int) stored as orc tblproperties ('transactional'='true');
insert into n values (1);
!ls .
set hive.acid.createtable.softdelete=true;
drop table n;
drop table d;
!ls .
!sleep 1500
!cleaner
!ls .
show compactions;
