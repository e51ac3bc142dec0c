-- Exports: jobs that write many rows of a merchant as NDJSON, in chunks. A worker that takes over a job continues
-- after its last stored chunk.
create table export_job (
  id text primary key,
  merchant_id text not null references merchant,
  kind text not null check (kind in ('orders', 'order_lines', 'payments', 'refunds', 'returns', 'fulfillments', 'products',
    'stock_movements')),
  format text not null check (format in ('ndjson')),
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'canceled')),
  -- The period in which the exported rows were created; its end is excluded. Without a start if null.
  period_start timestamptz,
  period_end timestamptz not null,
  -- The number of rows in the period, counted before the first chunk; null until then.
  total_rows integer check (total_rows >= 0),
  exported_rows integer not null default 0 check (exported_rows >= 0),
  -- The size of all stored chunks without compression. The next chunk starts here.
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  -- The sort keys of the last exported row; null before the first chunk.
  last_keys text[],
  failed_attempts integer not null default 0,
  failure text check (failure in ('too_many_rows', 'read_failed')),
  -- The time from which a worker may continue the job. A worker that claims the job moves this time ahead.
  due_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- The job and its chunks are deleted from this time on.
  expires_at timestamptz not null,
  check (period_start < period_end),
  check ((status in ('queued', 'running')) = (finished_at is null)),
  check ((status = 'failed') = (failure is not null))
);
create index export_job_by_merchant on export_job (merchant_id, id);
create index export_job_due on export_job (due_at, id) where status in ('queued', 'running');
create index export_job_by_expiry on export_job (expires_at);

create table export_chunk (
  export_id text not null references export_job on delete cascade,
  -- The position of the chunk in the file in bytes. Two workers cannot store the same part of the file.
  start_byte bigint not null check (start_byte >= 0),
  size_bytes integer not null check (size_bytes > 0),
  row_count integer not null check (row_count > 0),
  -- The rows as NDJSON, compressed with gzip.
  content bytea not null,
  primary key (export_id, start_byte)
);
-- The content is compressed already.
alter table export_chunk alter column content set storage external;
