-- What a staff member may do at the console: an admin reads and changes all data of the merchant; an analyst reads
-- reports and data without personal data.
alter table staff_account add column role text not null default 'admin' check (role in ('admin', 'analyst'));
