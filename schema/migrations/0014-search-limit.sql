-- Background work indexes every product again, for the lexemes of titles, samples and popularity steps in search_document.words:
-- `"word` for each word of the title, `%n` for each random sample of n/64 of all products, `+n` for the popularity step (0 to 9).
insert into search_due (product_id) select id from product where status = 'published';
