create table o (a int, b string) stored as orc;
insert into o values (1,'x'),(2,'y');
insert into o values (3,'z');
create table x (a int, b string) stored as textfile;
insert into x values (1,'x');
create table p (a int) partitioned by (k int) stored as orc;
insert into p values (1,1),(2,2);
!ls o
alter table o set tblproperties ('transactional'='true','transactional_properties'='insert_only');
alter table x set tblproperties ('transactional'='true','transactional_properties'='insert_only');
alter table p set tblproperties ('transactional'='true','transactional_properties'='insert_only');
show tblproperties o ("transactional_properties");
!ls o
!ls x
!ls p
select * from o order by a;
select * from x;
select * from p order by a;
!snapshot converted
insert into o values (4,'w');
insert into p values (3,1);
!ls o
!ls p
select * from o order by a;
select * from p order by a;
alter table o set tblproperties ('transactional'='false');
create table e (a int) stored as orc;
insert into e values (1);
alter table e set tblproperties ('EXTERNAL'='TRUE');
show create table e;
alter table e set tblproperties ('transactional'='true');
alter table e set tblproperties ('EXTERNAL'='FALSE');
show create table e;
alter table e set tblproperties ('EXTERNAL'='TRUE');
alter table e unset tblproperties ('EXTERNAL');
show create table e;
alter table o set tblproperties ('EXTERNAL'='TRUE');
create table f (a int) stored as orc tblproperties ('transactional'='true');
alter table f set tblproperties ('EXTERNAL'='TRUE');
select * from e;
