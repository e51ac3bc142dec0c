-- Stop every process first: a process of the previous release could still store a return with store credit, and writes
-- promotion_use.taken_at.

-- The service never gave store credit. Open returns that asked for it are refunded to the original payment method when
-- they are closed. Ended returns have no settlement, because nothing was refunded for them.
update order_return set settlement = null
where settlement = 'store_credit' and status in ('closed', 'declined', 'canceled');
update order_return set settlement = 'original_payment' where settlement = 'store_credit';
alter table order_return drop constraint order_return_settlement_check;
alter table order_return add constraint order_return_settlement_check
  check (settlement in ('original_payment', 'replacement'));

-- Rules of policies no longer have `storeCredit`. The copies of the rules in `policy_snapshot` stay as they were when
-- the order was placed, and nothing reads the field there.
update policy set rules = rules - 'storeCredit' where rules ? 'storeCredit';

-- No release canceled a refund.
alter table refund drop constraint refund_status_check;
alter table refund add constraint refund_status_check check (status in ('pending', 'succeeded', 'failed'));

-- Nothing reads these columns, and nothing uses the index.
alter table promotion_use drop column taken_at;
alter table search_term drop column trigram_key;
drop index event_to_fan_out;
