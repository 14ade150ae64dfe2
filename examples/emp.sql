-- Three employees arrive one by one, one leaves: every write is a folder of its own, a delete included.
-- skep -f examples/emp.sql
set hive.txn.manager=org.apache.hadoop.hive.ql.lockmgr.DbTxnManager;

create table emp (id int, name string, salary int)
stored as orc
tblproperties ('transactional' = 'true');

-- Each insert is a transaction and gets the table's next write id: delta_1, delta_2, delta_3.
insert into emp values (1, 'Jerry', 5000);
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/emp;
insert into emp values (2, 'Tom', 8000);
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/emp;
insert into emp values (3, 'Kate', 6000);
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/emp;

select * from emp;

-- A delete changes no file: it adds a delete_delta with the identity of the row.
delete from emp where id = 2;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/emp;

select * from emp;

-- The identity of a row: the write id and writer that made it, and its number there.
select ROW__ID, * from emp order by id;
