-- One student through a year: an update is a delete and an insert, and a major compaction makes one base of it all.
-- skep -f examples/trans_student.sql
create table trans_student (
  id int,
  name string,
  age int
) stored as orc tblproperties ('transactional' = 'true');

describe formatted trans_student;

insert into trans_student (id, name, age) values (1, 'allen', 18), (2, 'beth', 19);
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/trans_student;

-- Statement 0 of the transaction deletes the old row, statement 1 inserts the new one.
update trans_student set age = 20 where id = 1;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/trans_student;
select * from trans_student order by id;

delete from trans_student where id = 1;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/trans_student;
select * from trans_student;

-- The base holds what is left; the deltas go when no reader needs them any more.
alter table trans_student compact 'major' and wait;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/trans_student;
select ROW__ID, * from trans_student;
