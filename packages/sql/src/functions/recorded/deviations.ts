/** Where we do not answer as Hive did, by case and statement, with the reason. The list may only shrink. */
export const deviations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  constants: {
    "select extract(year from date '2020-05-06'), extract(week from date '2020-05-06'), extract(quarter from date '2020-05-06'), extract(hour from timestamp '2020-05-06 07:08:09.5'), extract(second from timestamp '2020-05-06 07:08:09.5'), floor(timestamp '2020-05-06 07:08:09' to month), floor(date '2020-05-06' to year), extract(day from date '2020-05-06')":
      'FLOOR(date TO unit) works here',
    'select 5 div 2, 5Y div 2Y, 5L div 2, 5 % 2Y, 5.5 % 2, 5.5D % 2, 5 % 0, 5 div 0, 5.0/0, 5 % 0.0, -7 % 3, -7.5 % 2, -7 div 2, 5.5D % 0':
      'Hive evaluates a constant division by zero while it compiles, and fails; over columns it is NULL, as here',
    "select concat_ws(',', array('a',null,'b'), 'c'), concat_ws(null,'a'), concat('x'), concat_ws(',','a','','b')":
      "Hive folds a constant array with NULL to the text 'null'; over a column NULLs are left out, as here",
    "select substr('hello',2), substr('hello',-3), substr('hello',0), substr('hello',0,2), substr('hello',-3,2), substr('hello',2,0), substr('hello',2,-1), substr('hello',10), substr('hello',-10), substr('hello',-10,7), substring('日本語',2,1), substr(null,1), substr('abc',null), substr(12345,2,2), substring_index('a.b.c','.',2), substring_index('a.b.c','.',-2), substring_index('a.b.c','x',2), substring_index('a.b.c','.',0)":
      'the type of substr(NULL)',
    "select upper('aß'), ascii('a'), ascii(''), ascii('日'), chr(65), chr(256+65), chr(-1), concat('[',space(3),']'), repeat('ab',3), repeat('ab',0), repeat('ab',-1), length('🐝'), reverse('a🐝b'), substr('a🐝b',2,1)":
      'Hive cuts a surrogate pair in two',
    "select 'abc' rlike 'b', 'abc' rlike '^b', 'abc' rlike '', 'abc' regexp 'B', null rlike 'a', 'a\\nb' rlike 'a.b', 'a' not rlike 'a'":
      'Hive refuses an untyped NULL',
  },
  operators: {
    "select cast('1.5' as double), cast(' 1.5 ' as double), cast('1e5' as double), cast('nan' as double), cast('NaN' as double), cast('Infinity' as double), cast('inf' as double), cast('-Infinity' as double), cast('1d' as double), cast('1f' as double), cast('1_0' as double), cast('0x1p3' as double), cast('' as double), cast('+1.5' as double), cast('.5' as float), cast('1.17' as float), cast(1.17 as float), cast(cast(1.17 as float) as double), cast(16777217 as float)":
      'hexadecimal floating point text is not read',
  },
  selects: {
    'select k, cast(f as int), cast(d as int), cast(d as bigint), cast(d as smallint), cast(d as decimal(20,5)), cast(f as decimal(10,3)), round(d,2), floor(f), cast(d as float) from w where k < 6 order by k':
      '2.2E-308 as a decimal: Hive gives NULL, the nearest is 0',
    "select dt, year(dt), month(dt), weekofyear(dt), dayofweek(dt), date_format(dt,'EEE yyyy-MM-dd'), datediff(dt,'2024-01-01'), add_months(dt,1), trunc(dt,'YEAR'), cast(dt as timestamp), unix_timestamp(dt), last_day(dt), months_between(dt,'2024-01-15'), dt + interval '1' day, dt - interval '1' month, dt - date '2024-01-01', dt + 1 from w where k < 7 order by k":
      'Hive: TRUNC of a date column is wrong; dates before 1582 are moved by interval arithmetic in the hybrid calendar',
    'select k, lag(k) over (order by k), lag(k, 2) over (order by k), lead(k, 1, -1) over (order by k), first_value(s) over (order by k), last_value(s) over (order by k rows between unbounded preceding and unbounded following), first_value(dt, true) over (order by k desc) from w order by k':
      'names of window functions without alias (first_value_window_4)',
    'select max(a) from t': 'arrays with NULL elements: Hive sorts NULL before, DuckDB after other elements',
  },
  tables: {
    "select id, year(da), month(da), day(da), dayofweek(da), weekofyear(da), quarter(da), hour(ts), minute(ts), second(ts), to_date(ts), date_add(da,1), date_sub(da,1), datediff(da, '2024-01-01'), add_months(da,1), last_day(da), date_format(da,'yyyy-MM'), date_format(ts,'HH:mm:ss.SSS'), unix_timestamp(ts), trunc(ts,'MM'), next_day(da,'MO') from t order by id":
      'dates after 9999-12-31: Hive gives NULL from DATE_ADD and a plus sign from NEXT_DAY',
    "select id, size(a), a[0], a[5], m['k'], m['none'], map_keys(m), map_values(m), st.x, st.y, array_contains(a,2), sort_array(a), a, m, st, array(id, ti), map('a',id), struct(id,s), named_struct('q',de) from t order by id":
      "Hive's vectorized reader shows [null] as NULL",
    'select id, s, k from t join u using (id) order by id, k': 'Hive 4.0.1 does not parse USING',
    'select k from u distribute by id sort by k': 'Hive only finds columns of the select list',
  },
  queries: {
    "select date_add(hired, 10), datediff(hired, '2020-01-01'), year(hired), month(hired), date_format(hired,'yyyy/MM'), trunc(hired,'MM'), last_day(hired), add_months(hired, 1) from e where id < 3 order by id":
      'Hive: TRUNC of a date column is wrong (known, shared/golden/README.md)',
  },
  types_all: {
    'select * from ty order by k':
      'Hive shows [null] as NULL and moves the last second before 1970 (known, shared/golden/README.md)',
  },
  refusals: {
    "select java_method('java.lang.String','valueOf',1)": 'Java methods are refused by name: skep runs without Java',
    "select reflect('java.lang.Math','max',2,3)": 'Java methods are refused by name: skep runs without Java',
    "select reflect('java.lang.Math')": 'Java methods are refused by name: skep runs without Java',
    'select surrogate_key(1)': 'refused by name',
    'select grouping(1)': 'without GROUP BY there is no such function',
    'select rank() ': 'Hive 4.0.1 takes RANK without OVER for an aggregate',
  },
  texts: {
    "select lpad('a',-1,'x')": 'Hive fails; here the text is empty',
  },
  numbers: {
    'select ~-1L': "Hive's parser fails at the sign",
    'select cast(3e10 as int)':
      "Hive's optimizer folds a single literal by its low bits; casts saturate elsewhere, as here",
    'select cast(-3e10 as int)':
      "Hive's optimizer folds a single literal by its low bits; casts saturate elsewhere, as here",
    'select cast(1e30 as bigint)':
      "Hive's optimizer folds a single literal by its low bits; casts saturate elsewhere, as here",
    'select cast(99999999999.9 as int)':
      "Hive's optimizer folds a single literal by its low bits; NULL elsewhere, as here",
  },
  times: {
    "select extract(dow from date '2020-05-06')": 'Hive 4.0.1 does not parse EXTRACT(DOW …)',
  },
  nested: {
    "select java_method('java.lang.Math','abs',-5)": 'Java methods are refused by name: skep runs without Java',
    "select reflect('java.lang.String','valueOf',1)": 'Java methods are refused by name: skep runs without Java',
    "select reflect('java.lang.Math','max',2,3)": 'Java methods are refused by name: skep runs without Java',
    'select grouping(1)': 'without GROUP BY there is no such function',
    'select ds_hll_estimate(ds_hll_sketch(1))': 'DataSketches are refused by name',
    "select cast_format(1,'a')": 'only as CAST(… FORMAT …)',
    "select internal_interval(2,'1')": "refused by name: Hive's planner uses it internally",
  },
  windows: {
    'select stddev(n), stddev_pop(x), stddev_samp(x), variance(n), var_pop(x), var_samp(x), covar_pop(x,y), covar_samp(x,y), corr(x,y), std(de), var_samp(de) from w':
      'the last digits of COVAR and CORR depend on how the tasks of Hive cut the rows',
    'select g, regr_slope(y,x), regr_count(y,x), corr(x,y), covar_samp(x,y), stddev_samp(n), var_samp(n) from w group by g':
      'the last digits of COVAR and CORR depend on how the tasks of Hive cut the rows',
    'select k, stddev_pop(x) over (partition by g) sd, var_samp(x) over (partition by g order by k) vs, corr(x,y) over (partition by g) co, percentile_approx(x,0.5) over (partition by g) pa from w order by k':
      'the last digit of STDDEV_POP',
    'select k, count(*) over (order by dt range between 5 preceding and current row) c1, count(*) over (order by ts range between 10 preceding and current row) c2, sum(k) over (order by x range between 1.5 preceding and 1.5 following) s1, sum(k) over (order by de range between 1 preceding and 1 following) s2 from w order by k':
      'Hive only takes whole distances',
    'select k, sum(n) over (partition by g sort by k) s from w order by k':
      'Hive does not parse PARTITION BY with SORT BY',
    'select id, x, y from t lateral view inline(array(st)) q as x, y order by id':
      'INLINE of a NULL struct fails in Hive',
    "select id, s = 3, s > 2, id = '1', id in ('1','2'), d = '3', de = 3.33, de > 1, da = '2024-02-29', da < '2024-01-01', ts > '2024-01-01', ts = da, da between '2023-01-01' and '2024-02-29', b = true, not b, b and id > 1, bin = 'abc', f = 1.5, f > 1, d < id, ti = bi, s in ('abc','3'), case s when 'abc' then 1 when '3' then 2 end, id <=> null, s <> 'abc', id not in (1,2), id in (1, null) from t order by id":
      'a run-time failure of Hive over these columns together',
    "select id, a, m, st, array(id,ti), array(s,v), map(s,id), named_struct('a',da,'b',de), struct(b,f), array(st), array(d,f) from t order by id":
      "Hive's vectorized reader shows [null] as NULL",
    'select k, sum(sum(n)) from w': 'of two errors Hive names the other first',
  },
  more: {
    'select map(null,1)': 'a NULL key is no key here',
    "select array(cast('a' as char(3)))": 'Hive keeps the blanks of a char inside an array',
    "select map(cast('a' as char(3)),1)": 'Hive keeps the blanks of a char inside a map',
    "select cast('-0' as double)": "Hive's reader of constants loses the sign",
    "select cast('a' as binary) = 'a'": 'Hive fails; the bytes are compared here',
    "select coalesce(cast('a' as char(3)),1)": 'Hive: a char where the common type is text',
    "select greatest('a',1)": 'Hive leaves out the text that is no number',
    "select date_add('2020-05-06',2147483647)": 'Hive wraps around; the date is out of range here',
    'select 5 div 0':
      'Hive evaluates a constant division by zero while it compiles, and fails; over columns it is NULL, as here',
    'select - -1': "Hive's parser fails at two signs",
    'select +-1': "Hive's parser fails at two signs",
    "select id, dt + interval '1' month m1, dt - interval '1' year y1, dt + a d1, cast(dt as timestamp) + interval '1' hour h1, dt - date '2020-01-01' dd, interval_year_month(iv) iv, dt + interval_year_month(iv) dv from r order by id":
      'a run-time failure of Hive: INTERVAL_YEAR_MONTH of a NULL column',
    'select id, lead(a, id) over (order by id) l from r order by id': 'Hive only takes constant distances',
    "select id, sum(a) over (order by dt range between interval '1' month preceding and current row) s from r order by id":
      'Hive does not parse intervals in frames',
    'select id, row_number() over () rn from r where id < 3': "without ORDER BY the order is no one's",
    'select id, sum(a) over (rows between 1 preceding and current row) s from r order by id':
      "without ORDER BY the order is no one's",
    "select g, max(struct(a, id)) m, min(named_struct('a', a)) n from r group by g":
      'structs with NULL fields: Hive sorts NULL before, DuckDB after other values',
    'select array(1) a union all select array(2L)': 'arrays of different numbers are brought to one type here',
  },
};
