\echo '== cache hit ratio'
select round(100.0*sum(blks_hit)/nullif(sum(blks_hit+blks_read),0),2) as hit_pct from pg_stat_database;

\echo '== biggest tables, dead rows'
select relname, pg_size_pretty(pg_total_relation_size(relid)) as size, n_live_tup, n_dead_tup,
       round(100.0*n_dead_tup/nullif(n_live_tup+n_dead_tup,0),1) as dead_pct, last_autovacuum
from pg_stat_user_tables order by pg_total_relation_size(relid) desc limit 15;

\echo '== indexes never used'
select s.relname, s.indexrelname, pg_size_pretty(pg_relation_size(s.indexrelid)) as size
from pg_stat_user_indexes s join pg_index i using (indexrelid)
where s.idx_scan = 0 and not i.indisunique order by pg_relation_size(s.indexrelid) desc limit 15;

\echo '== foreign keys without an index'
select c.conrelid::regclass as tbl, c.conname
from pg_constraint c
where c.contype='f' and not exists (
  select 1 from pg_index i where i.indrelid=c.conrelid and (i.indkey::int2[])[0:cardinality(c.conkey)-1] @> c.conkey);

\echo '== sequential scans on large tables'
select relname, seq_scan, seq_tup_read, idx_scan from pg_stat_user_tables
where n_live_tup > 100000 order by seq_tup_read desc limit 10;
