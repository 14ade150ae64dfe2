-- A transfer between two tables: both sides happen at once or not at all.
-- skep -f examples/transfer.sql
create table account (id int, owner string, cents bigint)
stored as orc
tblproperties ('transactional' = 'true');

create table movement (account_id int, cents bigint, what string)
stored as orc
tblproperties ('transactional' = 'true');

insert into account values (1, 'Ann', 10000), (2, 'Bob', 500);

-- All statements up to COMMIT read one snapshot, see each other's rows, and are one write id of each table: the statements
-- are told apart by the last number of their folders.
start transaction;
update account set cents = cents - 2500 where id = 1;
insert into movement values (1, -2500, 'to Bob');
update account set cents = cents + 2500 where id = 2;
insert into movement values (2, 2500, 'from Ann');
-- A row of this very transaction can be changed again.
update movement set what = concat(what, ', rent') where account_id = 1;
select * from account order by id;
commit;

select * from movement order by account_id;
dfs -ls -R ${hiveconf:hive.metastore.warehouse.dir}/movement;

-- What is rolled back was never there.
start transaction;
delete from account;
delete from movement;
select count(*) from account;
rollback;
select sum(cents) from account;
