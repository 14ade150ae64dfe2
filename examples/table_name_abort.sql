-- Somebody's transaction is open and in the way: it is ended from here.
-- skep -f examples/table_name_abort.sql --hivevar open_txn=ID
show transactions;
abort transactions ${hivevar:open_txn};
show transactions;
select * from table_name order by id;
