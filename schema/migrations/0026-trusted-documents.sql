-- GraphQL documents that a merchant has registered, and that requests may name by the hash of their text.
create table trusted_document (
  id text primary key,
  merchant_id text not null references merchant,
  -- SHA-256 of the document in UTF-8, as hexadecimal digits.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The name and the kind of the document's only operation.
  name text not null,
  operation text not null check (operation in ('query', 'mutation', 'subscription')),
  document text not null,
  created_at timestamptz not null,
  -- Null: no request has named the document yet. Written once a day.
  last_used_at timestamptz,
  unique (merchant_id, sha256)
);
create index trusted_document_by_merchant on trusted_document (merchant_id, id);

-- Which documents the token may run: all documents, or only the trusted documents of its merchant.
alter table internal_token add column documents text not null default 'any'
  check (documents in ('any', 'trusted_only'));
