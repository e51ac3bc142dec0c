-- OAuth clients of AI agents. They register themselves (RFC 7591), or their client id is the URL of a document
-- with their metadata. A row is inserted when a staff member grants access for the first time.
alter table oauth_client
  add column registration text not null default 'operator'
    check (registration in ('operator', 'dynamic', 'metadata_document')),
  -- The URL of the metadata document, which is the client id that the client sends.
  add column metadata_url text unique
    check ((registration = 'metadata_document') = (metadata_url is not null));
