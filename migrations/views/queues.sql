-- pg-boss keeps finished jobs for a while in the same tables, which the views below must not read: this index leaves them
-- out. It is not in a migration, because pg-boss makes its tables after those, and is made only if it is missing, because
-- making it stops the queues.
do $$
begin
  if to_regclass('pgboss.job_unfinished') is null then
    create index job_unfinished on pgboss.job (name) where state in ('created', 'retry', 'active', 'failed');
  end if;
end
$$;

create or replace view ops.queue as
select q.name as queue,
       count(j.id) filter (where j.state in ('created', 'retry') and j.start_after <= now()) as ready,
       count(j.id) filter (where j.state = 'active') as active,
       count(j.id) filter (where j.state in ('created', 'retry') and j.start_after > now()) as deferred,
       count(j.id) filter (where j.state = 'failed') as failed,
       extract(epoch from now() - min(j.created_on) filter (where j.state in ('created', 'retry') and j.start_after <= now()))::integer
         as oldest_ready_seconds
  from pgboss.queue q
  left join pgboss.job j on j.name = q.name and j.state in ('created', 'retry', 'active', 'failed')
 where q.name not like '\_\_pgboss%'
 group by q.name;
comment on view ops.queue is 'What waits in each queue';

-- A job that went to a dead-letter queue is shown there.
create or replace view ops.job_failed as
select name as queue, id as job_id, data, output as error, completed_on as failed_at
  from pgboss.job
 where state = 'failed' and dead_letter is null
union all
select j.name, j.id, j.data, coalesce(j.source_output, j.data -> 'error'), j.created_on
  from pgboss.queue q
  join pgboss.job j on j.name = q.dead_letter and j.state = 'created';
comment on view ops.job_failed is
  'Jobs that were given up, with their error; select ops.redrive(queue) puts those of a dead-letter queue back to work';

-- Sends the jobs of a dead-letter queue again, as new jobs.
create or replace function ops.redrive(dead_queue text) returns bigint language sql volatile as $$
  with gone as (
    delete from pgboss.job
     where name = dead_queue and state = 'created' and exists (select from pgboss.queue where dead_letter = dead_queue)
    returning data
  ), again as (
    insert into pgboss.job (name, data, policy, dead_letter, retry_limit, retry_delay, retry_backoff, retry_delay_max,
      expire_seconds, heartbeat_seconds, deletion_seconds, keep_until)
    select q.name, gone.data - 'error', q.policy, q.dead_letter, q.retry_limit, q.retry_delay, q.retry_backoff,
           q.retry_delay_max, q.expire_seconds, q.heartbeat_seconds, q.deletion_seconds,
           now() + q.retention_seconds * interval '1 second'
      from gone cross join (select * from pgboss.queue where dead_letter = dead_queue limit 1) q
    returning id
  )
  select count(*) from again
$$;
comment on function ops.redrive is 'Puts the jobs of a dead-letter queue back to work and returns their number';
