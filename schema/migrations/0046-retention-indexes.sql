-- Runs outside of a transaction, so that other processes write to the tables meanwhile. Indexes for deleting ended
-- carts: without them, PostgreSQL reads all carts and all uses of promotions to check the foreign keys of each cart.
create index concurrently if not exists cart_merged_into on cart (merged_into_cart_id) where merged_into_cart_id is not null;
create index concurrently if not exists promotion_use_by_session on promotion_use (session_id);
