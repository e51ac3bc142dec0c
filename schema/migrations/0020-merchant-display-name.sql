-- The name that the checkout page shows in place of the merchant's name; null: the merchant's name.
alter table merchant_branding add column display_name text;
