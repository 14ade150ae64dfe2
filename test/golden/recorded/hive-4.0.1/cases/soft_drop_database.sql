create database soft_drop_database_1;
create database soft_drop_database_2;
create database soft_drop_database_3;
set hive.acid.lockless.reads.enabled=true;
use soft_drop_database_1;
create table a (x int) stored as orc tblproperties ('transactional'='true');
create table b (x int) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');
create table bp (x int) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
insert into a values (1);
insert into b values (1);
insert into bp values (1,1);
!ls ../soft_drop_database_1.db
!txn open r
use default;
drop database soft_drop_database_1 cascade;
show databases;
show compactions;
!ls ../soft_drop_database_1.db
!sleep 1500
!cleaner
!ls ../soft_drop_database_1.db
!txn commit r
!sleep 1500
!cleaner
!ls ../soft_drop_database_1.db
show compactions;
use soft_drop_database_2;
set hive.acid.lockless.reads.enabled=false;
create table plain (x int) stored as orc;
create table acid (x int) stored as orc tblproperties ('transactional'='true');
insert into plain values (1);
insert into acid values (1);
set hive.acid.lockless.reads.enabled=true;
create table soft (x int) stored as orc tblproperties ('transactional'='true');
insert into soft values (1);
!ls ../soft_drop_database_2.db
use default;
drop database soft_drop_database_2 cascade;
show compactions;
!ls ../soft_drop_database_2.db
!sleep 1500
!cleaner
!ls ../soft_drop_database_2.db
show compactions;
use soft_drop_database_3;
set hive.acid.lockless.reads.enabled=false;
set hive.acid.createtable.softdelete=true;
create table a (x int) stored as orc tblproperties ('transactional'='true');
insert into a values (3);
!ls ../soft_drop_database_3.db
use default;
drop database soft_drop_database_3 cascade;
show compactions;
