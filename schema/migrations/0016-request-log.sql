-- The console lists the requests of a merchant's apps together, and filters them by failure, operation and key.
create index api_request_by_merchant on api_request (merchant_id, id);
create index api_request_failed_by_merchant on api_request (merchant_id, id) where status >= 400;
create index api_request_by_operation on api_request (merchant_id, operation, id);
create index api_request_by_credential on api_request (credential_id, id);
